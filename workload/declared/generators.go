package declared

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

func buildConst(a *arguments) value {
	n := a.body
	switch x := n.Value.(type) {
	case int64:
		return intOf(x)
	case float64:
		return floatOf(x)
	}
	if n.Kind != strictyaml.Scalar || n.Text == "" {
		a.refuse(a.at, "const has one value", "as in {const: new}")
	}
	return textOf(n.Text)
}

func buildSequence(a *arguments) value {
	low, step := a.value("from", model.Int), a.value("step", model.Int)
	if a.wrong {
		return low
	}
	if a.scope.table == nil {
		a.refuse(a.at, "sequence numbers rows, so it belongs in a column", "")
		return low
	}
	first, each := low.num, step.num
	out := value{typ: model.Int, num: func(e *env) int64 { return first(e) + e.row*each(e) }}
	if low.fixed && step.fixed && each(nil) != 0 {
		out.rowOf = func(key int64) int64 { return (key - first(nil)) / each(nil) }
	}
	return out
}

func buildUniform(a *arguments) value {
	if a.isFraction("from") || a.isFraction("to") {
		return buildFractions(a)
	}
	begin, high := a.value("from", model.Int), a.value("to", model.Int)
	if begin.fixed && high.fixed && begin.num(nil) > high.num(nil) {
		a.refuse(a.at, fmt.Sprintf("uniform goes from %d to %d", begin.num(nil), high.num(nil)), "the first is the least")
	}
	out := value{typ: model.Int, late: begin.late || high.late, num: func(e *env) int64 {
		low := begin.num(e)
		return low + e.src.Uniform(max(high.num(e)-low+1, 1))
	}}
	if begin.fixed && high.fixed {
		out.mean = (begin.mean + high.mean) / 2
	}
	if known(begin) && known(high) { // if begin is greater, begin is the result
		out.limit = max(begin.limit, high.limit)
	}
	return out
}

// isFraction reports whether an argument is written as a number with a fraction, or is a
// parameter with such values.
func (a *arguments) isFraction(name string) bool {
	if a.nodes[name] == nil {
		return false
	}
	if p := a.c.info.Param(a.nodes[name].Text); p != nil && a.nodes[name].Kind == strictyaml.Scalar {
		return p.Type == workload.FloatParam
	}
	f, is := a.nodes[name].Value.(float64)
	return is && (f != math.Trunc(f) || strings.Contains(a.nodes[name].Text, ".")) // 1e6 is whole
}

func buildFractions(a *arguments) value {
	begin, high := a.value("from", model.Float), a.value("to", model.Float)
	if begin.fixed && high.fixed && begin.real(nil) > high.real(nil) {
		a.refuse(a.at, fmt.Sprintf("uniform goes from %v to %v", begin.real(nil), high.real(nil)), "the first is the least")
	}
	return value{typ: model.Float, late: begin.late || high.late, real: func(e *env) float64 {
		low := begin.real(e)
		return low + e.src.Unit()*(high.real(e)-low)
	}}
}

func buildAny(a *arguments) value {
	return a.over().rows(func(e *env, now int64) int64 { return e.src.Uniform(now) })
}

func buildZipf(a *arguments) value {
	n, theta := a.over(), a.float("theta", 0, 100)
	if a.wrong {
		return value{}
	}
	order := gen.NewPermutation(n.highest(), a.stream())
	var z *gen.Zipf
	var whole int64
	return n.rows(func(e *env, now int64) int64 {
		if z == nil || now < whole || now > whole+whole/100 { // new rows become hot by hundredths
			z, _ = gen.NewZipf(now, theta) // theta is valid
			whole = now
		}
		return order.Within(z.Draw(&e.src), now)
	})
}

func buildScrambled(a *arguments) value {
	n, expected, theta := a.over(), a.int("new", 0, manyRows), a.float("theta", 0.01, 0.999)
	if a.wrong {
		return value{}
	}
	modulus := n.highest()
	if n.table != nil { // as YCSB's CoreWorkload and ScrambledZipfianGenerator compute it
		modulus += 2*expected + 1
	}
	z := gen.NewYCSBScrambled(modulus, theta)
	return n.rows(func(e *env, _ int64) int64 { return z.Draw(&e.src) })
}

func buildLatest(a *arguments) value {
	n, theta := a.over(), a.float("theta", 0.01, 0.999)
	if a.wrong {
		return value{}
	}
	n.table.ask()
	whole := max(n.now()-1, 1) // when the run begins, as in YCSB
	z := gen.NewYCSBZipf(whole, theta)
	return n.rows(func(e *env, now int64) int64 {
		if last := max(now-1, 1); last != whole {
			z.Grow(last)
			whole = last
		}
		return now - 1 - z.Draw(&e.src)
	})
}

func buildHotspot(a *arguments) value {
	n, share, draws := a.over(), a.float("numbers", 0, 1), a.float("draws", 0, 1)
	var hot bool
	return n.retried(func(e *env, now int64, tries int) int64 {
		d := gen.NewHotspot(now, share, draws)
		if tries%mostInRange == 0 {
			hot = d.Hot(&e.src)
		}
		return d.Within(hot, &e.src)
	})
}

