package registry

import (
	"rumbench/workload"
	"rumbench/workload/ibench"
)

// Workloads lists the workloads.
func Workloads() []workload.Workload {
	return []workload.Workload{
		ibench.Workload{},
	}
}
