package result

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// A line of which few values are wanted has those that the decoder finds, and all
// that is not a value.
func TestSparse(t *testing.T) {
	names := rapid.SampledFrom([]string{"engine.a", "engine.ab", "engine.a.b", "x", `engine.a{dev="vda"}`, `engine.a{table="t,\"}{:1"}`, `engine.ab{l="engine.a"}`, `engine.ab{l="x{"}`, `engine.a{l="\":1,"}`, `engine.ab{l=",\"x\":1"}`, "late", "v"})
	rapid.Check(t, func(r *rapid.T) {
		l := Line{Step: "q", Source: "engine", T: 12.5, DT: 1, Late: rapid.SampledFrom([]float64{0, 0.001}).Draw(r, "late"),
			V: rapid.MapOf(names, rapid.Float64()).Draw(r, "values")}
		text := expect.Value(json.Marshal(l))(r)
		var got Line
		expect.NoError(r, got.decode(append(text, '\n'), []string{"engine.a", "x"}))
		for k := range l.V {
			if name, _, _ := strings.Cut(k, "{"); name != "engine.a" && name != "x" {
				delete(l.V, k)
				delete(got.V, k) // more than is wanted does no harm
			}
		}
		if len(l.V) == 0 && len(got.V) == 0 {
			l.V, got.V = nil, nil
		}
		if d := cmp.Diff(l, got); d != "" {
			r.Fatalf("%s (-want +got)\n%s", text, d)
		}
	})
}

func TestWants(t *testing.T) {
	w := wantsOf([]string{"ops", "engine:a", "engine:b", "device:x", "device"})
	for line, want := range map[string]struct {
		names []string
		ok    bool
	}{
		`{"step":"q","src":"ops","t":1}`:    {nil, true},
		`{"step":"q","src":"engine","t":1}`: {[]string{"a", "b"}, true},
		`{"step":"q","src":"device","t":1}`: {nil, true},
		`{"step":"q","src":"op","t":1}`:     {nil, false},
		`{"step":"q","src":"client","t":1}`: {nil, false},
		`{"step":"q"}`:                      {nil, true},
	} {
		names, ok := w.subject([]byte(line))
		expect.True(t, ok == want.ok && cmp.Diff(want.names, names) == "", line, names, ok)
	}
	if _, ok := wantsOf(nil).subject([]byte(`{"src":"x"}`)); !ok {
		t.Error("nil wants all")
	}
}
