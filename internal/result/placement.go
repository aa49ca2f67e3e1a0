package result

// Placement is where the processes of a trial ran, if its clients were on other machines than its server.
// Trials of different placement are not compared: a network is no Unix socket.
type Placement struct {
	Server string `json:"server"` // the machine of the server
	// Observed are the machines of the further servers of a cluster.
	Observed []string `json:"observed,omitempty"`
	Clients  []string `json:"clients"` // the machines of the clients, in the order in which seats are dealt to them
}
