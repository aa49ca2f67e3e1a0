package plan

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
)

// stepless excludes a key of schedules from a run without a step that a schedule could apply to.
func stepless(n *strictyaml.Node, p *Plan, key string) []exclusion {
	open := func(s workload.Step) bool { return OpenGroup(&s) >= 0 }
	return []exclusion{
		{holds: p.Run == nil},
		{n, p.Run != nil && !slices.ContainsFunc(p.Run.Steps(), open),
			key + " has no step to apply to: it is for steps " +
				"that are bounded by time, create no tables, and have clients without a rate of their own",
			"rumbench run --dry-run shows the steps; choose others with params, or remove " + key},
	}
}

func stopExclusions(stop, plan strictyaml.Fields, p *Plan) []exclusion {
	n, lowest := stop.Of, stop.Of.Key("min_trials")
	imprecise := n.Get("precision") == nil
	return []exclusion{
		{n, imprecise && n.Get("budget") == nil, "stop says neither how precise nor how long",
			"as in stop: {precision: 2%, budget: 2h}"},
		{lowest, imprecise && lowest != nil, "min_trials is of precision, which stop does not ask for",
			"remove it, or add precision, as precision: 2%"},
		{n, p.Order == Sequential,
			"a sequential campaign has no blocks after which it could stop: the last target alone " +
				"would lose trials", "remove stop, or set order: interleaved"},
		{holds: trialsRefused(plan)},
		{n, p.Trials == 1,
			"there is nothing to stop: trials is 1", "trials is the greatest number then, as trials: 20"},
		{stop.Value("min_trials"), p.Stop.MinTrials > p.Trials, fmt.Sprintf(
			"min_trials: %d is more than all trials, which are %d", p.Stop.MinTrials, p.Trials),
			"lower it, or raise trials"},
	}
}

// trialsRefused reports whether the number of trials was reported as wrong.
func trialsRefused(f strictyaml.Fields) bool {
	n := f.Of.Get("trials")
	if n == nil {
		return false
	}
	_, err := strictyaml.Integer(1, maxTrials).Read(n)
	return err != nil
}

func findExclusions(n *strictyaml.Node, f strictyaml.Fields, p *Plan) []exclusion {
	return append([]exclusion{
		{n, f.Of.Get("rate") != nil, "a plan has either rate or find: find tries its own rates", "remove one"},
		{n, p.Order == Duet, "the two of a duet would try different rates, and cannot wait for each other",
			"set order: interleaved, or give a list of rates instead, as rate: [500, 1000]"},
		{n, p.Stop.Precision > 0, "stop: precision does not go with a search, whose answer is as precise as find says",
			"remove precision from stop; a budget can stay"},
	}, stepless(n, p, "find")...)
}

func untilExclusions(n *strictyaml.Node, p *Plan) []exclusion {
	return append([]exclusion{
		{n, p.Order == Duet,
			"the targets of a duet run at the same time: a step that one of them prolongs would run alone",
			"remove until, or set order: interleaved"},
		{n, p.Fleet.Divided(), "each machine of clients would find another time at which its own rate is steady",
			"remove until, or clients_on"},
		{n, p.Rate != nil, "with a rate, steps do not go as fast as they can", "remove until, or rate"},
	}, stepless(n, p, "until")...)
}

func startExclusions(start strictyaml.Fields, p *Plan, s *Start) []exclusion {
	loads := start.Value("loads")
	own := s.Copy == OwnData && (loads != nil || s.Bases != "")
	return []exclusion{
		{start.Of, own, "data that exist are not loaded", "remove loads and bases"},
		{start.Of, p.Order == Duet,
			"the trials of a duet run side by side from their beginning, and copies are not made " +
				"at the same time", "remove start, or set order: interleaved"},
		{loads, s.Loads > p.Trials, fmt.Sprintf("%s for %s: some would never be used", quantity.Count(s.Loads, "load"),
			quantity.Count(p.Trials, "trial")), "lower loads, or raise trials"},
	}
}

func profileExclusions(n *strictyaml.Node, p *Plan) exclusion {
	return exclusion{n, p.Profile.Mode == result.ProfileExtra && p.Order == Duet,
		"an extra trial runs alone, on all processors, and says nothing about a duet",
		"set profile: inside, or order: interleaved"}
}

