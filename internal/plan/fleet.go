package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// Fleet is the machines that a campaign uses. Its zero value is the machine that rumbench runs on.
type Fleet struct {
	Machines []Host // in the plan's order
	Cells    []Cell // over which blocks of trials are spread: each runs a trial at a time
	Mixed    bool   // their machines may be of different kinds
	Retries  int    // how often a block is run again whose machine was lost
	// Lost is how long a machine may say nothing if clients are on others than the server.
	Lost time.Duration
	// Address is where agents join, a host and a port; Wait is how long they are waited for.
	Address string
	Wait    time.Duration
}

// Cell is where a trial runs: one machine, or that of its server with those of its clients. A cluster has more
// machines with servers.
type Cell struct {
	Server   string
	Observed []string // of the other servers of a cluster
	Clients  []string // none: they are on the server's machine
}

// String says what is where: "the server on db1, clients on c1, c2".
func (c Cell) String() string {
	clients := ", clients on " + strings.Join(c.Clients, ", ")
	switch {
	case len(c.Clients) == 0:
		return "on machine " + c.Server
	case len(c.Observed) > 0:
		return "servers on " + strings.Join(c.servers(), ", ") + clients
	}
	return "the server on " + c.Server + clients
}

// servers returns the names of the machines of servers.
func (c *Cell) servers() []string { return append([]string{c.Server}, c.Observed...) }

// Names returns the names of all its machines.
func (c *Cell) Names() []string { return append(c.servers(), c.Clients...) }

// Host is a machine that is reached by ssh, or whose agent joins.
type Host struct {
	Name string `json:"name"`
	SSH  string `json:"ssh,omitempty"` // its destination, as ssh takes it; "": it joins
	Join bool   `json:"join,omitempty"`
	Dir  string `json:"dir,omitempty"` // where data are kept there, an absolute path; "": rumbench-fleet in the user's home
	// Listen is its address at which clients on other machines reach a server there; "": they cannot.
	Listen string `json:"listen,omitempty"`
}

// Any reports whether the campaign runs on other machines.
func (f *Fleet) Any() bool { return len(f.Machines) > 0 }

// Divided reports whether clients are on other machines than their server.
func (f *Fleet) Divided() bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return len(c.Clients) > 0 })
}

// Host returns a machine; nil if there is none of the name.
func (f *Fleet) Host(name string) *Host {
	if i := slices.IndexFunc(f.Machines, func(h Host) bool { return h.Name == name }); i >= 0 {
		return &f.Machines[i]
	}
	return nil
}

// Used returns the machines of all cells.
func (f *Fleet) Used() (out []Host) {
	for i := range f.Cells {
		for _, name := range f.Cells[i].Names() {
			out = append(out, *f.Host(name))
		}
	}
	return out
}

// Observes reports whether a machine has a server of a cluster that is not its first.
func (f *Fleet) Observes(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return slices.Contains(c.Observed, name) })
}

// Uses reports whether a cell has a machine.
func (f *Fleet) Uses(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool { return slices.Contains(c.Names(), name) })
}

// Serves reports whether a machine has a server alone: its clients are on others.
func (f *Fleet) Serves(name string) bool {
	return slices.ContainsFunc(f.Cells, func(c Cell) bool {
		return len(c.Clients) > 0 && slices.Contains(c.servers(), name)
	})
}

// Names returns the names of the cells: of their servers' machines.
func (f *Fleet) Names() []string {
	return quantity.Texts(f.Cells, func(c Cell) string { return c.Server })
}

// mostMachines is a limit of patterns: nobody means more.
const mostMachines = 1000

const machinesHint = `as in machines: [{name: "m[1-3]", ssh: "bench@m[1-3].lan"}]`

var hostKeys = strictyaml.Table[Host]{
	strictyaml.Valued("name", "The machine's name in results, or a pattern for several: m[1-3].", strictyaml.OneLine,
		func(h *Host, v string) { h.Name = v }),
	strictyaml.Valued("ssh", "Where ssh finds it: a host of its configuration, or USER@HOST; with a pattern one for each.",
		strictyaml.OneLine, func(h *Host, v string) { h.SSH = v }),
	strictyaml.Valued("join", "Others start its agent, with rumbench agent --join FILE, which rumbench run says. "+
		"Instead of ssh.", strictyaml.Boolean, func(h *Host, v bool) { h.Join = v }),
	strictyaml.Valued("dir", "The directory there that holds the data of trials, an absolute path. "+
		"Default: rumbench-fleet in the user's home.", strictyaml.OneLine, func(h *Host, v string) { h.Dir = v }),
	strictyaml.Valued("listen", "Its address on the network of the clients, or its name there: a private server "+
		"listens there, with a password, if clients are on other machines.", strictyaml.OneLine,
		func(h *Host, v string) { h.Listen = v }),
}

