package importer

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// hammerDB parses the log of HammerDB's TPROC-C tests.
type hammerDB struct {
	*input
	runs    []*run
	tool    string
	users   int     // of the current test
	minutes float64 // that it takes
	failed  int     // virtual users
	begun   bool    // a test, whose result is not there yet
	timing  bool    // the time of the test runs
	early   int     // virtual users that ended in it
	counter bool    // the counter of transactions has printed lines
	times   *strings.Builder
}

var (
	hammerResult = regexp.MustCompile(`TEST RESULT : System achieved (\d+) (?:NOPM from (\d+) (.+) TPM|(.+) TPM at (\d+) NOPM)`)
	hammerUsers  = regexp.MustCompile(`(?:^|[:"\s])(\d+) Active Virtual Users configured`)
	hammerTime   = regexp.MustCompile(`Timing test period of (\d+) in minutes`)
	hammerEnded  = regexp.MustCompile(`^Vuser (\d+):FINISHED SUCCESS`)
	hammerTpm    = regexp.MustCompile(`^\d+ .+ tpm$`)
	hammerTool   = regexp.MustCompile(`HammerDB(?: CLI)? v?(\d+\.\d+)`)
)

func isHammerDB(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "HammerDB ") || strings.HasPrefix(l, "Hammerdb Log @ ") ||
			hammerResult.MatchString(l) || strings.HasPrefix(l, "Vuser 1:") && !strings.Contains(l, "[")
	})
}

// parseHammerDB reads a log, which may hold tests with several numbers of virtual users.
func parseHammerDB(files []*file, _ *Options, ps *hint.Problems) []*run {
	h := &hammerDB{input: &input{file: files[0], ps: ps}, tool: "HammerDB"}
	if !h.each(h.line) {
		return nil
	}
	if len(h.runs) == 0 {
		h.refuse("run the test to its end, with a timed driver script",
			"there is no line “TEST RESULT : System achieved … NOPM …”, and others are not read")
		return nil
	}
	return h.runs
}

func (h *hammerDB) line(line string) {
	if m := hammerTool.FindStringSubmatch(line); m != nil {
		h.tool = "HammerDB " + m[1]
	}
	if strings.Contains(line, "Beginning rampup time") {
		h.begin()
	}
	if m := hammerTime.FindStringSubmatch(line); m != nil {
		if !h.begun { // without a ramp
			h.begin()
		}
		h.minutes, _ = number(m[1])
	}
	if m := hammerUsers.FindStringSubmatch(line); m != nil {
		h.users, _ = strconv.Atoi(m[1])
	}
	if m := hammerEnded.FindStringSubmatch(line); h.timing && m != nil && m[1] != "1" { // 1 is the monitor
		h.early++
	}
	h.counter = h.counter || hammerTpm.MatchString(line)
	h.timing = (h.timing || hammerTime.MatchString(line)) && !strings.Contains(line, "Test complete")
	if strings.HasPrefix(line, "Vuser ") { // of another test: the object has no end
		h.times = nil
	}
	switch {
	case line == "TRANSACTION RESPONSE TIMES":
		h.times = new(strings.Builder)
	case h.times != nil:
		h.responseTimes(line)
	case strings.HasSuffix(line, ":FINISHED FAILED") && !h.begun && len(h.runs) > 0:
		h.runs[len(h.runs)-1].cut("a virtual user failed at %s:%d", h.path, h.at)
	case strings.HasSuffix(line, ":FINISHED FAILED"):
		h.failed++
	case strings.Contains(line, "TEST RESULT") && hammerResult.MatchString(line):
		h.result(line, hammerResult.FindStringSubmatch(line))
	case strings.Contains(line, "TEST RESULT") && !h.last:
		h.refuse("", "%q: System achieved N NOPM from N NAME TPM was expected", clip(line))
	}
}

// begin forgets a test that has ended without a result.
func (h *hammerDB) begin() { h.users, h.minutes, h.failed, h.early, h.begun = 0, 0, 0, 0, true }

