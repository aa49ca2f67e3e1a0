package profile

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/hint"
)

// spinning is the CPU time in ns that this test binary, run again, spends in f, g
// and write(2).
const spinning = "RUMBENCH_PROFILE_SPIN"

func TestMain(m *testing.M) {
	if total, err := strconv.Atoi(os.Getenv(spinning)); err == nil {
		goSpin(time.Duration(total))
		return
	}
	os.Exit(m.Run())
}

// goSpin prints the CPU time that it spent in each function.
func goSpin(total time.Duration) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	var in [3]time.Duration
	last := used()
	for in[0]+in[1]+in[2] < total {
		for i, part := range []time.Duration{2590, 740, 370} {
			until := last + part*time.Microsecond
			switch i {
			case 0:
				spin_f(until)
			case 1:
				spin_g(until)
			case 2:
				spin_write(until, null)
			}
			at := used()
			in[i] += at - last
			last = at
		}
	}
	fmt.Println(in[0].Nanoseconds(), in[1].Nanoseconds(), in[2].Nanoseconds())
}

// used returns the CPU time of this process.
func used() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

var sink uint64

// The names of these functions are those of testdata/spin.c.

//go:noinline
func spin_f(until time.Duration) {
	for used() < until {
		for i := range uint64(20000) {
			sink += i * sink
		}
	}
}

//go:noinline
func spin_g(until time.Duration) {
	for used() < until {
		for i := range uint64(20000) {
			sink ^= i * sink
		}
	}
}

//go:noinline
func spin_write(until time.Duration, null *os.File) {
	for used() < until {
		for range 100 {
			if _, err := null.Write([]byte("x")); err != nil {
				panic(err)
			}
		}
	}
}

// sampled runs a command while everything is sampled, and returns its profile, what
// it printed, and the CPU time that the kernel accounted to it; an error if samples were
// lost.
func sampled(t *testing.T, cmd *exec.Cmd) (p *Profile, printed string, accounted time.Duration, err error) {
	t.Helper()
	need.Setup(t)
	start, before := now(t), used()
	s, err := Start(99, false)
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err, hint.Of(err))
	}
	expect.NoError(t, err)
	out, err := cmd.Output()
	end := now(t)
	r, stopErr := s.Stop()
	own := used() - before
	expect.NoError(t, errors.Join(err, stopErr))
	if r.OwnOnly {
		t.Skip("no right to sample other processes")
	}
	expect.True(t, r.Used > 0 && r.Used <= own, "used of", r.Used, own)
	if r.Lost > 0 {
		err = fmt.Errorf("lost %d", r.Lost)
	}
	all := r.Cut(start, end, Trees(os.Getpid(), cmd.Process.Pid))
	return all.Of(Server), string(out), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// now returns Now, which works where Start does.
func now(t *testing.T) time.Duration {
	t.Helper()
	at := expect.Value(Now())(t)
	return at
}

const spinTime = 1500 * time.Millisecond

// agrees runs programs until a profile passes a check, at most three times: where
// many processes take turns, samples of one may be those of the next.
func agrees(t *testing.T, command func() *exec.Cmd, check func(p *Profile, printed string, accounted time.Duration) error) {
	t.Helper()
	for range 3 {
		p, printed, accounted, err := sampled(t, command())
		if err == nil {
			err = check(p, printed, accounted)
		}
		if err == nil {
			return
		}
		t.Log(err)
	}
	t.Error("no profile of three agrees")
}

// checkSpin compares the weights of the three functions with what the program
// measured itself, and their sum with what the kernel accounted.
func checkSpin(p *Profile, printed string, accounted time.Duration) error {
	var in [3]time.Duration
	if _, err := fmt.Sscan(printed, &in[0], &in[1], &in[2]); err != nil {
		return fmt.Errorf("%q: %w", printed, err)
	}
	err := p.Check(accounted)
	n, sum := float64(p.Count()), float64(in[0]+in[1]+in[2])
	// The C library keeps no frame pointers: whoever calls its write is not seen.
	for i, name := range []string{"spin_f", "spin_g", "write"} {
		want := float64(in[i]) / sum
		got := p.Only(func(s *Sample) bool {
			return slices.ContainsFunc(s.Stack, func(f int32) bool { return strings.HasSuffix(p.Frames[f].Name, name) })
		}).PerUnit(1) / p.PerUnit(1)
		// Three standard deviations, and 5 % as a busy machine gives a process its time in
		// slices of a few samples each, which are not independent.
		if limit := 3*math.Sqrt(want*(1-want)/n) + 0.05; !(math.Abs(got-want) <= limit) {
			err = errors.Join(err, fmt.Errorf("%s: %.3f of %v samples, want %.3f ± %.3f", name, got, n, want, limit))
		}
	}
	return err
}

func spinOf(path string) func() *exec.Cmd {
	return func() *exec.Cmd { return exec.Command(path, strconv.Itoa(int(spinTime))) }
}

