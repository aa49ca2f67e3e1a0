package importer

import (
	"strings"
	"time"
)

// goYCSBState is what only the port prints.
type goYCSBState struct {
	port     bool               // the log is the port's
	ended    bool               // its run ended: what follows are the final figures
	totals   bool               // it prints a total
	took     float64            // seconds, as it says at its end; 0: unknown
	progress map[string]*ycsbOp // the last block before the end
}

const goYCSBLine = `^(?P<name>[A-Z_]+) *- (?P<figures>Takes\(s\): .*)$`

func (y *ycsb) portLine(m match) {
	if y.port, y.tool = true, "go-ycsb"; y.torn {
		return
	}
	name := m.text("name")
	switch previous := y.kinds[name]; {
	case strings.HasPrefix(name, "BATCH_"):
		y.refuse("run it without batch.size", "%s counts batches, and how many rows they had is not in the log", name)
	case previous != nil && y.ended:
		y.secondRun(true, "%s has final figures twice: a second run ends here", name)
	case previous != nil:
		y.block() // the next one begins
	}
	y.totals = y.totals || name == "TOTAL"
	o, valid := new(ycsbOp), strings.Contains(m.text("figures"), ", ")
	var rate, seconds figure
	for p, ok := range printedFigures(m.text("figures")) {
		valid = valid && ok
		switch p.name {
		case "Takes(s)":
			seconds = p.figure
		case "OPS":
			rate = p.figure
		default:
			y.noteFigure(o, name, p.name, p.figure.value)
		}
	}
	y.refuseIf(!valid, "run go-ycsb with LC_ALL=C and its plain output", "%q: NAME: NUMBER, … was expected",
		clip(m.line))
	if o.seconds = seconds.value; rate.value > 0 && seconds.value > 0 {
		y.requireSame(name+": OPS × seconds", rate.times(seconds), "its count", newFigure(float64(o.count)))
		if rate.value >= 10 { // it has more digits than the seconds
			o.seconds = float64(o.count) / rate.value
		}
	}
	y.kinds[name] = o
}

func (y *ycsb) endPort(m match) {
	y.secondRun(y.ended, "a second run of go-ycsb ends here")
	y.block()
	if took, err := time.ParseDuration(m.text("took")); err == nil {
		y.took = took.Seconds()
	}
	y.port, y.ended, y.progress, y.kinds = true, true, y.kinds, map[string]*ycsbOp{}
}

// block notes what go-ycsb has counted since its beginning.
func (y *ycsb) block() {
	_, _, operations, _ := y.done()
	if len(y.status) == 0 {
		y.status = []ycsbStatus{{when: time.Unix(0, 0), complete: true}}
	}
	y.addCount(ycsbStatus{time.Unix(0, 0).Add(time.Duration(y.longest() * float64(time.Second))), float64(operations),
		y.total()})
}

// longest returns how long go-ycsb has measured: since the first operation of all.
func (y *ycsb) longest() (seconds float64) {
	if total := y.kinds["TOTAL"]; total != nil {
		return total.seconds
	}
	for _, o := range y.kinds {
		seconds = max(seconds, o.seconds)
	}
	return seconds
}

// total reports whether go-ycsb's figures of each kind agree with those of all.
func (y *ycsb) total() bool {
	var sum float64
	for name, o := range y.kinds {
		if kind := ycsbKinds[name]; kind != "" && kind != "read_modify_write" {
			sum += float64(o.count)
		}
	}
	total := y.kinds["TOTAL"]
	return total != nil && newFigure(sum).agrees(newFigure(float64(total.count)))
}

// startTime is how long go-ycsb may take for other things than operations, in seconds.
const startTime = 2

// checkFinal reports whether the final figures are there: all kinds of the block before them, not
// fewer of each, their sum, and the time that the run took.
func (y *ycsb) checkFinal() bool {
	late := y.took-y.longest() > startTime+0.05*y.took && !y.warmed
	y.contradictIf(y.took > 0 && y.longest() > startTime+1.05*y.took, "seconds of the figures",
		newFigure(y.longest()), "seconds of the run", newFigure(y.took))
	for name, previous := range y.progress {
		now := y.kinds[name]
		late = late || now == nil || now.count < previous.count
	}
	return !late && (!y.totals || y.total())
}