func buildNewest(a *arguments) value {
	n, share, whole := a.over(), a.float("share", 1e-9, 1-1e-9), a.float("of", 1e-9, 1)
	if a.wrong {
		return value{}
	}
	n.table.ask()
	d := gen.NewExponential(share, float64(n.highest())*whole)
	return n.rows(func(e *env, now int64) int64 { return now - 1 - d.Draw(&e.src) })
}

func buildHotRanges(a *arguments) value {
	n, ranges, power := a.over(), a.int("ranges", 1, mostRanges), a.float("power", 0, 10)
	exp := [4]float64{a.float("a", -1e9, 1e9), a.float("b", -1e3, 1e3), a.float("c", -1e9, 1e9), a.float("d", -1e3, 1e3)}
	if a.wrong {
		return value{}
	}
	h, err := gen.NewHotRanges(n.highest(), ranges, exp, power, a.stream())
	if err != nil {
		a.refuse(a.at, err.Error(), "they are a*e^(b*x) + c*e^(d*x), of x from 1 on")
		return value{}
	}
	var place int64
	return n.retried(func(e *env, _ int64, tries int) int64 {
		if tries%mostInRange == 0 {
			place = h.Range(&e.src)
		}
		return h.Within(place, &e.src)
	})
}

// mostInRange limits the draws from a range, or from hot rows, whose rows are gone. Until
// then they keep their share, however many are gone.
const mostInRange = 40

func buildGaussian(a *arguments) value {
	return a.over().rows(func(e *env, now int64) int64 {
		b, _ := gen.NewBates(now, bellDraws, false)
		return b.Draw(&e.src)
	})
}

// bellDraws is sysbench's usual number of draws.
const bellDraws = 12

func buildPareto(a *arguments) value {
	n, share := a.over(), a.float("share", 1e-9, 0.5-1e-9)
	return n.rows(func(e *env, now int64) int64 {
		p, _ := gen.NewPareto(now, share)
		return p.Draw(&e.src)
	})
}

func buildNormal(a *arguments) value {
	mean, deviation := a.value("mean", model.Float), a.value("deviation", model.Float)
	return value{typ: model.Float, late: mean.late || deviation.late, real: func(e *env) float64 {
		return mean.real(e) + deviation.real(e)*e.src.Normal()
	}}
}

func buildSizes(a *arguments) value {
	d := gen.ParetoSizes{
		Theta: a.float("theta", 0, 1e9), K: a.float("k", 1e-6, 100), Sigma: a.float("sigma", 1e-9, 1e9),
		Min: a.int("min", 0, mostBytes), Max: a.int("max", 1, mostBytes),
	}
	if d.Min > d.Max && !a.wrong {
		a.refuse(a.at, fmt.Sprintf("sizes go from %d to %d", d.Min, d.Max), "min is the least")
	}
	if a.wrong {
		return value{}
	}
	v := drawn(d)
	v.mean, v.limit = d.Mean(), d.Max
	return v
}

// weighted are values with weights.
type weighted struct {
	values  []value
	weights []float64
}

func buildChoice(a *arguments) value {
	if a.body.Kind != strictyaml.Mapping || len(a.body.Entries) == 0 {
		a.refuse(a.at, "choice is a map of values to weights", "as in {choice: {new: 70, paid: 30}}")
		return value{}
	}
	var w weighted
	t := model.Int
	for _, entry := range a.body.Entries {
		share, ok := a.c.number(entry.Value, "the weight of "+entry.Key.Text, 0)
		a.wrong = a.wrong || !ok
		w.weights = append(w.weights, share)
		v := textOf(entry.Key.Text)
		if n, isInt := entry.Key.Value.(int64); isInt && t == model.Int {
			v = intOf(n)
		} else if t == model.Int && len(w.values) > 0 || !isInt {
			t = model.String
		}
		w.values = append(w.values, v)
	}
	if total(w.weights) <= 0 {
		a.refuse(a.at, "no weight is positive", "")
	}
	if a.wrong {
		return value{}
	}
	alias := gen.NewAlias(w.weights)
	out := value{typ: t}
	if t == model.Int {
		var list []int64
		for i := range w.values {
			list = append(list, w.values[i].num(nil))
			out.mean += float64(list[i]) * w.weights[i] / total(w.weights)
		}
		out.limit = slices.Max(list)
		out.num = func(e *env) int64 { return list[alias.Draw(&e.src)] }
		return out
	}
	var list [][]byte
	for i, entry := range a.body.Entries {
		list = append(list, []byte(entry.Key.Text))
		out.escapes = out.escapes || w.values[i].escapes
		out.limit = max(out.limit, int64(len(list[i])))
		out.mean += float64(len(list[i])) * w.weights[i] / total(w.weights)
	}
	out.text = func(e *env) []byte { return list[alias.Draw(&e.src)] }
	return out
}

func total(weights []float64) (sum float64) {
	for _, w := range weights {
		sum += w
	}
	return sum
}

