package engine_test

import (
	"errors"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

func TestSizeOption(t *testing.T) {
	for _, c := range []struct {
		value any
		want  int64
		ok    bool
	}{{nil, 7, true}, {int64(4096), 4096, true}, {"64M", 64 << 20, true}, {"64 mb", 64e6, true}, {"many", 0, false}, {true, 0, false}, {"2G", 0, false}} {
		config := engine.Config{Options: map[string]any{"size": c.value}}
		if c.value == nil {
			config.Options = nil
		}
		o := config.ReadOptions()
		if got := o.Size("size", 7, 1, 1<<30); got != c.want || (o.Err == nil) != c.ok {
			t.Errorf("%v: %d, %v", c.value, got, o.Err)
		}
	}
	o := engine.Config{Options: map[string]any{"n": "64M"}}.ReadOptions()
	if o.Int("n", 0, 0, 1<<40); o.Err == nil {
		t.Error("an option that is a count is read as a size")
	}
}

// A wrong choice is answered with the one that was meant; a wrong value keeps the hint of its cause.
func TestChoose(t *testing.T) {
	err := engine.Choose("storage", "rockdb", "innodb", "rocksdb")
	expect.True(t, err != nil && err.Error() == "storage: rockdb: it must be innodb or rocksdb" && hint.Of(err) == "did you mean rocksdb?", err, hint.Of(err))
	config := engine.Config{Options: map[string]any{"deletes": "singel", "n": int64(3)}}
	o := config.ReadOptions()
	if o.Choice("deletes", "exact", "single"); hint.Of(o.Err) != "did you mean single?" {
		t.Errorf("%v, hint %q", o.Err, hint.Of(o.Err))
	}
	o = config.ReadOptions()
	if o.Choice("n", "exact", "single"); o.Err == nil || hint.Of(o.Err) != "" {
		t.Errorf("%v, hint %q", o.Err, hint.Of(o.Err))
	}
	err = &engine.KnobError{Knob: "server", Value: "x", Err: hint.With(errors.New("missing"), "install it")}
	expect.Equal(t, hint.Of(err), "install it", err, "hint")
}

// An option affects what the engine declares where it is set; a variable of the server, which has a value anyway, also by its name.
func TestAffected(t *testing.T) {
	i := engine.Info{Options: []engine.Option{{Name: "plain"}}, Variables: []engine.Option{{Name: "room", Affects: engine.AspectCheckpoint}, {Name: "other", Affects: engine.AspectCache}}}
	got := i.Affected(map[string]any{"plain": 1, "room": 2})
	expect.Same(t, map[string]engine.Aspect{"options.room": engine.AspectCheckpoint, "room": engine.AspectCheckpoint,
		"other": engine.AspectCache}, got)
}
