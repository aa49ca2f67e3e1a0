// Package observe samples the machine, the device under the data, process
// trees and this process itself, at the true elapsed time. It only reads: it
// derives no cost and knows no workload.
package observe