func fleetExclusions(n *strictyaml.Node, p *Plan) exclusion {
	return exclusion{n, p.Order != Interleaved,
		fmt.Sprintf("trials in order %s do not form blocks that machines could share", p.Order),
		"remove order; interleaved is the default"}
}

// excludeTargets refuses targets that do not go together, or with the plan.
func excludeTargets(b *binder, f strictyaml.Fields, targets []*bound, p *Plan) {
	if n := f.Of.Get("targets"); n != nil && n.Kind == strictyaml.List && len(n.Items) > 0 {
		b.refuse(exclusion{f.Value("order"), p.Order == Duet && len(n.Items) != 2,
			fmt.Sprintf("order: a duet has two targets, and the plan has %d", len(n.Items)),
			"name two targets, or set order: interleaved"})
	}
	for _, t := range targets {
		b.refuse(exclusion{t.dsnNode(), p.Order == Duet && t.attached(), "dsn: a duet keeps each target on its own " +
			"processors, and a server that runs already cannot be kept there",
			"set order: interleaved, or let a private server be started"})
		b.refuse(exclusion{f.Value("profile"), p.Profile.Mode == result.ProfileExtra && t.Data != "",
			fmt.Sprintf("target %s works on a data directory in place, and one more trial would begin with what the others "+
				"have changed", t.Name), "set profile: inside, or remove data from the target"})
	}
}

// excludeMachine refuses limits that cannot be kept.
func excludeMachine(b *binder, t *bound, hosted bool, p *Plan) {
	at := func(key string) *strictyaml.Node { return cmp.Or(t.fields.Value(key), t.common.Value(key)) }
	for _, key := range slices.Sorted(maps.Keys(t.Machine.knobs())) {
		n := at(key)
		b.refuse(
			exclusion{n, t.attached(), t.Name + ": " + key + ": a server that is attached to is never configured",
				"limit it where it runs, and leave " + key + " out here"},
			exclusion{n, key == "memory" && t.Data != "" && !p.Start.Any(),
				t.Name + ": memory: pages of data that exist " +
					"may be in the page cache already, outside of the limit", "remove memory, or set start: {copy: data}"},
			exclusion{n, key == "client_cpus" && !hosted,
				t.Name + ": an embedded engine and its client are one process",
				"set cpus, which both share"},
			exclusion{n, key != "memory" && p.Order == Duet,
				"a duet divides the CPUs itself: each target has half of them",
				"remove " + key + ", or set order: interleaved"},
		)
	}
	memory, cache, client := t.Machine.Memory, t.Config.Cache, t.Machine.ClientCPUs.Set
	b.refuse(exclusion{cmp.Or(at("memory"), t.node), memory > 0 && cache >= memory,
		fmt.Sprintf("memory of %s has no room for a cache of %s", quantity.Bytes(memory), quantity.Bytes(cache)),
		"lower cache, or raise memory"})
	shared := slices.ContainsFunc(t.Machine.CPUs.Set, func(cpu int) bool { return slices.Contains(client, cpu) })
	b.refuse(exclusion{at("client_cpus"), shared, t.Name + ": cpus and client_cpus share a CPU",
		"the two are apart, or neither is limited"})
}

// excludeFleet refuses targets that cannot be measured on the plan's machines.
func excludeFleet(b *binder, t *bound, hosted, joins bool, p *Plan) {
	at := func(key string) *strictyaml.Node { return cmp.Or(t.fields.Value(key), t.node) }
	several := len(p.Fleet.Cells) > 1
	if !p.Fleet.Any() {
		return
	}
	b.refuse(
		exclusion{at("dsn"), several && t.attached(),
			t.Name + ": trials on several machines would disturb each other on " +
				"one server", "remove spread, or the dsn"},
		exclusion{at("dsn_file"), t.fields.Of.Get("dsn_file") != nil, t.Name + ": the machines do not have this file",
			"write dsn: ${NAME}, from the environment here"},
		exclusion{at("data"), several && t.Data != "", t.Name + ": data that exist are on one machine",
			"remove spread, or data"},
	)
	if !p.Fleet.Divided() {
		return
	}
	for i := range p.Fleet.Cells {
		if n := b.cells[i]; n != nil && b.refuse(cellExclusions(n, t, i, p)...) {
			b.cells[i] = nil // each cell is reported once
		}
	}
	if b.refuse(
		exclusion{t.node, hosted && !joins, t.Name + ": rumbench does not share a database of " + t.Engine +
			" between machines", "remove clients_on"},
		exclusion{t.node, !hosted,
			t.Name + ": its engine runs in the process of its clients: they cannot be on other " +
				"machines", "remove clients_on"},
	) {
		return
	}
	b.refuse(exclusion{at("client_cpus"), t.fields.Value("client_cpus") != nil, t.Name + ": its clients are on other " +
		"machines", "remove client_cpus"})
	if s := undivided(t, p); s != nil {
		b.At(t.node, fmt.Sprintf("the clients of step %s of workload %s share what only one process can know: "+
			"they cannot be on several machines", s.Name, p.Workload),
			"name one machine in clients_on, or choose another workload")
	}
}