// hostShape is that of a machine: it is reached by ssh, or joins.
func hostShape() strictyaml.Shape {
	s := hostKeys.Shape("name")
	s["oneOf"] = []strictyaml.Shape{{"required": []string{"ssh"}}, {"required": []string{"join"}}}
	return s
}

var namesShape = strictyaml.ListOf(strictyaml.Text.Shape)

var cellKeys = strictyaml.Table[Cell]{
	strictyaml.Part[Cell]("server_on", "The machine that the server runs on. A list: those of a cluster, one for each "+
		"dsn, in the same order.", namesShape),
	strictyaml.Part[Cell]("clients_on", "The machines of the clients, by name or pattern.", namesShape),
}

var spreadKeys = strictyaml.Table[Fleet]{
	strictyaml.Part[Fleet]("over", "The machines, by name or pattern, or maps of server_on and clients_on: each "+
		"runs whole blocks of trials.",
		strictyaml.ListOf(strictyaml.Either(strictyaml.Text.Shape, cellKeys.Shape("server_on")))),
	strictyaml.Valued("mixed", "Allow machines whose processors, memory, kernel or disks differ. Default false.",
		strictyaml.Boolean, func(f *Fleet, v bool) { f.Mixed = v }),
}

var fleetKeys = strictyaml.Table[Fleet]{
	strictyaml.Valued("retries", "How often a block of trials is run again, on another machine, when its machine was "+
		"lost. Default 1.", strictyaml.Integer(0, 10), func(f *Fleet, v int) { f.Retries = v }),
	strictyaml.Valued("lost", "After what time without a word a machine is lost, if clients are on other machines than "+
		"their server. Default 3s.", strictyaml.Duration(time.Second, time.Minute),
		func(f *Fleet, v time.Duration) { f.Lost = v }),
	strictyaml.Valued("address", "Where agents join that others start: an address of this machine and a port, "+
		"as in 10.0.0.1:7070. It is open until all have joined.", strictyaml.OneLine,
		func(f *Fleet, v string) { f.Address = v }),
	strictyaml.Valued("wait", "How long agents are waited for that others start. Default 1h.",
		strictyaml.Duration(time.Second, 7*24*time.Hour), func(f *Fleet, v time.Duration) { f.Wait = v }),
}

// usualLost is how long a machine may say nothing, and usualWait how long agents are waited for that join.
const (
	usualLost = 3 * time.Second
	usualWait = time.Hour
)

const cellHint = "server_on: NAME, with clients_on: [NAME, …], or spread: {over: [NAME, …]}"

// readFleet reads the machines, and what they are for.
func readFleet(b *binder, f strictyaml.Fields, p *Plan) {
	if b.here {
		return // it needs no machines of its own
	}
	at := readMachines(b, f, &p.Fleet)
	if at != nil {
		p.Fleet.Retries, p.Fleet.Lost, p.Fleet.Wait = 1, usualLost, usualWait
	}
	section(f, "fleet", fleetKeys, &p.Fleet, "fleet is a map", "as in fleet: {retries: 1}")
	checkJoin(b, at, f.Value("fleet"), &p.Fleet)
	spread, server, clients := f.Value("spread"), f.Value("server_on"), f.Value("clients_on")
	n := cmp.Or(spread, server, clients)
	if b.refuse(
		exclusion{holds: n == nil && at == nil},
		exclusion{at, n == nil, "nothing says what the machines are for", cellHint},
		exclusion{n, at == nil, "there are no machines", machinesHint},
		exclusion{spread, spread != nil && (server != nil || clients != nil), "spread says what all machines are for",
			"write server_on and clients_on in over: spread: {over: [{server_on: NAME, clients_on: [NAME]}, …]}"},
	) {
		return
	}
	if spread != nil {
		readSpread(b, f, &p.Fleet)
	} else {
		var cell Cell
		cellKeys.Bind(f, &cell)
		addCell(b, n, f, &p.Fleet, cell)
	}
	b.refuse(fleetExclusions(n, p)...)
}

// checkJoin checks where agents join.
func checkJoin(b *binder, machines, own *strictyaml.Node, f *Fleet) {
	joins := slices.ContainsFunc(f.Machines, func(h Host) bool { return h.Join })
	const help = "as in fleet: {address: \"10.0.0.1:7070\"}"
	host, port, err := net.SplitHostPort(f.Address)
	switch n, perr := strconv.ParseUint(port, 10, 16); {
	case f.Address == "" && joins:
		b.At(machines, "nothing says where agents join", help)
	case f.Address == "" || len(f.Machines) == 0:
	case !joins:
		b.At(own, "no machine joins at "+f.Address, "remove address, or write {name: …, join: true} in machines")
	case err != nil || perr != nil || n < 1 || !isAddress(host):
		b.At(own, fmt.Sprintf("address: %q is no address of one machine with a port", f.Address), help)
	}
}

