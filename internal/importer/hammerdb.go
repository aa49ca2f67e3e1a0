package importer

import (
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
}

var (
	hammerResult = regexp.MustCompile(`TEST RESULT : System achieved (\d+) (?:NOPM from (\d+) (.+) TPM|(.+) TPM at (\d+) NOPM)`)
	hammerUsers  = regexp.MustCompile(`(?:^|[:"\s])(\d+) Active Virtual Users configured`)
	hammerTime   = regexp.MustCompile(`Timing test period of (\d+) in minutes`)
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
			"there is no line “TEST RESULT : System achieved … NOPM …”: nothing is known of the run")
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
	switch {
	case strings.HasSuffix(line, ":FINISHED FAILED") && !h.begun && len(h.runs) > 0:
		h.runs[len(h.runs)-1].cut("a virtual user failed at %s:%d", h.path, h.at)
	case strings.HasSuffix(line, ":FINISHED FAILED"):
		h.failed++
	case strings.Contains(line, "TEST RESULT") && hammerResult.MatchString(line):
		h.result(hammerResult.FindStringSubmatch(line))
	case strings.Contains(line, "TEST RESULT") && !h.last:
		h.refuse("", "%q: System achieved N NOPM from N NAME TPM was expected", clip(line))
	}
}

// begin forgets a test that has ended without a result.
func (h *hammerDB) begin() { h.users, h.minutes, h.failed, h.begun = 0, 0, 0, true }

// The operations of a test. What a server counts as a transaction differs from server to server.
const (
	opNewOrder = "new_order"
	opServers  = "server_transaction"
)

func (h *hammerDB) result(m []string) {
	nopm, tpm, name := m[1], m[2], m[3]
	if name == "" { // up to release 3
		tpm, name, nopm = m[1], m[4], m[5]
	}
	r := newRun(h.file, fmtHammerDB)
	r.base, r.trial = repetition(stem(h.path))
	r.byFile, r.tool, r.engine = r.base, h.tool, hammerEngines[name]
	orders, _ := number(nopm)
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
	h.runs = append(h.runs, r)
	h.users, h.minutes, h.failed, h.begun = 0, 0, 0, false
}

// hammerEngines are engines by the names that results have.
var hammerEngines = map[string]string{"PostgreSQL": "postgres", "MySQL": "mysql", "MariaDB": "mysql"}
