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

// mostMachines is a limit of patterns: nobody means more.
const mostMachines = 1000

const machinesHint = `as in machines: [{name: "m[1-3]", ssh: "bench@m[1-3].lan"}]`

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
	b.refuse(fleetExclusions(n, p))
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
	previous := len(b.Problems)
	for _, item := range n.Items {
		if fields, ok := b.Record(item, "a machine", hostKeys.Names(), "name"); ok {
			var pattern Host
			earlier := len(b.Problems)
			hostKeys.Bind(fields, &pattern)
			if len(b.Problems) == earlier {
				fleet.add(b, item, pattern)
			}
		}
	}
	b.hostless = len(b.Problems) > previous
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
