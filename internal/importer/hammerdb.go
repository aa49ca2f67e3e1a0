package importer

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// hammerDB reads the log of HammerDB's TPROC-C tests, which may be several, with other numbers of virtual users.
type hammerDB struct {
	*input
	hammerState
	runs    []*run
	tool    string
	timing  bool             // the time of the test runs
	counter bool             // the counter of transactions has printed lines
	times   *strings.Builder // the object that jobs ID timing prints; nil outside of it
}

// hammerState is a test whose result is not there yet.
type hammerState struct {
	begun         bool
	users         int
	minutes       float64
	failed, early int // virtual users that failed, or ended before the test did
}

var isHammerDB = anyLine(`^HammerDB |^Hammerdb Log @ |^Vuser 1:[^\[]*$|` +
	`TEST RESULT : System achieved \d+ (?:NOPM from \d+ .+ TPM|.+ TPM at \d+ NOPM)`)

var hammerLines = grammar[*hammerDB]{
	on(`HammerDB(?: CLI)? v?(?P<release>\d+\.\d+)`, func(h *hammerDB, m match) { h.tool = "HammerDB " + m.text("release") }),
	on(`Beginning rampup time`, func(h *hammerDB, _ match) { h.hammerState = hammerState{begun: true} }),
	on(`Timing test period of (?P<minutes>\d+) in minutes`, func(h *hammerDB, m match) {
		if !h.begun { // without a ramp
			h.hammerState = hammerState{begun: true}
		}
		h.minutes, h.timing = m.number("minutes"), true
	}),
	on(`Test complete`, func(h *hammerDB, _ match) { h.timing = false }),
	on(`(?:^|[:"\s])(?P<users>\d+) Active Virtual Users configured`, func(h *hammerDB, m match) { h.users = m.int("users") }),
	on(`^Vuser (?P<user>\d+):FINISHED SUCCESS`, func(h *hammerDB, m match) {
		if h.timing && m.text("user") != "1" { // 1 is the monitor
			h.early++
		}
	}),
	on(`^\d+ .+ tpm$`, func(h *hammerDB, _ match) { h.counter = true }),
	on(`:FINISHED FAILED$`, func(h *hammerDB, _ match) {
		if h.begun || len(h.runs) == 0 {
			h.failed++
		} else {
			h.runs[len(h.runs)-1].cut("a virtual user failed at %s:%d", h.path, h.lineNumber)
		}
	}),
	on(`TEST RESULT : System achieved (?P<nopm>\d+) NOPM from (?P<tpm>\d+) (?P<server>.+) TPM`, (*hammerDB).result),
	on(`TEST RESULT : System achieved (?P<tpm>\d+) (?P<server>.+) TPM at (?P<nopm>\d+) NOPM`,
		(*hammerDB).result), // up to release 3
	on(`TEST RESULT`, func(h *hammerDB, m match) {
		h.refuseIf(!h.last, "", "%q: System achieved N NOPM from N NAME TPM was expected", clip(m.line))
	}),
}

func parseHammerDB(files []*file, _ *Options, ps *hint.Problems) []*run {
	h := &hammerDB{input: &input{file: files[0], ps: ps}, tool: "HammerDB"}
	h.each(h.line)
	h.refuseIf(len(h.runs) == 0, "run the test to its end, with a timed driver script",
		"there is no line “TEST RESULT : System achieved … NOPM …”, and others are not read")
	return h.runs
}

func (h *hammerDB) line(line string) {
	if strings.HasPrefix(line, "Vuser ") { // of another test: the object has no end
		h.times = nil
	}
	switch {
	case line == "TRANSACTION RESPONSE TIMES":
		h.times = new(strings.Builder)
	case h.times != nil:
		if h.times.WriteString(line + "\n"); line == "}" {
			h.responseTimes(h.times.String())
			h.times = nil
		}
	default:
		hammerLines.read(h, line)
	}
}

// responseTimes takes the object that the command jobs ID timing prints.
func (h *hammerDB) responseTimes(object string) {
	var times map[string]map[string]string
	if json.Unmarshal([]byte(object), &times) != nil || len(h.runs) == 0 {
		return
	}
	r, t := h.runs[len(h.runs)-1], printedTimes{rampUp: true}
	for name := range times {
		r.dropIf(name != "NEWORD", "HammerDB's times of "+name)
	}
	for name, text := range times["NEWORD"] {
		if v, ok := positiveNumber(text); ok && name == "calls" {
			t.count = int64(v)
		} else if ok {
			t.note(name, v)
		}
	}
	addPrinted(r, "service", opNewOrder, &t, h.tool)
}

// repeats reports whether a result is what the command jobs ID result prints of a test that the log has already.
func (h *hammerDB) repeats(line string, rate float64) bool {
	quoted := strings.HasPrefix(strings.TrimSpace(line), `"TEST RESULT`) && !h.begun
	return quoted && slices.ContainsFunc(h.runs, func(r *run) bool {
		return r.step.Find(metric.RowsPerS, opNewOrder, "").Value == rate
	})
}

// opServers is what a server counts as a transaction, which differs from server to server.
const opServers = "server_transaction"

// hammerEngines are engines by the names that results have.
var hammerEngines = map[string]string{"PostgreSQL": "postgres", "MySQL": "mysql", "MariaDB": "mysql"}

func (h *hammerDB) result(m match) {
	const mostPerMinute = 1e12 // that anybody will see
	orders, transactions := m.number("nopm"), m.number("tpm")
	rate := orders / 60
	switch {
	case h.repeats(m.line, rate):
		return
	case orders == 0:
		h.refuse("", "no new order in the test: there is no rate")
	case orders > mostPerMinute || transactions > mostPerMinute:
		h.refuse("", "%s orders and %s transactions a minute: no server does that", clip(m.text("nopm")),
			clip(m.text("tpm")))
	}
	r := newFileRun(h.file, fmtHammerDB, h.tool)
	r.engine, r.clients, r.step.Doc = hammerEngines[m.text("server")], h.users, "HammerDB, TPROC-C"
	r.about(groupClients, h.users, opNewOrder, opServers)
	if h.users > 0 {
		r.ask(h.lineNumber, "clients", strconv.Itoa(h.users))
	}
	if h.minutes > 0 {
		r.ask(h.lineNumber, "minutes", strconv.FormatFloat(h.minutes, 'g', -1, 64))
		r.lasted(60 * h.minutes)
	}
	r.addRates(rate, account.Of(groupClients, opNewOrder), account.Source("NOPM ÷ 60"))
	r.put(metric.OpsPerS, transactions/60, account.Of(groupClients, opServers), account.Source("TPM ÷ 60"),
		warned("as the server counts transactions: not comparable between kinds of servers"))
	r.per(opNewOrder, rate, 0)
	r.cutIf(h.failed > 0, "%d virtual users failed before %s:%d", h.failed, h.path, h.lineNumber)
	r.cutIf(h.early > 0, "%d virtual users had ended before the test did, at %s:%d: the rate is that of fewer", h.early,
		h.path, h.lineNumber)
	r.dropIf(h.counter, "HammerDB's transaction counter, N tpm")
	h.runs, h.hammerState = append(h.runs, r), hammerState{}
}