func readSpread(b *binder, plan strictyaml.Fields, f *Fleet) {
	fields, ok := section(plan, "spread", spreadKeys, f, "spread is a map", "as in spread: {over: [m1, m2, m3]}")
	if !ok {
		return
	}
	n := fields.Of
	for _, item := range fields.List("over", "as in over: [m1, m2, m3]") {
		if item.Kind == strictyaml.Mapping {
			var cell Cell
			own := b.Fields(item, "over", cellKeys.Names())
			cellKeys.Bind(own, &cell)
			addCell(b, item, own, f, cell)
			continue
		}
		for _, name := range namesOf(b, item, "over", f, nil) {
			f.Cells, b.cells = append(f.Cells, Cell{Server: name}), append(b.cells, item)
		}
	}
	if fields.Value("over") == nil {
		b.At(n, "spread does not say over which machines", "as in spread: {over: [m1, m2, m3]}")
	}
	for i := range f.Cells {
		if a, c := &f.Cells[0], &f.Cells[i]; len(a.Clients) != len(c.Clients) || len(a.Observed) != len(c.Observed) {
			b.At(n, fmt.Sprintf("%s has %s of clients, and %s has %d: their trials cannot be compared", a.Server,
				quantity.Count(len(a.Clients), "machine"), c.Server, len(c.Clients)), "give each as many")
			return
		}
	}
}

// addCell adds the machines of a server and its clients.
func addCell(b *binder, n *strictyaml.Node, fields strictyaml.Fields, f *Fleet, cell Cell) {
	at := fields.Value("server_on")
	if at == nil {
		b.At(n, "nothing says on which machine the server is", "add server_on: NAME")
		return
	}
	var names []string
	for _, item := range itemsOf(at) {
		if b.Is(item, strictyaml.Scalar, "server_on is a machine, or a list of them", "as in server_on: db1") {
			names = append(names, namesOf(b, item, "server_on", f, names)...)
		}
	}
	if len(names) == 0 {
		return // reported
	}
	cell.Server, cell.Observed = names[0], names[1:]
	for _, item := range fields.List("clients_on", "as in clients_on: [c1, c2]") {
		cell.Clients = append(cell.Clients, namesOf(b, item, "clients_on", f, cell.Names())...)
	}
	if len(cell.Observed) > 0 && len(cell.Clients) == 0 {
		b.At(at, "nothing says on which machines the clients of a cluster are", "add clients_on: [NAME, …]")
	}
	f.Cells, b.cells = append(f.Cells, cell), append(b.cells, at)
}

// itemsOf returns the items of a list, or what stands in its place.
func itemsOf(n *strictyaml.Node) []*strictyaml.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == strictyaml.List && len(n.Items) > 0:
		return n.Items
	}
	return []*strictyaml.Node{n}
}

// namesOf returns the machines that a text names, which no cell has yet, nor the one that is being made.
func namesOf(b *binder, n *strictyaml.Node, key string, f *Fleet, own []string) (out []string) {
	names, err := expand(n.Text)
	if err != nil {
		b.At(n, key+": "+err.Error(), `as in "m[1-3]"`)
	}
	for i := range f.Cells {
		own = append(own, f.Cells[i].Names()...)
	}
	for _, name := range names {
		switch {
		case f.Host(name) == nil && b.hostless: // reported
		case f.Host(name) == nil:
			b.At(n, fmt.Sprintf("there is no machine %q", name), "machines: has "+strings.Join(quantity.Texts(f.Machines,
				func(h Host) string { return h.Name }), ", "))
		case slices.Contains(own, name) || slices.Contains(out, name):
			b.At(n, "machine "+name+" is given twice", "remove one")
		default:
			out = append(out, name)
		}
	}
	return out
}

