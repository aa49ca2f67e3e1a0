package campaign

import (
	"errors"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// A base that fails ends the campaign unless it is to keep going; another target,
// or a base whose numbers are only invalid, does not.
func TestBaseFails(t *testing.T) {
	all := []string{"pebble.1", "bbolt.1", "bbolt.2", "pebble.2"}
	for _, c := range []struct {
		name, trial string
		status      result.Status
		keepGoing   bool
		order       string
		ran         []string
	}{
		{name: "base", trial: "pebble.1", status: result.Failed, ran: all[:1]},
		{name: "keep going", trial: "pebble.1", status: result.Failed, keepGoing: true, ran: all},
		{name: "last", trial: "pebble.2", status: result.Failed, ran: all},
		{name: "invalid", trial: "pebble.1", status: result.Invalid, ran: all},
		{name: "other", trial: "bbolt.1", status: result.Failed, ran: all},
		{name: "sequential", trial: "pebble.2", status: result.Failed, order: "sequential", ran: []string{"pebble.1", "pebble.2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var sets []string
			if c.order != "" {
				sets = []string{"order=" + c.order}
			}
			note := "echo $2 >> " + dir + "/ran; "
			config, _ := config(dir, note+"if [ $2 = "+c.trial+" ]; then "+says(c.status)+" else "+says(result.Complete)+" fi", sets...)
			config.KeepGoing = c.keepGoing
			_, err := Run(t.Context(), config)
			expect.True(t, errors.Is(err, ErrIncomplete), err)
			same(t, c.ran, ran(t, dir))
			ended := strings.Contains(err.Error(), c.trial+" failed, and every comparison needs the base pebble") &&
				strings.Contains(hint.Of(err), "--keep-going") && strings.Contains(hint.Of(err), "--resume "+config.Dir)
			expect.True(t, ended == (len(c.ran) < len(all)), "error, hint", err, hint.Of(err))
			// It goes on where it was.
			config.Resume, config.Child = true, childScript(note+says(result.Complete))
			if _, err := Run(t.Context(), config); err != nil {
				t.Error(err)
			}
			expect.Equal(t, len(c.ran)+len(ran(t, dir)), len(all)+1, "trials were run in all")
		})
	}
}
