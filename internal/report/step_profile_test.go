package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/observe/profile"
	"rumbench/internal/page"
)

// profiled returns the profile of a target over ten seconds, with the samples of each
// second: a function and 10 ms.
func profiled(target string, units float64, seconds int, stacks ...[]string) *Profile {
	p := &profile.Profile{Window: time.Duration(seconds) * time.Second, Period: 10 * time.Millisecond}
	for _, stack := range stacks {
		s := profile.Sample{Side: profile.Server, Process: "mariadbd", Thread: "mariadbd"}
		if stack[0] == "client" {
			s.Side = profile.Client
		}
		for _, name := range stack {
			f := profile.Frame{Name: name, Image: "mariadbd"}
			i := slices.Index(p.Frames, f)
			if i < 0 {
				i, p.Frames = len(p.Frames), append(p.Frames, f)
			}
			s.Stack = append(s.Stack, int32(i))
		}
		for second := range seconds {
			s.Parts = append(s.Parts, profile.Part{Second: second, CPU: 10*time.Millisecond + time.Duration(second%3)*time.Millisecond})
		}
		p.Samples = append(p.Samples, s)
	}
	return &Profile{Target: target, Engine: "mysql", Step: "read", Per: "query", CPU: profile.Work{Profile: p, Units: units}}
}

func shownRows(t page.Table) (out []string) {
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			text := r.Head
			for _, c := range r.Cells {
				text += " | " + c.Text
			}
			out = append(out, text)
		}
	}
	return out
}

// Costs are per unit of each target's own work, and the clients' are apart from the
// engine's.
func TestProfileTable(t *testing.T) {
	a := profiled("a", 1000, 10, []string{"mysql_parse", "MYSQLparse"}, []string{"sub_select"}, []string{"client"})
	b := profiled("b", 2000, 10, []string{"sub_select"})
	want := "parse and plan | 109 | 0\nexecution | 109 | 54.5\nengine total | 218 | 54.5\nclients | 109 | 0"
	expect.Equal(t, strings.Join(shownRows(ProfileTable([]*Profile{a, b})), "\n"), want)
	want = "MYSQLparse | 109 | 109 | mariadbd\nsub_select | 109 | 109 | mariadbd\nmysql_parse | 0 | 109 | mariadbd"
	expect.Equal(t, strings.Join(shownRows(FunctionTable(a, 5)), "\n"), want)
	expect.Equal(t, len(shownRows(FunctionTable(a, 1))), 1, "the largest function is")
}

// What differs is named; what is the same, or may be chance, is not.
func TestChangedProfiles(t *testing.T) {
	base := profiled("a", 1500, 30, []string{"dispatch_command", "MYSQLparse"}, []string{"dispatch_command", "sub_select"})
	next := profiled("b", 1500, 30, []string{"dispatch_command", "sub_select"})
	tables := ChangedFunctions(base, next, 5)
	expect.Must(t, len(tables) == 2, len(tables), "tables")
	expect.Equal(t, strings.Join(shownRows(tables[0]), "\n"), "MYSQLparse | 220 | 0 | -220", "themselves")
	if got, want := strings.Join(shownRows(tables[1]), "\n"), "dispatch_command | 440 | 220 | -220\nMYSQLparse | 220 | 0 | -220"; got != want {
		t.Errorf("with what they called: %s, want %s", got, want)
	}
	expect.Equal(t, len(ChangedFunctions(base, base, 5)), 0, "a profile differs from itself")
	subsystems, ok := ChangedSubsystems(base, next).(page.Table)
	if got := shownRows(subsystems); !ok || !slices.Contains(got, "parse and plan | 220 | 0 | -220 | differs") {
		t.Errorf("%q", got)
	}
	unknown := profiled("c", 1500, 30, []string{"mariadbd@1"})
	if _, ok := ChangedSubsystems(base, unknown).(page.Paragraph); !ok {
		t.Error("subsystems are compared although they are unknown")
	}
}
