package plan

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// Fleet is the machines that a campaign uses. Its zero value is the machine that rumbench runs on.
type Fleet struct {
	Machines []Host   // in the plan's order
	Over     []string // the machines over which blocks of trials are spread, by name
	Mixed    bool     // they may be of different kinds
	Retries  int      // how often a block is run again whose machine was lost
}

// Host is a machine that is reached by ssh.
type Host struct {
	Name string `json:"name"`
	SSH  string `json:"ssh"`           // its destination, as ssh takes it
	Dir  string `json:"dir,omitempty"` // where data are kept there, an absolute path; "": rumbench-fleet in the user's home
}

// Any reports whether the campaign runs on other machines.
func (f *Fleet) Any() bool { return len(f.Machines) > 0 }

// Spread returns the machines over which trials are spread.
func (f *Fleet) Spread() (out []Host) {
	for _, name := range f.Over {
		out = append(out, f.Machines[slices.IndexFunc(f.Machines, func(h Host) bool { return h.Name == name })])
	}
	return out
}

// mostMachines is a limit of patterns: nobody means more.
const mostMachines = 1000

const machinesHint = `as in machines: [{name: "m[1-3]", ssh: "bench@m[1-3].lan"}]`

var hostKeys = strictyaml.Table[Host]{
	strictyaml.Valued("name", "The machine's name in results, or a pattern for several: m[1-3].", strictyaml.OneLine,
		func(h *Host, v string) { h.Name = v }),
	strictyaml.Valued("ssh", "Where ssh finds it: a host of its configuration, or USER@HOST; with a pattern one for each.",
		strictyaml.OneLine, func(h *Host, v string) { h.SSH = v }),
	strictyaml.Valued("dir", "The directory there that holds the data of trials, an absolute path. "+
		"Default: rumbench-fleet in the user's home.", strictyaml.OneLine, func(h *Host, v string) { h.Dir = v }),
}

var spreadKeys = strictyaml.Table[Fleet]{
	strictyaml.Part[Fleet]("over", "The machines, by name or pattern: each runs whole blocks of trials.",
		strictyaml.ListOf(strictyaml.Text.Shape)),
	strictyaml.Valued("mixed", "Allow machines whose processors, memory, kernel or disks differ. Default false.",
		strictyaml.Boolean, func(f *Fleet, v bool) { f.Mixed = v }),
}

var fleetKeys = strictyaml.Table[Fleet]{
	strictyaml.Valued("retries", "How often a block of trials is run again, on another machine, when its machine was "+
		"lost. Default 1.", strictyaml.Integer(0, 10), func(f *Fleet, v int) { f.Retries = v }),
}

// readFleet reads the machines, and what they are for.
func readFleet(b *binder, f strictyaml.Fields, p *Plan) {
	if b.here {
		return // it needs no machines of its own
	}
	at := readMachines(b, f, &p.Fleet)
	if at != nil {
		p.Fleet.Retries = 1
	}
	if n := f.Value("fleet"); n != nil && b.Is(n, strictyaml.Mapping, "fleet is a map", "as in fleet: {retries: 1}") {
		fleetKeys.Bind(b.Fields(n, "fleet", fleetKeys.Names()), &p.Fleet)
	}
	n := f.Value("spread")
	switch {
	case n == nil && at == nil:
		return
	case n == nil:
		b.At(at, "nothing says what the machines are for", "spread: {over: [NAME, …]} runs blocks of trials on them")
		return
	case !b.Is(n, strictyaml.Mapping, "spread is a map", "as in spread: {over: [m1, m2, m3]}"):
		return
	case at == nil:
		b.At(n, "there are no machines to spread the trials over", machinesHint)
		return
	}
	fields := b.Fields(n, "spread", spreadKeys.Names())
	spreadKeys.Bind(fields, &p.Fleet)
	for _, item := range fields.List("over", "as in over: [m1, m2, m3]") {
		readOver(b, item, &p.Fleet)
	}
	if fields.Value("over") == nil {
		b.At(n, "spread does not say over which machines", "as in spread: {over: [m1, m2, m3]}")
	}
	if p.Order != Interleaved {
		b.At(n, fmt.Sprintf("trials in order %s do not form blocks that machines could share", p.Order),
			"remove order; interleaved is the default")
	}
}

func readOver(b *binder, n *strictyaml.Node, f *Fleet) {
	names, err := expand(n.Text)
	if err != nil {
		b.At(n, "over: "+err.Error(), `as in "m[1-3]"`)
	}
	for _, name := range names {
		switch known := func(h Host) bool { return h.Name == name }; {
		case !slices.ContainsFunc(f.Machines, known):
			b.At(n, fmt.Sprintf("there is no machine %q", name), "machines: has "+strings.Join(quantity.Texts(f.Machines,
				func(h Host) string { return h.Name }), ", "))
		case slices.Contains(f.Over, name):
			b.At(n, "machine "+name+" is given twice", "remove one")
		default:
			f.Over = append(f.Over, name)
		}
	}
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
	for _, item := range n.Items {
		if fields, ok := b.Record(item, "a machine", hostKeys.Names(), "name", "ssh"); ok {
			var pattern Host
			before := len(b.Problems)
			hostKeys.Bind(fields, &pattern)
			if len(b.Problems) == before {
				fleet.add(b, item, pattern)
			}
		}
	}
	if len(n.Items) == 0 {
		b.At(n, "there is no machine in the list", machinesHint)
	}
	return n
}

// add adds the machines of a pattern.
func (f *Fleet) add(b *binder, n *strictyaml.Node, pattern Host) {
	names, err := expand(pattern.Name)
	addresses, aerr := expand(pattern.SSH)
	switch {
	case errors.Join(err, aerr) != nil:
		b.At(n, errors.Join(err, aerr).Error(), machinesHint)
		return
	case len(names) != len(addresses):
		b.At(n, fmt.Sprintf("%s for %s", quantity.Count(len(names), "name"), quantity.Count(len(addresses), "address")),
			machinesHint)
		return
	case pattern.Dir != "" && !filepath.IsAbs(pattern.Dir):
		b.At(n, "dir: "+pattern.Dir+" is not an absolute path", "as in dir: /data/rumbench")
		return
	}
	for i, name := range names {
		switch taken := func(h Host) bool { return h.Name == name }; {
		case !hostName.MatchString(name):
			b.At(n, fmt.Sprintf("%q is not a name of a machine", name), "letters, digits, dots, - and _")
		case strings.HasPrefix(addresses[i], "-"):
			b.At(n, fmt.Sprintf("%q is no destination of ssh", addresses[i]), "as in ssh: bench@db1.lan")
		case slices.ContainsFunc(f.Machines, taken):
			b.At(n, "two machines are called "+name, "give them different names")
		default:
			f.Machines = append(f.Machines, Host{Name: name, SSH: addresses[i], Dir: pattern.Dir})
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

// checkSpread refuses targets that cannot be measured on several machines at a time.
func checkSpread(b *binder, t *bound, p *Plan) {
	at := func(key string) *strictyaml.Node {
		if n := t.fields.Value(key); n != nil {
			return n
		}
		return t.node
	}
	switch {
	case !p.Fleet.Any():
	case t.Config.Server.DSN != "":
		b.At(at("dsn"), t.Name+": trials on several machines would disturb each other on one server",
			"remove spread, or the dsn")
	case t.Data != "":
		b.At(at("data"), t.Name+": data that exist are on one machine", "remove spread, or data")
	}
}
