// Package observe samples the machine, the device under the data, process
// trees and this process itself, at the true elapsed time. It only reads: it
// derives no cost and knows no workload.
//
// Read collector.go and sampler.go first. Each file names those below it:
//
//	label.go diff.go sampler.go: series under another name; growth between samples; samples at each tick
//	collector.go: what reads a source
//	host.go use.go client.go: the machine, as a whole and by clients; this process
//	threads.go process.go others.go kernelthread.go: threads; a server's processes, all others, the kernel's threads
//	effect.go probe.go canary.go timer.go: effects of settings; rates of a device, of a machine; jobs that are due
//	facts.go: facts of the machine, and what each means for numbers
//	diskstats.go nvme.go cgroup.go device.go: counters of disks; limits of control groups; the device under a directory
//	tree.go procfile.go: a tree of processes; files of /proc
package observe
