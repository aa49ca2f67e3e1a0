package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// processes sorts logs by the process of pgbench that wrote them, as PREFIX.PID and,
// by its other threads, PREFIX.PID.1 and so on.
func processes(logs []*file) (out [][]*file) {
	names, members := groups(logs, func(f *file) string {
		name := stem(f.path)
		m := pgLogFile.FindStringSubmatch(name)
		if m == nil {
			return name
		}
		if thread, _ := strconv.Atoi(m[3]); thread > len(logs) {
			return name // PREFIX has a number, too
		}
		return m[1]
	})
	for _, name := range names {
		out = append(out, members[name])
	}
	return out
}

// ownLogs returns the logs of this run: those of the only process that logged, or of
// the one that logged as many transactions as the run has.
func (p *pgbench) ownLogs(logs []*file) []*file {
	all := processes(logs)
	matching := slices.DeleteFunc(slices.Clone(all), func(files []*file) bool {
		return len(all) > 1 && float64(logged(files)) != p.rows()
	})
	if len(matching) == 1 {
		return matching[0]
	}
	if len(all) > 1 {
		p.warn("the logs of %d processes, such as %s, are left out: %d of them hold as many transactions as this run has",
			len(all), logs[0].path, len(matching))
	}
	return nil
}

// logged counts the transactions in logs, those that were done.
func logged(logs []*file) (n int64) {
	for _, f := range logs {
		if f.logged == 0 {
			_ = f.read(func(_ int, line string, _ bool) bool { // an unreadable log belongs to no run
				f.logged += doneIn(strings.Fields(line))
				return true
			})
		}
		n += f.logged
	}
	return n
}

// doneIn returns the number of transactions that a line of a log counts as done.
func doneIn(w []string) (n int64) {
	if pgTransaction(w) {
		if _, ok := whole(w[2]); ok {
			n = 1
		}
	} else if pgSums(w) {
		n, _ = whole(w[1])
	}
	return n
}

// misfit returns the reason why a log cannot be that of this run, "" if it can.
func (p *pgbench) misfit(l *pgLog) string {
	done := p.rows()
	switch {
	case l == nil || len(l.seconds) == 0 || done == 0:
		return ""
	case float64(l.total()) > done, l.sampled(done) && l.complete():
		return fmt.Sprintf("it holds %d transactions, and pgbench counted %.0f", l.total(), done)
	case p.clients > 0 && len(l.clients) > p.clients:
		return fmt.Sprintf("it has %d clients, and the run has %d", len(l.clients), p.clients)
	case float64(l.span()) > p.step.Seconds*(1+slack)+float64(l.width())+1:
		return fmt.Sprintf("it covers %d s, and the run took %.0f", l.span(), p.step.Seconds)
	}
	// A mean that was computed from the run's time has also pauses between transactions.
	mean, known := p.value("latency average")
	measured := p.values["latency stddev"] != ""
	logged := exact(l.latency.mean() / 1e3)
	comparable := known && l.exact() && !l.sampled(done) && (measured || p.computed) && !p.allAttempts()
	if comparable && (logged.exceeds(mean) || measured && mean.exceeds(logged)) {
		return fmt.Sprintf("its mean latency is %v ms, and that of the run %v", logged, mean)
	}
	return ""
}
