// Package all lists the workloads that this binary has. It is the only place that
// imports them. Its tests run every workload on every engine.
package all

import (
	"rumbench/workload"
	"rumbench/workload/declared"
	"rumbench/workload/ibench"
	"rumbench/workload/linkbench"
	"rumbench/workload/rollup"
	"rumbench/workload/sysbench"
	"rumbench/workload/telemetry"
	"rumbench/workload/tpcc"
)

// Workloads lists the workloads.
func Workloads() []workload.Workload {
	return append([]workload.Workload{
		ibench.Workload{},
		linkbench.Workload{},
		rollup.Workload{},
		telemetry.Workload{},
		tpcc.Workload{},
		sysbench.Workload{},
	}, declared.Shipped()...)
}