// readMachines reads the list of machines from the plan or a file of its own, and returns the node
// that has it; nil if there is none.
func readMachines(b *binder, f strictyaml.Fields, fleet *Fleet) *strictyaml.Node {
	n := f.Value("machines")
	b.paths.read(f, "machines_file", func(path string) error {
		src, err := regular.ReadFile(path, strictyaml.MaxBytes)
		switch {
		case err != nil:
			return err
		case n != nil:
			return errors.New("the plan has machines already")
		}
		n = b.ReadFile(path, src)
		return nil
	})
	if n == nil || !b.Is(n, strictyaml.List, "the machines are no list", machinesHint) {
		return nil
	}
	before := len(b.Problems)
	for _, item := range n.Items {
		if fields, ok := b.Record(item, "a machine", hostKeys.Names(), "name"); ok {
			var pattern Host
			before := len(b.Problems)
			hostKeys.Bind(fields, &pattern)
			if len(b.Problems) == before {
				fleet.add(b, item, pattern)
			}
		}
	}
	b.hostless = len(b.Problems) > before
	if len(n.Items) == 0 {
		b.At(n, "there is no machine in the list", machinesHint)
	}
	return n
}

// add adds the machines of a pattern.
func (f *Fleet) add(b *binder, n *strictyaml.Node, pattern Host) {
	names, err := expand(pattern.Name)
	addresses, aerr := forEach(pattern.SSH, names)
	listens, lerr := forEach(pattern.Listen, names)
	dirs, derr := forEach(pattern.Dir, names)
	switch {
	case pattern.Join == (pattern.SSH != ""):
		b.At(n, "a machine is reached by ssh, or joins", machinesHint+`, or {name: "m[1-3]", join: true}`)
		return
	case cmp.Or(err, aerr, lerr, derr) != nil:
		b.At(n, cmp.Or(err, aerr, lerr, derr).Error(), machinesHint)
		return
	case len(names) > 1 && (addresses[0] != "" && addresses[0] == addresses[1] ||
		listens[0] != "" && listens[0] == listens[1]):
		b.At(n, "each machine has an address of its own", machinesHint)
		return
	case slices.ContainsFunc(listens, isNoPlace):
		b.At(n, fmt.Sprintf("listen: %q is no address of one machine", pattern.Listen), "as in listen: 10.0.0.5")
		return
	case pattern.Dir != "" && !filepath.IsAbs(pattern.Dir):
		b.At(n, "dir: "+pattern.Dir+" is not an absolute path", "as in dir: /data/rumbench")
		return
	}
	for i, name := range names {
		switch {
		case !hostName.MatchString(name):
			b.At(n, fmt.Sprintf("%q is not a name of a machine", name), "letters, digits, dots, - and _")
		case strings.HasPrefix(addresses[i], "-"):
			b.At(n, fmt.Sprintf("%q is no destination of ssh", addresses[i]), "as in ssh: bench@db1.lan")
		case f.Host(name) != nil:
			b.At(n, "two machines are called "+name, "give them different names")
		default:
			f.Machines = append(f.Machines, Host{name, addresses[i], pattern.Join, dirs[i], listens[i]})
		}
	}
}

var (
	hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	numbers  = regexp.MustCompile(`^([^\[\]]*)\[(\d{1,9})-(\d{1,9})\]([^\[\]]*)$`)
)

// expand returns the texts of a pattern such as m[1-3]; a text without brackets is itself. Numbers
// keep leading zeros.
func expand(pattern string) (out []string, err error) {
	if !strings.ContainsAny(pattern, "[]") {
		return []string{pattern}, nil
	}
	m := numbers.FindStringSubmatch(pattern)
	if m == nil {
		return nil, fmt.Errorf("%q is no pattern such as m[1-3]", pattern)
	}
	first, _ := strconv.Atoi(m[2])
	last, _ := strconv.Atoi(m[3])
	if last < first || last-first >= mostMachines {
		return nil, fmt.Errorf("[%s-%s] is no range of at most %d machines", m[2], m[3], mostMachines)
	}
	for i := first; i <= last; i++ {
		out = append(out, fmt.Sprintf("%s%0*d%s", m[1], len(m[2]), i, m[4]))
	}
	return out, nil
}

// forEach returns the texts of a pattern, one for each name; a text without brackets is the same for all.
func forEach(pattern string, names []string) ([]string, error) {
	out, err := expand(pattern)
	if err == nil && len(out) == 1 && len(names) > 0 {
		out = slices.Repeat(out, len(names))
	}
	if err == nil && len(out) != len(names) {
		err = fmt.Errorf("%q stands for %d, and there are %s", pattern, len(out), quantity.Count(len(names), "name"))
	}
	return out, err
}

// isNoPlace reports whether a server cannot listen at a text: it is neither an address of one machine nor a name.
func isNoPlace(text string) bool {
	return text != "" && !isAddress(text) && (net.ParseIP(text) != nil || !hostName.MatchString(text))
}

// isAddress reports whether a text is an IP address, other than one that stands for all.
func isAddress(text string) bool {
	ip := net.ParseIP(text)
	return ip != nil && !ip.IsUnspecified()
}
