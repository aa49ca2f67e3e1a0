package campaign

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rumbench/engine/fsize"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// UnfitError reports that the machine is not fit for the campaign.
type UnfitError struct{ error }

// Unwrap returns the error itself.
func (e *UnfitError) Unwrap() error { return e.error }

// Unfit returns an UnfitError with a hint.
func Unfit(help, format string, args ...any) error {
	return &UnfitError{hint.Errorf(help, format, args...)}
}

// reserve is the space that must stay free on the disk in addition to the data.
const reserve = 256 << 20

// Need returns how many bytes a campaign may need at its peak on the disk of its own directory.
// Data directories are removed there after each trial unless the plan keeps them.
func Need(c Config) (peak int64, perTarget []int64) {
	var block float64 // all targets once
	for _, t := range c.Plan.Targets {
		if t.Config.Server.DSN != "" {
			perTarget = append(perTarget, 0) // the server keeps it in its own directory
			continue
		}
		info, ownPlan := c.InfoOf(&t), c.Plan.For(&t)
		n := bytes(float64(ownPlan.Run.Estimate(ownPlan.Steps()).Bytes)*info.SpaceFactor + float64(info.SpaceBase))
		perTarget = append(perTarget, n)
		if t.Data != "" && c.Plan.Start.Any() {
			there, _ := fsize.Allocated(t.Data) // if it cannot be read, the trial says so
			n = max(n, there)
		} else if t.Data != "" {
			continue // it is elsewhere
		}
		peak = max(peak, n)
		block += float64(n)
	}
	if s := c.Plan.Start; s.Loaded() && (s.Bases == "" || sameDisk(c.Dir, s.Bases)) {
		defer func() { peak = bytes(float64(peak) + kept(c)) }()
	}
	switch {
	case c.Plan.Keep:
		peak = bytes(block*float64(c.Plan.Trials) + block*float64(len(profiledEntries(c.Plan)))/float64(len(c.Plan.Targets)))
	case c.Plan.Order == plan.Duet:
		peak = bytes(block)
	}
	return peak, perTarget
}

// sameDisk reports whether two directories that may not exist yet are in one file system.
func sameDisk(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(fsize.Existing(a), &x) == nil && unix.Stat(fsize.Existing(b), &y) == nil && x.Dev == y.Dev
}

// kept returns how many bytes more the loaded data of all targets may take that trials begin with copies of.
// Which of those in a store serve this campaign is not known before.
func kept(c Config) (sum float64) {
	for _, t := range c.Plan.Targets {
		if !c.Plan.Loads(t.Name) {
			continue
		}
		info, ownPlan := c.InfoOf(&t), c.Plan.For(&t)
		sum += float64(ownPlan.Run.Estimate(ownPlan.Loading()).Bytes)*info.SpaceFactor + float64(info.SpaceBase)
	}
	there, _ := fsize.Allocated(filepath.Join(c.Dir, result.BasesDir)) // of a campaign that is resumed
	return max(0, sum*float64(c.Plan.Start.Loads)-float64(there))
}

// bytes returns n as a number of bytes, at most more than any disk has.
func bytes(n float64) int64 { return int64(min(n, 1<<62)) }

// Fits refuses a campaign that this machine cannot run: one that would fill a
// disk, with a cache larger than its memory, or a duet without processors for two.
func Fits(c Config) error {
	var about unix.Sysinfo_t
	if err := unix.Sysinfo(&about); err != nil {
		return fmt.Errorf("look at the memory of this host: %w", err)
	}
	if err := checkCaches(c.Plan, bytes(float64(about.Totalram)*float64(about.Unit))); err != nil {
		return err
	}
	for _, t := range c.Plan.Targets {
		if _, _, err := t.Machine.Choose(); err != nil {
			return Unfit(hint.Of(err), "target %s: %v", t.Name, err)
		}
	}
	if c.Plan.Order == plan.Duet {
		if _, err := halves(); err != nil {
			return err
		}
	}
	return cmp.Or(checkTrim(c), CheckSpace(c))
}

// checkCaches refuses a cache, or a limit of memory, above the available memory.
func checkCaches(p *plan.Plan, memory int64) error {
	for _, t := range p.Targets {
		if t.Config.Cache > memory {
			return Unfit("lower cache, or run it on a larger host",
				"target %s has a cache of %s, and this host has %s of memory", t.Name, quantity.Bytes(t.Config.Cache),
				quantity.Bytes(memory))
		}
		if t.Machine.Memory > memory {
			return Unfit("lower memory, or run it on a larger host",
				"target %s may use %s of memory, and this host has %s", t.Name, quantity.Bytes(t.Machine.Memory),
				quantity.Bytes(memory))
		}
	}
	return nil
}

// halves divides the processors of this process for a duet.
func halves() (cpuset.Halves, error) {
	allowed, err := cpuset.Allowed()
	if err != nil {
		return cpuset.Halves{}, err
	}
	return halve(allowed)
}

func halve(allowed cpuset.Set) (cpuset.Halves, error) {
	if len(allowed) < 2 {
		return cpuset.Halves{}, Unfit("set order: interleaved, or look at what binds rumbench (taskset -p $$, cpuset of "+
			"the container)",
			"a duet needs two processors, and this process may run on one only: %v", allowed)
	}
	return cpuset.Halve(allowed, "/sys")
}

// CheckSpace refuses a campaign that would fill a disk.
func CheckSpace(c Config) error {
	peak, perTarget := Need(c)
	if err := checkFree(c.Dir, peak,
		"lower the rows, or the time of steps that insert, choose another --out, or free space"); err != nil {
		return err
	}
	if s := c.Plan.Start; s.Bases != "" {
		if err := checkStore(c, s.Bases); err != nil {
			return err
		}
	}
	for i, t := range c.Plan.Targets {
		if t.Data == "" || c.Plan.Start.Any() {
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

// checkStore refuses a directory for loaded data that has no room for them, or that this user cannot write:
// that would be found after the load only.
func checkStore(c Config, dir string) error {
	temp, err := os.MkdirTemp(fsize.Existing(dir), ".rumbench")
	if err == nil {
		err = os.Remove(temp)
	}
	if err != nil {
		return Unfit("choose other bases", "loaded data cannot be kept in %s: %w", dir, err)
	}
	if sameDisk(c.Dir, dir) {
		return nil // Need has them
	}
	return checkFree(dir, bytes(kept(c)), "lower the rows or loads, choose other bases, or free space")
}

// checkFree refuses to need a number of bytes more under a directory if they
// are not free.
func checkFree(dir string, need int64, help string) error {
	free, err := fsize.Free(fsize.Existing(dir))
	if err != nil {
		return err
	}
	if need <= 0 || need <= free-reserve {
		return nil
	}
	return Unfit(help, "the disk under %s would fill: about %s may be needed, %s are free", dir,
		quantity.Bytes(need+reserve), quantity.Bytes(free))
}
