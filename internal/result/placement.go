package result

// Placement is where the processes of a trial ran, if its clients were on other machines than its server.
// Trials of different placement are not compared: a network is no Unix socket.
type Placement struct {
	Server string `json:"server"` // the machine of the server
	// Observed are the machines of the further servers of a cluster.
	Observed []string `json:"observed,omitempty"`
	Clients  []string `json:"clients"` // the machines of the clients, in the order in which seats are dealt to them
}

// ClientMachine is a machine of clients in a step. It has many fields: one for each figure.
type ClientMachine struct {
	Name   string  `json:"name"`
	Ops    int64   `json:"ops"` // of all kinds, upkeep left out
	P50    float64 `json:"p50_us"`
	P99    float64 `json:"p99_us"`
	CPU    float64 `json:"cpu_s"` // of rumbench's process there
	Busy   float64 `json:"busy"`  // share of its processors, of all programs
	Queue  float64 `json:"queue_s"`
	GC     float64 `json:"gc_pause_ms"`
	Net    float64 `json:"net,omitempty"` // share of the speed of its busiest network interface; 0: unknown
	Sent   int64   `json:"sent_bytes"`    // by all its network interfaces, and received
	Got    int64   `json:"received_bytes"`
	Resent int64   `json:"resent_segments,omitempty"`
	// MinTrip and Trip are the least and the median of the least round trips of its connections to the
	// server, as its kernel has measured them: no operation can take less.
	MinTrip float64 `json:"min_trip_us,omitempty"`
	Trip    float64 `json:"trip_us,omitempty"`
	// ClockBound is the bound of the error of its clock against the coordinator's.
	ClockBound float64 `json:"clock_bound_ms"`
	Late       float64 `json:"late_ms"` // after the common start
	// Saturated is what it was short of in a tenth of the intervals or more, and Straggler whether its p99
	// was over twice the median of the others.
	Saturated []string `json:"saturated,omitempty"`
	Straggler bool     `json:"straggler,omitempty"`
}

// ServerMachine is what a step cost the machine of a server of a cluster; nil: that is unknown.
type ServerMachine struct {
	Name   string   `json:"name"`
	CPU    *float64 `json:"cpu_ns,omitempty"`
	Busy   *float64 `json:"busy,omitempty"`         // share of the machine's processors, of all programs
	Memory int64    `json:"memory_bytes,omitempty"` // of the server's processes at the end; 0: unknown
	// Read and Written are bytes of the device under the data, with the sync after the step; Sent and Got of all
	// its network interfaces but the one to itself.
	Read    *float64 `json:"read_bytes,omitempty"`
	Written *float64 `json:"written_bytes,omitempty"`
	Sent    *float64 `json:"sent_bytes,omitempty"`
	Got     *float64 `json:"received_bytes,omitempty"`
	// Skew is by how much its counts may have been read earlier or later than those of the first machine.
	Skew float64 `json:"skew_ms,omitempty"`
}
