package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
)

func (a *agent) hello(context.Context, []byte) (any, error) {
	return Hello{Build: a.Build, Host: hostOf(a.LockFile), Busy: campaign.Busy(a.LockFile), Left: left(a.root)}, nil
}

// clear removes what earlier campaigns have left, and the programs that no longer run.
func (a *agent) clear(context.Context, []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	sweep(a.root)
	var err error
	for _, dir := range left(a.root) {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	for _, f := range a.locks {
		f.Close() // it needs them no more
	}
	return nil, errors.Join(err, clearPrograms(a.Build.Path))
}

// check lays out the files of a campaign, and reports what this machine has for them.
func (a *agent) check(ctx context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, done := a.begin(ctx)
	defer done()
	err := json.Unmarshal(data, &a.files)
	if err != nil {
		return nil, err
	}
	if len(a.files.Programs) != len(a.files.Builds) {
		return nil, errors.New("the programs are not those of the builds")
	}
	if a.home, err = newHome(a.root); err != nil {
		return nil, err
	}
	if err := a.home.write(&a.files); err != nil {
		return nil, err
	}
	err = a.whenFree(ctx, func() (err error) { // an image may have to be fetched
		a.plan, a.found, err = a.Load(ctx, a.home.filesDir(), a.files.Flags, a.files.Part)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, b := range a.files.Builds {
		is, err := program.Build{}.Of(a.files.Programs[i])
		if err == nil {
			err = a.hold(a.files.Programs[i])
		}
		if err != nil {
			return nil, err
		}
		if is.SHA256 != b.SHA256 {
			return nil, fmt.Errorf("%s here is not the %s of the coordinator", a.files.Programs[i], b.Path)
		}
	}
	return checked{a.found, observe.FactsOf(a.home.dir)}, nil
}

// whenFree does something as soon as no other benchmark runs here.
func (a *agent) whenFree(ctx context.Context, do func() error) error {
	for message := ""; ; {
		err := do()
		if !errors.Is(err, campaign.ErrBusy) {
			return err
		}
		if text := "it waits: " + err.Error(); text != message {
			a.note(text)
			message = text
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// addressOf returns the address that a name of this machine stands for on its network: only here it is sure to
// be known. An address is itself.
func addressOf(ctx context.Context, name string) (string, error) {
	if name == "" || net.ParseIP(name) != nil {
		return name, nil
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, name)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	for _, a := range found {
		if a.IP.IsGlobalUnicast() {
			return a.IP.String(), nil
		}
	}
	return "", fmt.Errorf("listen: %s is no address that others reach: %v", name, found)
}

// claim begins the campaign here.
func (a *agent) claim(ctx context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, done := a.begin(ctx)
	defer done()
	var c claim
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	if a.plan == nil || a.worker != nil {
		return nil, errors.New("the campaign is not checked here, or runs already")
	}
	var err error
	if c.State.Listen, err = addressOf(ctx, c.State.Listen); err != nil {
		return nil, err
	}
	err = a.whenFree(ctx, func() (err error) {
		a.worker, err = campaign.OpenWorker(a.config(&c), c.State.Machine, &c.State)
		return err
	})
	if err == nil {
		sweep(a.root) // now it disturbs nobody
	}
	return nil, err
}

func (a *agent) config(c *claim) campaign.Config {
	out := campaign.Config{
		Plan: a.plan, Dir: a.home.run(), Command: []string{"rumbench", "agent"}, Builds: a.files.Builds, Programs: a.found,
		Child: func(path string) []string {
			for i, b := range a.files.Builds {
				if b.Path == path {
					path = a.files.Programs[i]
				}
			}
			return []string{path, "trial", "--"}
		},
		LockFile: a.LockFile, Start: a.Start, Progress: relay{a}, InfoOf: a.InfoOf, Force: a.files.Force, AA: a.files.AA,
		NoPreflight: a.files.NoPreflight || c.Part,
	}
	if c.Part || len(c.State.Clients) > 0 {
		out.Connect = a.connect
	}
	return out
}

// prepare tries the targets and measures the client.
func (a *agent) prepare(ctx context.Context, _ []byte) (any, error) {
	return inCampaign(ctx, a, func(ctx context.Context) (out returned, err error) {
		below := result.TrialsDir
		err = a.worker.Prepare(ctx)
		if failed, is := errors.AsType[*campaign.PreflightError](err); is {
			for i := range failed.Failed {
				for j, path := range failed.Failed[i].Logs {
					failed.Failed[i].Logs[j], _ = filepath.Rel(a.home.run(), path)
				}
			}
			below, out.Preflight, err = campaign.PreflightDir, failed, nil
		}
		if err != nil {
			return out, err
		}
		out.Files, err = filesIn(a.home.run(), below)
		return out, err
	})
}

// benchmark measures the client several times.
func (a *agent) benchmark(ctx context.Context, data []byte) (any, error) {
	var times int
	if err := json.Unmarshal(data, &times); err != nil {
		return nil, err
	}
	return inCampaign(ctx, a, func(ctx context.Context) (campaign.Benchmark, error) {
		return a.worker.Benchmark(ctx,
			times)
	})
}

// trial runs a trial.
func (a *agent) trial(ctx context.Context, data []byte) (any, error) {
	return inCampaign(ctx, a, func(ctx context.Context) (out returned, err error) {
		var o order
		if err := json.Unmarshal(data, &o); err != nil {
			return out, err
		}
		if err := a.worker.Trial(ctx, o.Dir); err != nil {
			return out, err
		}
		out.Attempt = o.Attempt
		out.Files, err = filesIn(a.home.run(), filepath.Join(result.TrialsDir, o.Dir))
		return out, err
	})
}

// inCampaign does something that can be ended, in the campaign.
func inCampaign[T any](ctx context.Context, a *agent, do func(ctx context.Context) (T, error)) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.worker == nil {
		return nil, errors.New("the campaign is not open here")
	}
	ctx, done := a.begin(ctx)
	defer done()
	return do(ctx)
}

// read returns a piece of a file of the campaign.
func (a *agent) read(_ context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var p piece
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	if a.home == nil || !filepath.IsLocal(p.Path) {
		return nil, fmt.Errorf("%s is no file of the campaign", p.Path)
	}
	f, err := regular.Open(filepath.Join(a.home.run(), p.Path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := make([]byte, pieceBytes)
	n, err := f.ReadAt(b, p.Offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// close ends the campaign here and removes its directory: its files are with the coordinator, unless
// the plan keeps data.
func (a *agent) close(context.Context, []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, err := a.leave()
	if a.home != nil && kept == "" {
		err = errors.Join(err, os.RemoveAll(a.home.dir))
	}
	a.home = nil
	return closed{Kept: kept}, err
}

// leave ends the use of the machine. If trials have left data that the plan keeps, it returns their
// directory.
func (a *agent) leave() (kept string, err error) {
	a.observed.mu.Lock()
	a.observed.end()
	a.observed.mu.Unlock()
	ran := a.worker != nil && a.worker.Ran()
	if a.worker != nil {
		err = a.worker.Close()
		a.worker = nil
	}
	if a.home == nil {
		return "", err
	}
	forget(a.home.dir)
	if !ran || !a.plan.Keep {
		return "", err
	}
	dir := filepath.Join(a.root, strings.Replace(filepath.Base(a.home.dir), prefix, keptPrefix, 1))
	if rerr := os.Rename(a.home.dir, dir); rerr != nil {
		return a.home.dir, errors.Join(err, rerr)
	}
	a.home.dir = dir
	return filepath.Join(a.home.run(), result.TrialsDir), err
}

// hold locks a program, so that nobody clears it away.
func (a *agent) hold(path string) error {
	f, err := regular.Open(path)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	a.locks = append(a.locks, f)
	return nil
}

// filesIn lists the regular files below a path of a campaign's directory, without the data of
// trials. The result of a trial is the last: where it is, all of the trial is.
func filesIn(dir, below string) (out []file, err error) {
	var results []file
	err = filepath.WalkDir(filepath.Join(dir, below), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == result.DataDir || d.Name() == result.TempDir):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		f, err := fileOf(dir, path)
		if d.Name() == result.TrialFile {
			results = append(results, f)
		} else {
			out = append(out, f)
		}
		return err
	})
	return append(out, results...), err
}

func fileOf(dir, path string) (file, error) {
	f, err := regular.Open(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	digest := sha256.New()
	n, err := io.Copy(digest, f)
	if err != nil {
		return file{}, err
	}
	name, err := filepath.Rel(dir, path)
	return file{name, n, digest.Sum(nil)}, err
}

// relay passes on what a campaign says.
type relay struct{ *agent }

func (relay) Begin(result.Entry, forecast.Place) {}
func (relay) Event(trial.Event)                  {}
func (relay) End(result.Entry, *result.Trial)    {}
func (r relay) Note(text string)                 { r.note(text) }