// undivided returns a step whose clients would be on several machines, and cannot be; nil if there is none.
func undivided(t *bound, p *Plan) *workload.Step {
	if p.Run == nil || !slices.ContainsFunc(p.Fleet.Cells, func(c Cell) bool { return len(c.Clients) > 1 }) {
		return nil
	}
	steps := p.For(&t.Target).Run.Steps()
	i := slices.IndexFunc(steps, func(s workload.Step) bool { return len(s.Groups) > 0 && !s.Divides })
	if i < 0 {
		return nil
	}
	return &steps[i]
}

// cellExclusions are the targets whose servers a cell does not reach.
func cellExclusions(n *strictyaml.Node, t *bound, index int, p *Plan) []exclusion {
	c, dsns := &p.Fleet.Cells[index], len(t.Config.Server.DSNs())
	cluster, started := len(c.Observed) > 0, dsns == 0
	if len(c.Clients) == 0 {
		return nil
	}
	return []exclusion{
		{n, started && cluster, t.Name + ": rumbench starts no cluster",
			"name one machine, or attach to the servers: dsn: [DSN, …]"},
		{n, cluster && p.Profile.Mode.Slows(), "servers on several machines are not profiled", "remove profile"},
		{n, started && p.Fleet.Host(c.Server).Listen == "",
			"nothing says where clients on other machines reach a server on " + c.Server,
			"add listen to that machine: its address on the network of the clients, as in listen: 10.0.0.5"},
		{n, cluster && dsns != len(c.servers()), fmt.Sprintf("%s: there are %s of servers, and its dsn has %d", t.Name,
			quantity.Count(len(c.servers()), "machine"), dsns), "name one for each, in the same order"},
	}
}

// excludeStart refuses a target whose data cannot be copied.
func excludeStart(b *binder, t *bound, info engine.Info, p *Plan) {
	if !p.Start.Any() {
		return
	}
	at, loaded := cmp.Or(t.fields.Of.Get("data"), t.fields.Of.Get("dsn"), t.node), p.Start.Loaded()
	creates := p.Run != nil && slices.ContainsFunc(p.For(&t.Target).Steps(),
		func(s workload.Step) bool { return s.Creates })
	b.refuse(
		exclusion{at, t.attached(), t.Name + ": rumbench does not copy the data of a server that it has not started",
			"remove start, or dsn"},
		exclusion{at, info.SpaceFactor == 0, t.Name + ": " + t.Engine + " stores nothing that could be copied",
			"remove start, or the target"},
		exclusion{at, loaded && t.Data != "", t.Name + " has data of its own, which are not loaded",
			"set start: {copy: data}, or remove data"},
		exclusion{at, !loaded && t.Data == "" && t.fields.Of.Get("data") == nil,
			t.Name + " has no data that could be copied",
			"name them, as data: DIR, or set copy to the step that loads them"},
		exclusion{at, !loaded && creates, t.Name + " has data, and a step of the workload would create them",
			"leave that step out, if the workload has a parameter for it, or set copy to the step that loads"},
		exclusion{at, info.Forgets != "", t.Name + ": start: " + info.Forgets, "remove start, or the target"},
	)
}

