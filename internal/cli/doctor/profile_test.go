package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKernelNames(t *testing.T) {
	for text, want := range map[string]Status{
		"0000000000000000 T _text\n0000000000000000 t do_one\n": Warn,
		"0000000000000000 A a\nffffffff81000000 T _text\n":      OK,
		"": Warn,
	} {
		path := filepath.Join(t.TempDir(), "kallsyms")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := kernelNames(path); got.Status != want || (got.Fix == "") != (want == OK) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := kernelNames(filepath.Join(t.TempDir(), "none")); got.Status != Warn {
		t.Errorf("%+v", got)
	}
}

func TestUnavailableCollectors(t *testing.T) {
	for text, want := range map[string]Status{"Name:\tx\nCapEff:\t0000000000080000\n": OK, "CapEff:\t0000000000040000\n": Warn, "": Warn} {
		path := filepath.Join(t.TempDir(), "status")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := threadLooks(path); got.Status != want || (got.Fix == "") != (want == OK) {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := fileTracer("/dev/shm"); got.Status != Warn || got.Fix == "" {
		t.Errorf("%+v", got)
	}
}

func TestDelays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "task_delayacct")
	for text, want := range map[string]Status{"1\n": OK, "0\n": Warn} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := delays(path); got.Status != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := delays(path + ".none"); got.Status != Warn || got.Fix == "" {
		t.Errorf("%+v", got)
	}
}

// Every collector says what was found and, if it is missing, what would help.
func TestCollectors(t *testing.T) {
	for _, f := range Collectors().Findings {
		if f.Name == "" || f.Found == "" || f.Why == "" || f.Status != OK && f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
}
