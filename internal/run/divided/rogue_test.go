package divided

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
	"rumbench/model"
)

// A machine that reports what cannot be true is lost, and named; its figures are nowhere.
func TestRogue(t *testing.T) {
	group := func(m *Message) *hist.Group { return &m.Outcome.Result.Groups[0] }
	for name, c := range map[string]struct {
		kind  Kind
		forge func(m *Message)
	}{
		"an operation without description": {Opened, func(m *Message) { m.Prepared = &Prepared{Ops: []*model.Op{nil}} }},
		"statements of too many groups":    {Opened, func(m *Message) { m.Prepared = &Prepared{Statements: make([]int64, 9)} }},
		"no interval":                      {Tick, func(m *Message) { m.Interval = nil }},
		"an interval that lasts forever":   {Tick, func(m *Message) { m.Interval.To = 1 << 60 }},
		"an interval of before":            {Tick, func(m *Message) { m.Interval.From, m.Interval.To = -5, -1 }},
		"an interval without groups":       {Tick, func(m *Message) { m.Interval.Groups = nil }},
		"an interval without times":        {Tick, func(m *Message) { m.Interval.Groups[0].Kinds[0].Service = nil }},
		"an interval with parts":           {Tick, func(m *Message) { m.Interval.Groups[0].Parts = make([]*hist.Dist, 3) }},
		"clients of others":                {Tick, func(m *Message) { m.Interval.Groups[0].Clients = make([]int64, 500) }},
		"busy processors":                  {Tick, func(m *Message) { m.Interval.Machines[0].Busy = 9e300 }},
		"no result":                        {Done, func(m *Message) { m.Outcome = nil }},
		"a long window":                    {Done, func(m *Message) { m.Outcome.Result.Window = 1 << 60 }},
		"a negative window":                {Done, func(m *Message) { m.Outcome.Result.Window = -5 }},
		"negative rows":                    {Done, func(m *Message) { group(m).Kinds[0].Rows = -281608 }},
		"too many rows":                    {Done, func(m *Message) { group(m).Kinds[0].Rows = 1e17 }},
		"operations without times":         {Done, func(m *Message) { group(m).Kinds[0].Ops += 1e6 }},
		"clients that did more":            {Done, func(m *Message) { group(m).Done[0] += 7 }},
		"200,000 rates":                    {Done, func(m *Message) { group(m).Rates = make([]hist.Rate, 200_000) }},
		"rates of more operations":         {Done, func(m *Message) { group(m).Rates[0].Ops = 1e6 }},
		"rates without order":              {Done, func(m *Message) { group(m).Rates = append(group(m).Rates, group(m).Rates...) }},
		"a gap backwards":                  {Done, func(m *Message) { group(m).Gaps = []hist.Gap{{From: 0.2, To: 0.1}} }},
		"100,000 gaps":                     {Done, func(m *Message) { group(m).Gaps = slices.Repeat([]hist.Gap{{From: 0.1, To: 0.2}}, 100_000) }},
		"errors of an unknown operation":   {Done, func(m *Message) { group(m).Errors = hist.Errors{{Kind: 9, Count: 1}} }},
		"arrivals in a closed group":       {Done, func(m *Message) { group(m).Arrivals = &hist.Arrivals{Offered: 5} }},
		"responses in a closed group":      {Done, func(m *Message) { group(m).Kinds[0].Response = group(m).Kinds[0].Service }},
		"undone in a closed group":         {Done, func(m *Message) { group(m).Undone = hist.NewDist() }},
		"errors of an unknown class":       {Done, func(m *Message) { group(m).Errors = hist.Errors{{Class: "x y", Count: 1}} }},
		"too many bytes":                   {Done, func(m *Message) { group(m).Kinds[0].Bytes = 1 << 60 }},
		"operations that took too long": {Done, func(m *Message) {
			group(m).Kinds[0].Service = hist.NewDist()
			for range group(m).Kinds[0].Ops {
				group(m).Kinds[0].Service.Record(int64(50 * time.Minute))
			}
		}},
		"two reports":           {Done, func(m *Message) { m.Outcome.Reports = append(m.Outcome.Reports, Report{}) }},
		"counts of more things": {Done, func(m *Message) { m.Outcome.Counts = append(m.Outcome.Counts, 5) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 2, sleeping(4, 0, 1), func(t *testing.T, f *fleet) {
				f.forge = func(m *Message) {
					if m.Kind == c.kind {
						c.forge(m)
					}
				}
				began := time.Now()
				_, err := f.load(t.Context(), func(*Interval) {})
				lost, is := errors.AsType[*LostError](err)
				expect.Must(t, is, err)
				if name == "counts of more things" { // either may be wrong
					expect.True(t, lost.Machine == "" && strings.Contains(lost.Text, "different things"), lost)
				} else {
					expect.True(t, lost.Machine == "c1" && strings.Contains(lost.Text, "what cannot be"), lost)
				}
				expect.True(t, time.Since(began) < 5*time.Second, time.Since(began))
			})
		})
	}
}

// What a machine says of a failure is a line, and no long one.
func TestLongFailure(t *testing.T) {
	bubble(t, 2, sleeping(4, 0, 1), func(t *testing.T, f *fleet) {
		f.forge = func(m *Message) {
			m.Kind, m.Failure = Failed, &Failure{Text: "\nmachine c2: all is well" + strings.Repeat("x", 1<<20)}
		}
		_, err := f.load(t.Context(), func(*Interval) {})
		expect.True(t, err != nil && len(err.Error()) < 3*longestText && !strings.Contains(err.Error(), "\n"), err)
	})
}

// What no rumbench sends fails the load, and not the program that conducts it.
func TestForged(t *testing.T) {
	for _, kind := range []Kind{Open, Arm} {
		synctest.Test(t, func(t *testing.T) {
			var said []Message
			line := NewLine(func(m Message) { said = append(said, m) })
			c := &Conductor{Head: Peer{Line: line}, Parts: []Peer{{Machine: "m1", Line: NewLine(func(Message) {})}}}
			done := make(chan struct{})
			go func() { c.Run(t.Context()); close(done) }()
			line.Hear(Message{Kind: kind})
			synctest.Wait()
			expect.True(t, len(said) > 0 && said[0].Kind == Failed, kind, said)
			line.HangUp()
			<-done
		})
	}
}