// excludeRestart refuses targets that cannot restart, or would lose their rows.
func excludeRestart(b *binder, t *bound, info engine.Info, p *Plan) {
	restarts := func(s workload.Step) bool { return s.Restart != nil }
	if p.Run == nil || !slices.ContainsFunc(p.For(&t.Target).Steps(), restarts) {
		return
	}
	n, text, help := cmp.Or(b.restart, t.node), t.Name+": restart: ", "remove restart, or this target"
	b.refuse(
		exclusion{n, t.attached(), text + "a server that is attached to is never stopped",
			"remove dsn, so that a private server is started"},
		exclusion{n, info.SpaceFactor == 0, text + "it stores nothing on disk, and all rows would be lost", help},
		exclusion{n, info.Forgets != "", text + info.Forgets, help},
	)
}

// excludeImage refuses what is about an image, or no image. It returns whether the engine can be asked.
func excludeImage(b *binder, t *bound) bool {
	pull, image, name := t.fields.Value("pull"), t.fields.Value("image"), t.Config.Server.Image
	b.refuse(exclusion{pull, pull != nil && name == "", t.Name + ": pull is about an image, and there is none",
		"remove pull, or name an image"})
	return !b.refuse(exclusion{image, image != nil && transport.MatchString(name),
		fmt.Sprintf("%s: image is a name in a registry or on this machine, not a place: %.60q", t.Name, name),
		"load it with podman load or podman pull, and give its name, as in mysql:8.4"})
}

// excludeWorkload refuses a workload that the target's engine cannot run.
func excludeWorkload(b *binder, t *bound, info engine.Info, p *Plan) {
	if s, ok := p.Run.(workload.Speaker); ok {
		names := s.Speaks()
		b.refuse(exclusion{t.node, names != nil && !slices.Contains(names, t.Engine),
			fmt.Sprintf("workload %s has no SQL for %s", p.Workload, t.Engine),
			"it has SQL for " + strings.Join(names, ", ")})
	}
	if p.Run == nil {
		return
	}
	needs := p.For(&t.Target).Run.Needs()
	if err := model.Missing(info.Capabilities, needs); err != nil {
		help := b.able(needs)
		if set := cmp.Or(enabling(info, needs), sparing(b.chosen, info, p.For(&t.Target).Params)); set != "" {
			help = "set " + set + "; " + help
		}
		b.At(t.node, fmt.Sprintf("%s cannot run workload %s: %v", t.Engine, p.Workload, err), help)
	}
}

// enabling returns a hint at the settings that give an engine the capabilities it
// lacks, "" if not all can be given.
func enabling(info engine.Info, needs []model.Capability) string {
	var settings []string
	for _, n := range needs {
		if slices.Contains(info.Capabilities, n) {
			continue
		}
		if info.Enabling[n] == "" {
			return ""
		}
		settings = append(settings, info.Enabling[n])
	}
	return strings.Join(settings, " and ")
}

// sparing returns a hint at a parameter and the value with which the workload does not
// need the capabilities that an engine lacks; "" if there is none.
func sparing(w workload.Workload, info engine.Info, params workload.Params) string {
	name, value := workload.Sparing(w, info.Capabilities, params)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("params: {%s: %v}", name, value)
}

// transport matches the places from which podman would read an image, any directory among them, and what is no name.
var transport = regexp.MustCompile(`^(dir|oci(-archive)?|docker(-archive|-daemon)?|containers-storage|ostree|sif|tarball):|\s`)

// able returns a hint at the engines that have the capabilities.
func (b *binder) able(needs []model.Capability) string {
	var names []string
	for _, name := range b.cat.EngineNames() {
		e, _ := b.cat.Engine(name)
		info := e.Info()
		can := func(storage string) bool {
			return model.Missing(engine.InfoOf(e, engine.Config{Storage: storage}).Capabilities, needs) == nil
		}
		options := slices.DeleteFunc(slices.Clone(info.Storages), func(s string) bool { return !can(s) })
		switch {
		case len(info.Storages) == 0 && can(""), len(options) > 0 && len(options) == len(info.Storages):
			names = append(names, name)
		case len(options) > 0:
			names = append(names, name+" with storage "+strings.Join(options, " or "))
		default:
			if set := enabling(info, needs); set != "" {
				names = append(names, name+" with "+set)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "engines that can: " + strings.Join(names, ", ")
}
