package campaign

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/fsize"
	"rumbench/workload"
)

// HintError is an error that the user can do something about.
type HintError struct {
	Err  error
	Hint string
}

// Error is the message without the hint.
func (e *HintError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *HintError) Unwrap() error { return e.Err }

func hint(err error, h string) error { return &HintError{err, h} }

// UnfitError says that the machine is not fit for the campaign.
type UnfitError struct{ Err error }

// Error is the message.
func (e *UnfitError) Error() string { return e.Err.Error() }

// Unwrap is the error itself.
func (e *UnfitError) Unwrap() error { return e.Err }

// lock locks the file that all campaigns on a host share. Trials inherit it:
// it stays locked as long as one lives, also when its campaign was killed.
func lock(path, dir string) (*os.File, error) {
	// Where the file exists O_CREATE must not be asked for: in /tmp the kernel
	// refuses it for another user's file.
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666); err == nil {
			err = f.Chmod(0o666) // another user's campaigns lock it too
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock of this host: %w", err)
	}
	if err := checkLock(f); err != nil {
		f.Close()
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		who, _ := io.ReadAll(io.LimitReader(f, 1000))
		f.Close()
		return nil, &UnfitError{hint(fmt.Errorf("another benchmark runs on this host: %s", strings.TrimSpace(string(who))),
			"two benchmarks at a time measure each other; wait until it has ended")}
	}
	_ = f.Truncate(0)
	abs, _ := filepath.Abs(dir)
	fmt.Fprintf(f, lockWords+"%d, campaign %s\n", os.Getpid(), abs)
	return f, nil
}

// checkLock refuses a file that is no lock of ours: it would be overwritten.
func checkLock(f *os.File) error {
	b, err := io.ReadAll(io.LimitReader(f, 1000))
	if err != nil {
		return fmt.Errorf("read the lock of this host: %w", err)
	}
	if len(b) > 0 && !strings.HasPrefix(string(b), lockWords) {
		return hint(fmt.Errorf("%s is no lock of rumbench and is left alone", f.Name()), "name another file in RUMBENCH_LOCK, or remove it")
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// lockWords begin the content of the lock file.
const lockWords = "process "

func unlock(f *os.File) {
	_ = f.Truncate(0)
	f.Close()
}

// reserve is what must stay free on the disk beside the data.
const reserve = 256 << 20

// Need is how many bytes a campaign may need at its peak in its own directory.
// Data directories are removed there after each trial unless the plan keeps them.
func Need(c Config) (peak int64, perTarget []int64) {
	live := c.Plan.Run.Estimate().Bytes
	var sum float64
	for _, t := range c.Plan.Targets {
		if t.Config.Server.DSN != "" {
			perTarget = append(perTarget, 0) // it is where its server keeps it, and no business of ours
			continue
		}
		factor, base := c.SpaceFactor(t.Engine)
		n := bytes(float64(live)*factor + float64(base))
		perTarget = append(perTarget, n)
		if t.Data != "" {
			continue // it is elsewhere
		}
		peak = max(peak, n)
		sum += float64(n) * float64(c.Plan.Trials)
	}
	if c.Plan.Keep {
		peak = bytes(sum)
	}
	return peak, perTarget
}

// bytes is n as far as a number of bytes can be told; more than that no disk has.
func bytes(n float64) int64 { return int64(min(n, 1<<62)) }

// CheckSpace refuses a campaign that would fill a disk.
func CheckSpace(c Config) error {
	peak, perTarget := Need(c)
	if err := checkFree(c.Dir, peak, "lower the rows, choose another --out, or free space"); err != nil {
		return err
	}
	for i, t := range c.Plan.Targets {
		if t.Data == "" {
			continue
		}
		there, err := fsize.Allocated(t.Data)
		if err != nil {
			return err
		}
		if err := checkFree(t.Data, perTarget[i]-there, "lower the rows, or free space"); err != nil {
			return err
		}
	}
	return nil
}

// checkFree refuses to need a number of bytes more under a directory if they
// are not free.
func checkFree(dir string, need int64, help string) error {
	free, err := fsize.Free(existing(dir))
	if err != nil {
		return err
	}
	if need <= 0 || need <= free-reserve {
		return nil
	}
	return &UnfitError{hint(fmt.Errorf("the disk under %s would fill: about %s may be needed, %s are free", dir, fsize.Text(need+reserve), fsize.Text(free)), help)}
}

// existing is the nearest directory above a path that exists.
func existing(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "."
	}
	for abs != "/" {
		if _, err := os.Stat(abs); err == nil {
			return abs
		}
		abs = filepath.Dir(abs)
	}
	return abs
}

// Describe prints what a campaign would do, without doing it.
func Describe(w io.Writer, c Config) {
	p := c.Plan
	fmt.Fprintf(w, "campaign %s: workload %s", p.Name, p.Workload)
	if p.Preset != "" {
		fmt.Fprintf(w, ", preset %s", p.Preset)
	}
	fmt.Fprintf(w, "\n\nsteps\n")
	var planned time.Duration
	for _, s := range p.Run.Steps() {
		d := describeStep(w, &s)
		planned += d
	}
	live := p.Run.Estimate()
	peak, need := Need(c)
	fmt.Fprintf(w, "\nat most %d rows, %s of user data with index entries\n", live.Rows, fsize.Text(live.Bytes))
	fmt.Fprintf(w, "steps of a fixed length take %v per trial; the others as long as the engine needs\n", planned.Round(time.Second))
	fmt.Fprintf(w, "\ntrials, in this order\n")
	for _, e := range Entries(p) {
		for i, t := range p.Targets {
			if t.Name == e.Target {
				fmt.Fprintf(w, "  %-20s engine %-8s up to %s on disk\n", e.Dir, t.Engine, fsize.Text(need[i]))
			}
		}
	}
	free, err := fsize.Free(existing(c.Dir))
	if err == nil {
		fmt.Fprintf(w, "\ndisk: up to %s needed at a time, %s free under %s\n", fsize.Text(peak), fsize.Text(free), existing(c.Dir))
	}
}

func describeStep(w io.Writer, s *workload.Step) (length time.Duration) {
	if s.Settle != nil {
		fmt.Fprintf(w, "  %-8s settle, at least %v\n", s.Name, s.Settle.Floor)
		return s.Settle.Floor
	}
	var parts []string
	for _, g := range s.Groups {
		part := fmt.Sprintf("%d × %s", g.Clients, g.Name)
		if g.Work > 0 {
			part += fmt.Sprintf(", %d operations each", g.Work)
		}
		if g.Rate > 0 {
			part += fmt.Sprintf(" at %g/s", g.Rate)
			length = max(length, time.Duration(float64(g.Work)/g.Rate*float64(time.Second)))
		}
		parts = append(parts, part)
	}
	if s.Seconds > 0 {
		length = time.Duration(s.Seconds * float64(time.Second))
		parts = append(parts, length.String())
	}
	fmt.Fprintf(w, "  %-8s %s\n", s.Name, strings.Join(parts, "; "))
	return length
}