func TestSpinGo(t *testing.T) {
	command := func() *exec.Cmd {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), spinning+"="+strconv.Itoa(int(spinTime)))
		return cmd
	}
	agrees(t, command, func(p *Profile, printed string, accounted time.Duration) error {
		if !(p.Rooted() > 0.9) {
			return fmt.Errorf("%.2f of the stacks reach the root", p.Rooted())
		}
		return checkSpin(p, printed, accounted)
	})
}

// compiled compiles testdata/spin.c.
func compiled(t *testing.T, options ...string) string {
	t.Helper()
	_, err := exec.LookPath("gcc")
	need.Installed(t, err)
	path := filepath.Join(t.TempDir(), "spin")
	if out, err := exec.Command("gcc", append(options, "-O2", "-o", path, "testdata/spin.c")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// TestSpinC has names that TestSpinStripped reads from the same program.
func TestSpinC(t *testing.T) {
	need.Long(t)
	agrees(t, spinOf(compiled(t, "-fno-omit-frame-pointer")), checkSpin)
}

// TestSpinStripped: functions are known by their beginnings, which are those of
// the symbols of the same program.
func TestSpinStripped(t *testing.T) {
	path := compiled(t, "-fno-omit-frame-pointer")
	full := expect.Value(openImage(path))(t)
	if out, err := exec.Command("strip", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stripped, err := openImage(path)
	expect.Must(t, err == nil && stripped.BuildID == full.BuildID && len(full.BuildID) == 40,
		err, "build id", stripped.BuildID, "was", full.BuildID)
	names := make(map[string]string)
	for _, f := range full.named {
		names[fmt.Sprintf("spin@%x", f.begin)] = f.name
		if got := find(stripped.unnamed, f.begin); strings.HasPrefix(f.name, "spin_") && (got == nil || got.begin != f.begin || got.end != f.end) {
			t.Errorf("%+v is %+v", f, got)
		}
	}
	agrees(t, spinOf(path), func(p *Profile, printed string, accounted time.Duration) error {
		for i, f := range p.Frames {
			p.Frames[i].Name = cmp.Or(names[f.Name], f.Name)
		}
		return checkSpin(p, printed, accounted)
	})
}

func TestSpinWithoutFramePointers(t *testing.T) {
	agrees(t, spinOf(compiled(t, "-fomit-frame-pointer", "-static")), func(p *Profile, _ string, accounted time.Duration) error {
		expect.True(t, p.Rooted() < 0.1, "of the stacks reach the root", p.Rooted())
		return p.Check(accounted)
	})
}

// TestOwnOnly samples this process alone, as without rights.
func TestOwnOnly(t *testing.T) {
	before := used()
	s, err := start(99, true)
	if err != nil {
		t.Skip(err)
	}
	begin := now(t)
	done := make(chan bool)
	go func() { // on a thread that may be created later
		spin_f(before + time.Second/2)
		done <- true
	}()
	<-done
	end := now(t)
	r, err := s.Stop()
	expect.Must(t, err == nil && r.OwnOnly, err)
	p := r.Cut(begin, end, Trees(os.Getpid()))
	for i := range p.Samples {
		for _, f := range p.Samples[i].Stack {
			expect.Must(t, p.Frames[f].Image != KernelImage, p.Frames[f])
		}
	}
	costs := p.Of(Client).Functions(1)
	if i := slices.IndexFunc(costs, func(c Cost) bool { return strings.HasSuffix(c.Name, ".TestOwnOnly.func1") }); i < 0 || costs[i].Total < 0.5*p.PerUnit(1) {
		t.Errorf("%+v", costs)
	}
	expect.Equal(t, p.CPU(), p.Of(Client).CPU(), "samples of others")
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		release string
		force   bool
		refused bool
	}{{"6.17.1-generic", false, true}, {"6.17.1", true, false}, {"6.17", false, true}, {"6.17-rc3", false, true}, {"6.18.44", false, false}, {"6.1.170", false, false}, {"6.170.1", false, false}} {
		err := refuse(c.release, c.force)
		expect.True(t, c.refused == errors.Is(err, ErrUnavailable) && c.refused == (hint.Of(err) != ""),
			"forced", c.release, c.force, err)
	}
	err := unavailable(fmt.Errorf("perf_event_open: %w", unix.EACCES))
	expect.True(t, errors.Is(err, ErrUnavailable) && errors.Is(err, unix.EACCES) && strings.Contains(hint.Of(err), "perf_event_paranoid"), err, hint.Of(err))
	if err := unavailable(unix.EMFILE); !strings.Contains(hint.Of(err), "open files") {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
	if err := unavailable(unix.ENOSYS); !strings.Contains(hint.Of(err), "CONFIG_PERF_EVENTS") {
		t.Errorf("%v: %s", err, hint.Of(err))
	}
}

func TestOverBudget(t *testing.T) {
	for _, c := range []struct {
		used       time.Duration
		processors int
		over       bool
	}{{49 * time.Millisecond, 1, false}, {51 * time.Millisecond, 1, true}, {51 * time.Millisecond, 2, false}, {101 * time.Millisecond, 2, true}} {
		expect.Equal(t, overBudget(c.used, 10*time.Second, c.processors), c.over, c.used, c.processors)
	}
}
