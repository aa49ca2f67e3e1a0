package campaign

import (
	"context"
	"errors"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

// One more trial of each target runs after all others. It is apart from them: nothing
// that reads the campaign's trials sees it. If it fails, the campaign is incomplete, and
// resuming runs it alone.
func TestProfiled(t *testing.T) {
	const fails = `case $2 in bbolt.p1) exit 3;; esac; `
	c, p := config(t.TempDir(), fails+says(result.Complete), "profile=extra", "trials=1")
	state, err := Run(context.Background(), c)
	expect.Must(t, errors.Is(err, ErrIncomplete) && strings.Contains(err.Error(), "1 of 2 trials for profiles"), err)
	begun := func() (out []string) {
		for _, line := range p.lines {
			if strings.HasPrefix(line, "begin") {
				out = append(out, line)
			}
		}
		return out
	}
	same(t, []string{"begin pebble.1 1/4", "begin bbolt.1 2/4", "begin pebble.p1 3/4", "begin bbolt.p1 4/4"}, begun())
	same(t, []string{"pebble.1 complete", "bbolt.1 complete"}, statuses(state))
	measured, err := result.ReadTrials(c.Dir, state)
	expect.True(t, err == nil && len(measured) == 2,
		"trials,: those with profiles are not among them", len(measured), err)
	if profiled, err := result.ReadProfiled(c.Dir, state); err != nil || len(profiled) != 2 || !strings.HasSuffix(profiled[0].Dir, "pebble.p1") {
		t.Errorf("profiled trials: %v, %v", profiled, err)
	}

	c.Resume, c.Child, p.lines = true, childScript(says(result.Complete)), nil
	if _, err := Run(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	same(t, []string{"begin bbolt.p1 4/4"}, begun())
}

// A target that cannot be measured is not profiled.
func TestProfiledAfterFailure(t *testing.T) {
	c, p := config(t.TempDir(), `case $2 in bbolt.1) exit 3;; esac; `+says(result.Complete), "profile=extra", "trials=1")
	if _, err := Run(context.Background(), c); !errors.Is(err, ErrIncomplete) {
		t.Fatal(err)
	}
	text := strings.Join(p.lines, "\n")
	expect.True(t, !strings.Contains(text, "bbolt.p1") && strings.Contains(text, "end pebble.p1 complete"), text)
}
