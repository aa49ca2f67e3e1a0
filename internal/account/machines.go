package account

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
)

// ClientMachine is what was observed of a machine of clients in a step. It has many fields: those of files of format 2.
type ClientMachine struct {
	Name   string  `json:"name"`
	Ops    int64   `json:"ops"` // of all kinds, upkeep left out
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	CPU    float64 `json:"cpu_s"` // of rumbench's process there
	Busy   float64 `json:"busy"`  // share of its processors, of all programs
	Queue  float64 `json:"queue_s"`
	GC     float64 `json:"gc_pause_ms"`
	Net    float64 `json:"net"`        // share of the speed of its busiest network interface; 0: unknown
	Sent   int64   `json:"sent_bytes"` // by all its network interfaces, and received
	Got    int64   `json:"received_bytes"`
	Resent int64   `json:"resent_segments"`
	// MinTrip and Trip are the least and the median of the least round trips of its connections to the
	// server; 0: unknown.
	MinTrip    float64 `json:"min_trip_us"`
	Trip       float64 `json:"trip_us"`
	ClockBound float64 `json:"clock_bound_ms"`
	Late       float64 `json:"late_ms"` // after the common start
}

// ServerMachine is what was observed of the machine of a server of a cluster in a step; nil: that is unknown.
// Files of format 2 have it so, too.
type ServerMachine struct {
	Name string   `json:"name"`
	CPU  *float64 `json:"cpu_ns"`
	Busy *float64 `json:"busy"` // share of the machine's processors, of all programs
	// Memory is that of the server's processes at the end, in bytes; 0: unknown.
	Memory  int64    `json:"memory_bytes"`
	Read    *float64 `json:"read_bytes"`    // of the device under the data
	Written *float64 `json:"written_bytes"` // of the device under the data, with the sync after the step
	Sent    *float64 `json:"sent_bytes"`    // of all its network interfaces but the one to itself, and received
	Got     *float64 `json:"received_bytes"`
	// Skew is by how much its counts may have been read earlier or later than those of the first machine.
	Skew     float64 `json:"skew_ms"`
	Sessions int     `json:"-"` // that it was dealt; 0: unknown
}

// Counted is what was counted on the machine of a server, in the window and until everything was synced. Own are
// the bytes that rumbench wrote to its own files there.
type Counted struct {
	InWindow, WithSync []observe.Change
	Own                float64
}

// Add adds what was counted.
func (m *ServerMachine) Add(c Counted) {
	growth := func(changes []observe.Change, name string) *float64 {
		if v, ok := Counter(changes, name); ok {
			return &v
		}
		return nil
	}
	m.CPU, m.Read = growth(c.InWindow, "process.cpu_ns"), growth(c.InWindow, "device.read_bytes")
	m.Sent, m.Got = growth(c.InWindow, observe.NetSent), growth(c.InWindow, observe.NetGot)
	if m.Written = growth(c.WithSync, "device.write_bytes"); m.Written != nil {
		*m.Written = max(0, *m.Written-c.Own)
	}
	working, found := busy(c.InWindow)
	waited, waits := Counter(c.InWindow, "host.cpu.iowait_ns")
	idle, idles := Counter(c.InWindow, "host.cpu.idle_ns")
	stolen, _ := Counter(c.InWindow, "host.cpu.steal_ns")
	if total := working + stolen + waited + idle; found && waits && idles && total > 0 {
		share := (working + stolen) / total
		m.Busy = &share
	}
}

// On labels a row as that of a machine.
func On(machine string) With { return func(row *metric.Row) { row.Labels.Machine = machine } }

// ClientMachines adds the figures of machines of clients, costs per unit.
func (b *Builder) ClientMachines(list []ClientMachine, seconds float64, by Denominator) {
	for i := range list {
		c, on := &list[i], On(list[i].Name)
		b.Rate(metric.OpsPerS, float64(c.Ops), seconds, on)
		if c.Ops > 0 {
			b.Put(metric.ServiceP50US, c.P50, on)
			b.Put(metric.ServiceP99US, c.P99, on)
		}
		b.Costs([]Cost{
			{Metric: metric.ClientCPUUS, Value: 1e6 * c.CPU, Source: metric.OfClient},
			{Metric: metric.ClientRunqueueUS, Value: 1e6 * c.Queue, Source: metric.OfClient},
			{Metric: metric.NetworkSentKB, Value: float64(c.Sent) / kb, Source: interfaces},
			{Metric: metric.NetworkReceivedKB, Value: float64(c.Got) / kb, Source: interfaces},
		}, by, on)
		b.Put(metric.ProcessorsBusy, c.Busy, on)
		b.Put(metric.ClientGCPauseMS, c.GC, on)
		b.Put(metric.SegmentsResent, float64(c.Resent), on)
		b.Put(metric.ClockErrorMS, c.ClockBound, on)
		b.Put(metric.StartLateMS, c.Late, on)
		for _, m := range []struct {
			name  string
			value float64
		}{{metric.NetworkBusy, c.Net}, {metric.RoundTripMinUS, c.MinTrip}, {metric.RoundTripUS, c.Trip}} {
			if m.value > 0 {
				b.Put(m.name, m.value, on)
			}
		}
	}
}

// interfaces is the source of what machines sent and received.
const interfaces = "network interfaces"

// ServerMachines adds the figures of the machines of a cluster's servers, costs per unit: those add up to the
// step's, so that they are left out if something is unknown of one machine.
func (b *Builder) ServerMachines(list []ServerMachine, by Denominator) {
	complete := !slices.ContainsFunc(list, func(m ServerMachine) bool { return m.Busy == nil })
	for i := range list {
		m, on := &list[i], On(list[i].Name)
		if m.Sessions > 0 {
			b.Put(metric.Sessions, float64(m.Sessions), on)
		}
		if m.Skew > 0 {
			b.Put(metric.CountedApartMS, m.Skew, on)
		}
		if m.Memory > 0 {
			b.Put(metric.ServerMemoryBytes, float64(m.Memory), on)
		}
		if !complete {
			continue
		}
		b.Put(metric.ProcessorsBusy, *m.Busy, on)
		for _, f := range []struct {
			metric, source string
			value          *float64
			unit           float64
		}{
			{metric.ServerCPUUS, metric.OfServer, m.CPU, perMicro}, {metric.ReadKB, "device", m.Read, kb},
			{metric.WriteKB, "device", m.Written, kb}, {metric.NetworkSentKB, interfaces, m.Sent, kb},
			{metric.NetworkReceivedKB, interfaces, m.Got, kb},
		} {
			if f.value != nil {
				b.Costs([]Cost{{Metric: f.metric, Value: *f.value / f.unit, Source: f.source}}, by, on)
			}
		}
	}
}

// addMachines adds the figures of machines of clients and of a cluster's servers.
func addMachines(s *costing) {
	by := Denominator{Per: "step", Units: 1}
	for _, d := range s.denominators() {
		if metric.PerOf(d.Per, s.Of.Primary) {
			by = d
			break
		}
	}
	s.ServerMachines(s.Servers, by)
	if s.Remote != nil {
		s.ClientMachines(s.Remote.Machines, s.Seconds, by)
	}
}
