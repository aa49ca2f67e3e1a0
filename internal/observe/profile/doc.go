// Package profile samples which functions use the processors and where threads
// sleep, and divides their time by the work done. It samples, names and sums;
// it runs no trial, judges no target and draws nothing.
//
// The unit of everything is CPU time per unit of work, never a share of
// samples: 10 % on one server and 20 % on another do not compare if the second
// uses three times the CPU time.
//
// Read profile.go and recording.go first. Each file names those below it:
//
//	compare.go locks.go: two profiles per unit of work; the locks that Go code waits for
//	embedded.go subsystem.go: whose a function is, in a process of several; what the kernel was asked for
//	format.go: profiles as files
//	asleep.go syscall.go syscall_amd64.go syscall_other.go: where threads sleep
//	sampler.go cutter.go recording.go: samples of the kernel; cut to windows, by process; as they came
//	symbols.go ehframe.go stack.go: addresses to functions, and functions to readable frames
//	profile.go: the CPU time of a window, by side, process, thread and stack
package profile
