// Package observe samples the machine, the device under the data, process
// trees and this process itself, at the true elapsed time. It only reads: it
// derives no cost and knows no workload.
//
// Read collector.go and sampler.go first. Each file names those below it:
//
//	label.go, diff.go, sampler.go           series of other machines; growth between samples; samples at each tick
//	collector.go                            what reads a source
//	host.go, use.go                         the machine: processors, memory, pressure, network
//	client.go, threads.go, process.go       this process; threads; the processes of a server
//	others.go, kernelthread.go              all other processes, and the kernel's threads
//	effect.go, probe.go, canary.go, timer.go  effects of settings; rates of a device, of a machine; jobs that are due
//	facts.go                                facts of the machine, and what each means for numbers
//	diskstats.go, nvme.go                   counters of disks
//	cgroup.go, device.go                    limits of control groups; the device under a directory
//	tree.go, procfile.go                    a tree of processes; files of /proc
package observe