func buildSelect(a *arguments) value {
	by := a.body.Get("by")
	if a.body.Kind != strictyaml.Mapping || by == nil {
		a.refuse(a.at, "select has no by: the parameter that selects",
			"as in {select: {by: distribution, zipf: {zipf: {}}, any: {any: {}}}}")
		return value{}
	}
	a.c.use("params", by.Text)
	p := a.c.info.Param(by.Text)
	if a.c.wrong[by.Text] {
		a.wrong = true
		return value{}
	}
	if p == nil || len(p.Enum) == 0 {
		a.refuse(by, fmt.Sprintf("%q is not a string parameter with a list of values", by.Text),
			"declare it with of: [NAME, …]")
		return value{}
	}
	var chosen value
	for _, name := range p.Enum {
		n := a.body.Get(name)
		if n == nil {
			a.refuse(a.at, fmt.Sprintf("select has nothing for %s: %s", p.Name, name), "")
			continue
		}
		v, ok := a.c.value(n, a.scope) // all of them are checked
		a.wrong = a.wrong || !ok
		if name == a.c.params[p.Name] {
			chosen = v
		}
	}
	for _, entry := range a.body.Entries {
		if name := entry.Key.Text; name != "by" {
			if _, err := p.Parse(name); err != nil {
				a.refuse(entry.Key, fmt.Sprintf("%q is not a value of %s", name, p.Name), hint.OneOf(name, p.Enum))
			}
		}
	}
	return chosen
}

func buildDecimal(a *arguments) value {
	subject, prefix := a.value("of", model.Int), a.value("prefix", model.String)
	digits, length := a.int("digits", 1, int64(len(zeros))), a.int("length", 0, int64(len(zeros)))
	const limit = 20 // of the digits of an int64, with its sign
	width := float64(max(digits, int64(a.digits())))
	longest := max(prefix.limit+max(digits, limit), length)
	if !known(prefix) {
		longest = 0
	}
	return value{
		typ: model.String, late: subject.late || prefix.late, escapes: prefix.escapes || prefix.json,
		mean: max(prefix.mean+width, float64(length)), limit: longest,
		text: func(e *env) []byte {
			start := len(e.text)
			prefix.append(e)
			position := len(e.text)
			e.text = strconv.AppendInt(e.text, subject.num(e), 10)
			if missing := int(digits) - (len(e.text) - position); missing > 0 {
				e.text = append(e.text, zeros[:missing]...)
				copy(e.text[position+missing:], e.text[position:len(e.text)-missing])
				copy(e.text[position:], zeros[:missing])
			}
			if missing := int(length) - (len(e.text) - start); missing > 0 {
				e.text = append(e.text, zeros[:missing]...)
			}
			return e.text[start:len(e.text):len(e.text)]
		},
	}
}

// digits estimates how many digits the number has: 19 of a hash, else those of a row.
func (a *arguments) digits() int {
	if n := a.node("of"); n.Get("fnv") != nil {
		return 19
	}
	if a.scope.table != nil {
		return len(strconv.FormatInt(max(a.scope.table.def.loaded, 1), 10))
	}
	return 1
}

// buildUUID makes UUIDs of RFC 9562.
func buildUUID(a *arguments) value {
	version, number := a.int("version", 4, 7), a.value("of", model.Int)
	if version != 4 && version != 7 {
		a.refuse(a.node("version"), fmt.Sprintf("version of uuid is %d, and must be 4 or 7", version), "")
	}
	if a.wrong {
		return value{}
	}
	return value{typ: model.UUID, late: version == 7 && number.late, mean: 16, limit: 16, text: func(e *env) []byte {
		start := len(e.text)
		e.text = binary.BigEndian.AppendUint64(e.text, e.src.Uint64())
		e.text = binary.BigEndian.AppendUint64(e.text, e.src.Uint64())
		u := e.text[start:len(e.text):len(e.text)]
		if version == 7 {
			binary.BigEndian.PutUint64(u, uint64(epoch/1000+number.num(e))<<16|uint64(u[6])<<8|uint64(u[7]))
		}
		u[6], u[8] = byte(version)<<4|u[6]&0xf, 0x80|u[8]&0x3f
		return u
	}}
}

func buildFNV(a *arguments) value {
	subject := a.value("of", model.Int)
	return subject.derived(func(e *env) int64 { return gen.FNV(subject.num(e)) })
}

func buildPermute(a *arguments) value {
	subject, n := a.value("of", model.Int), a.int("over", 1, manyRows)
	if a.wrong {
		return value{}
	}
	order := gen.NewPermutation(n, a.stream())
	return subject.derived(func(e *env) int64 {
		i := subject.num(e)
		at := (i%n + n) % n
		return i - at + order.At(at) // further numbers in further rounds
	})
}

// epoch is 2026-01-01 in microseconds.
const epoch = 1767225600e6

func buildClock(a *arguments) value {
	step, subject := a.float("step", 0, math.MaxInt32), a.value("of", model.Int)
	each := int64(step * 1e6)
	return value{typ: model.Time, late: subject.late, num: func(e *env) int64 { return epoch + subject.num(e)*each }}
}
