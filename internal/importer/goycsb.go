package importer

import (
	"strings"
	"time"
)

// portLine takes a line of go-ycsb about one kind of operations: NAME: VALUE, separated by commas.
func (y *ycsb) portLine(m []string) {
	y.port, y.tool = true, "go-ycsb"
	if y.last && y.input.file.cut {
		return
	}
	if strings.HasPrefix(m[1], "BATCH_") {
		y.refuse("run it without batch.size", "%s counts batches, and how many rows they had is not in the log", m[1])
		return
	}
	if before := y.kinds[m[1]]; before != nil && !y.ended {
		y.block() // the next one begins
	} else if before != nil && y.ended {
		y.refuse("split the file: one run each", "%s has final figures twice: a second run ends here", m[1])
		return
	}
	y.totals = y.totals || m[1] == "TOTAL"
	o := new(ycsbOp)
	text, rest, _ := strings.Cut(m[2], ", ")
	seconds, ok := figureOf(text)
	var rate figure
	for part := range strings.SplitSeq(rest, ", ") {
		name, text, _ := strings.Cut(part, ": ")
		v, fine := figureOf(text)
		if ok = ok && fine; name == "OPS" {
			rate = v
		}
		y.noteFigure(o, m[1], name, v.value)
	}
	if !ok {
		y.refuse("run go-ycsb with LC_ALL=C and its plain output", "%q: NAME: NUMBER, … was expected", clip(m[0]))
		return
	}
	o.seconds = seconds.value
	if counted := (figure{value: float64(o.count)}); rate.value > 0 && seconds.value > 0 {
		if product := rate.times(seconds); !product.agrees(counted) {
			y.contradict(m[1]+": OPS × seconds", product, "its count", counted)
		}
		if rate.value >= 10 { // it has more digits than the seconds
			o.seconds = float64(o.count) / rate.value
		}
	}
	y.kinds[m[1]] = o
}

// block notes what go-ycsb has counted since its beginning.
func (y *ycsb) block() {
	_, _, all, _ := y.done()
	if len(y.status) == 0 {
		y.status = []ycsbStatus{{when: time.Unix(0, 0), whole: true}}
	}
	y.addCount(ycsbStatus{time.Unix(0, 0).Add(time.Duration(y.longest() * float64(time.Second))), float64(all), y.total()})
}

// longest returns how long go-ycsb has measured: since the first operation of all.
func (y *ycsb) longest() (seconds float64) {
	if all := y.kinds["TOTAL"]; all != nil {
		return all.seconds
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
	all := y.kinds["TOTAL"]
	return all != nil && (figure{value: sum}).agrees(figure{value: float64(all.count)})
}

// startTime is how long go-ycsb may take for other things than operations, in seconds.
const startTime = 2

// checkFinal reports whether the final figures are there: all kinds of the block before them, not
// fewer of each, their sum, and the time that the run took.
func (y *ycsb) checkFinal() bool {
	late := y.took-y.longest() > startTime+0.05*y.took && !y.warmed
	if took := (figure{value: y.took}); y.took > 0 && y.longest() > startTime+1.05*y.took {
		y.contradict("seconds of the figures", figure{value: y.longest()}, "seconds of the run", took)
	}
	if late || y.totals && !y.total() {
		return false
	}
	for name, before := range y.progress {
		if now := y.kinds[name]; now == nil || now.count < before.count {
			return false
		}
	}
	return true
}
