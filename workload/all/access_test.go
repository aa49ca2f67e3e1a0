package all_test

import (
	"testing"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/workload"
)

// What workloads declare of their steps is what was made of their names before
// they declared it: imported logs are in the same groups.
func TestAccessAsByName(t *testing.T) {
	seen := map[workload.Access]int{}
	for _, name := range []string{"ibench", "sysbench"} { // those of results without Access
		w, _ := catalog.Plugins{}.Workload(name)
		info := w.Info()
		for _, preset := range info.Presets {
			params, err := info.Resolve(preset.Name, nil)
			expect.NoError(t, err)
			run, err := w.New(params)
			expect.NoError(t, err)
			for _, s := range run.Steps() {
				old := result.Step{Name: s.Name, Primary: s.Primary, Warmup: s.Warmup}
				for _, g := range s.Groups {
					is := result.Group{Name: g.Name, Of: map[string]string{}}
					for _, k := range g.Ops {
						is.Ops = append(is.Ops, k.Name)
						if !k.Upkeep {
							is.Of[k.Name] = k.Whole()
						}
					}
					old.Groups = append(old.Groups, is)
				}
				test := (&result.Trial{Workload: info.Name}).TestOf(&old)
				declared := s.Access
				if declared == "" {
					declared = workload.OtherAccess
				}
				seen[declared]++
				expect.True(t, s.Settle != nil || test.Access == declared,
					info.Name, "preset", preset.Name, s.Name, "is declared as", declared, "and was", test.Access)
				if test.BeforeWrites != s.BeforeWrites || (test.WarmUp || test.BeforeWrites) != (s.Warmup || s.BeforeWrites) {
					t.Errorf("%s, preset %s: %s is declared as warm-up %v, before writes %v, and was %+v", info.Name, preset.Name, s.Name, s.Warmup, s.BeforeWrites, test)
				}
			}
		}
	}
	for _, a := range []workload.Access{workload.PointAccess, workload.RangeAccess, workload.WriteAccess, workload.MixedAccess} {
		expect.True(t, seen[a] != 0, "no step is declared as", a)
	}
}
