package plan

import (
	"fmt"
	"slices"

	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// checkFleet refuses targets that cannot be measured on the plan's machines.
func checkFleet(b *binder, t *bound, hosted, joins bool, p *Plan) {
	at := func(key string) *strictyaml.Node {
		if n := t.fields.Value(key); n != nil {
			return n
		}
		return t.node
	}
	switch {
	case !p.Fleet.Any():
		return
	case len(p.Fleet.Cells) > 1 && t.Config.Server.DSN != "":
		b.At(at("dsn"), t.Name+": trials on several machines would disturb each other on one server",
			"remove spread, or the dsn")
	case t.fields.Of.Get("dsn_file") != nil:
		b.At(at("dsn_file"), t.Name+": the machines do not have this file", "write dsn: ${NAME}, from the environment here")
	case len(p.Fleet.Cells) > 1 && t.Data != "":
		b.At(at("data"), t.Name+": data that exist are on one machine", "remove spread, or data")
	}
	if !p.Fleet.Divided() {
		return
	}
	for i := range p.Fleet.Cells {
		checkCell(b, t, i, &p.Fleet, p.Profile.Mode != "")
	}
	switch key := "client_cpus"; {
	case hosted && !joins:
		b.At(t.node, t.Name+": rumbench does not share a database of "+t.Engine+" between machines", "remove clients_on")
		return
	case !hosted:
		b.At(t.node, t.Name+": its engine runs in the process of its clients: they cannot be on other machines",
			"remove clients_on")
		return
	case t.fields.Value(key) != nil:
		b.At(at(key), t.Name+": its clients are on other machines", "remove client_cpus")
	}
	several := func(c Cell) bool { return len(c.Clients) > 1 }
	if p.Run == nil || !slices.ContainsFunc(p.Fleet.Cells, several) {
		return
	}
	for _, s := range p.For(&t.Target).Run.Steps() {
		if len(s.Groups) > 0 && !s.Divides {
			b.At(t.node, fmt.Sprintf("the clients of step %s of workload %s share what only one process can know: "+
				"they cannot be on several machines", s.Name, p.Workload),
				"name one machine in clients_on, or choose another workload")
			return
		}
	}
}

// checkCell refuses a target whose servers a cell does not reach. Each cell is reported once.
func checkCell(b *binder, t *bound, at int, f *Fleet, profiled bool) {
	c, dsns := &f.Cells[at], t.Config.Server.DSNs()
	switch n := b.cells[at]; {
	case len(c.Clients) == 0 || n == nil:
		return
	case len(dsns) == 0 && len(c.Observed) > 0:
		b.At(n, t.Name+": rumbench starts no cluster", "name one machine, or attach to the servers: dsn: [DSN, …]")
	case len(c.Observed) > 0 && profiled:
		b.At(n, "servers on several machines are not profiled", "remove profile")
	case len(dsns) == 0 && f.Host(c.Server).Listen == "":
		b.At(n, "nothing says where clients on other machines reach a server on "+c.Server,
			"add listen to that machine: its address on the network of the clients, as in listen: 10.0.0.5")
	case len(c.Observed) > 0 && len(dsns) != len(c.servers()):
		b.At(n, fmt.Sprintf("%s: there are %s of servers, and its dsn has %d", t.Name,
			quantity.Count(len(c.servers()), "machine"), len(dsns)), "name one for each, in the same order")
	default:
		return
	}
	b.cells[at] = nil
}