// responseTimes takes a line of the object that the command jobs ID timing prints.
func (h *hammerDB) responseTimes(line string) {
	if h.times.WriteString(line + "\n"); line != "}" {
		return
	}
	var all map[string]map[string]string
	err := json.Unmarshal([]byte(h.times.String()), &all)
	if h.times = nil; err != nil || len(h.runs) == 0 {
		return
	}
	r, t := h.runs[len(h.runs)-1], printedTimes{}
	for name := range all {
		if name != "NEWORD" {
			r.drop("HammerDB's times of " + name)
		}
	}
	for name, text := range all["NEWORD"] {
		v, ok := positive(text)
		kind, ms := strings.CutSuffix(name, "_ms")
		rank, isRank := strings.CutPrefix(kind, "p")
		switch percent, digits := number(rank); {
		case ok && name == "calls":
			t.count = int64(v)
		case ok && ms && isRank && digits:
			t.note("percentile", percent, 1e3*v)
		case ok && ms && kind == "avg":
			t.note("mean", 0, 1e3*v)
		case ok && ms && (kind == "min" || kind == "max"):
			t.note(kind, 0, 1e3*v)
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

// The operations of a test. What a server counts as a transaction differs from server to server.
const (
	opNewOrder = "new_order"
	opServers  = "server_transaction"
)

func (h *hammerDB) result(line string, m []string) {
	nopm, tpm, name := m[1], m[2], m[3]
	if name == "" { // up to release 3
		tpm, name, nopm = m[1], m[4], m[5]
	}
	orders, _ := number(nopm)
	if h.repeats(line, orders/60) {
		return
	}
	r := newFileRun(h.file, fmtHammerDB, h.tool)
	r.engine = hammerEngines[name]
	all, _ := number(tpm)
	if h.users > 0 {
		r.ask(h.at, "clients", strconv.Itoa(h.users))
	}
	r.about(opNewOrder, h.users)
	r.clients = h.users
	const mostPerMinute = 1e12 // that anybody will see
	switch r.step.Groups[0].Name = sbClients; {
	case orders == 0:
		h.refuse("", "no new order in the test: there is no rate")
		return
	case orders > mostPerMinute || all > mostPerMinute:
		h.refuse("", "%s orders and %s transactions a minute: no server does that", clip(nopm), clip(tpm))
		return
	}
	r.step.Groups[0].Ops = append(r.step.Groups[0].Ops, opServers)
	if r.step.Seconds = 60 * h.minutes; h.minutes > 0 {
		r.ask(h.at, "minutes", strconv.FormatFloat(h.minutes, 'g', -1, 64))
		r.put(metric.DurationS, r.step.Seconds)
	}
	at := account.Of(sbClients, opNewOrder)
	rate := orders / 60
	r.put(metric.OpsPerS, rate, at, account.Source("NOPM ÷ 60"))
	r.put(metric.RowsPerS, rate, at, account.Source("NOPM ÷ 60"))
	r.put(metric.OpsPerS, all/60, account.Of(sbClients, opServers), account.Source("TPM ÷ 60"),
		warned("as the server counts transactions: not comparable between kinds of servers"))
	r.costs = append(r.costs, account.Denominator{Per: opNewOrder, Units: rate})
	r.step.Doc = "HammerDB, TPROC-C"
	if h.failed > 0 {
		r.cut("%d virtual users failed before %s:%d", h.failed, h.path, h.at)
	}
	if h.early > 0 {
		r.cut("%d virtual users had ended before the test did, at %s:%d: the rate is that of fewer", h.early, h.path, h.at)
	}
	if h.counter {
		r.drop("HammerDB's transaction counter, N tpm")
	}
	h.runs = append(h.runs, r)
	h.users, h.minutes, h.failed, h.early, h.begun = 0, 0, 0, 0, false
}

// hammerEngines are engines by the names that results have.
var hammerEngines = map[string]string{"PostgreSQL": "postgres", "MySQL": "mysql", "MariaDB": "mysql"}
