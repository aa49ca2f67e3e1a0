package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/hint"
)

// home is the directory of a campaign on a machine: the files that it is made of, and the campaign as it runs here.
type home struct {
	dir  string
	lock *os.File // held as long as the agent lives
}

// The content of a home, and the beginnings of its name: of one whose data are kept because the plan
// wants that, and of others.
const (
	homeLock         = "agent.lock"
	campaignFilesDir = "files"
	runDir           = "run"
	prefix           = "campaign-"
	keptPrefix       = "kept-"
)

func (h *home) filesDir() string { return filepath.Join(h.dir, campaignFilesDir) }
func (h *home) run() string      { return filepath.Join(h.dir, runDir) }

// newHome makes a directory for a campaign.
func newHome(root string) (h *home, err error) {
	h = &home{}
	if h.dir, err = os.MkdirTemp(root, time.Now().Format(prefix+"2006-01-02-150405-")); err == nil {
		h.lock, err = os.OpenFile(filepath.Join(h.dir, homeLock), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	}
	if err == nil {
		err = errors.Join(syscall.Flock(int(h.lock.Fd()), syscall.LOCK_EX), os.Mkdir(h.filesDir(), 0o700),
			os.Chmod(h.dir, 0o755)) // servers run as other users
	}
	if err != nil {
		return nil, fmt.Errorf("make a directory for the campaign: %w", err)
	}
	return h, nil
}

// write lays out the files of the campaign.
func (h *home) write(p *campaignFiles) error {
	for name, text := range map[string][]byte{result.PlanFile: p.Plan, plan.WorkloadFile: p.Declared,
		plan.SecretFile: p.Secrets} {
		if len(text) > 0 {
			if err := os.WriteFile(filepath.Join(h.filesDir(), name), text, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget removes the secrets of a campaign.
func forget(dir string) {
	for _, sub := range []string{campaignFilesDir, runDir} {
		_ = os.Remove(filepath.Join(dir, sub, plan.SecretFile))
	}
}

// rootOf makes the directory of an agent. root's own directory is usually closed to the users that
// servers run as.
func rootOf(dir string) (string, error) {
	if dir == "" {
		parent, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		info, err := os.Stat(parent)
		if err != nil {
			return "", err
		}
		if os.Geteuid() == 0 && info.Mode()&0o001 == 0 {
			parent = "/var/lib"
		}
		dir = filepath.Join(parent, "rumbench-fleet")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", hint.Errorf("dir: names another, in the plan's machines", "make the directory of the agent: %w", err)
	}
	return dir, nil
}

// left returns the directories of earlier campaigns that no longer run: those of this user, as
// others may write to a directory that is shared.
func left(root string) (dirs []string) {
	entries, _ := os.ReadDir(root) // if it cannot be read nothing is found
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		named := strings.HasPrefix(e.Name(), prefix) || strings.HasPrefix(e.Name(), keptPrefix)
		var st syscall.Stat_t
		own := syscall.Lstat(dir, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR && st.Uid == uint32(os.Geteuid())
		if named && own && !result.Locked(filepath.Join(dir, homeLock)) && !result.IsRunning(filepath.Join(dir, runDir)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// sweep ends what earlier campaigns have left running here, and removes their data and secrets.
func sweep(root string) {
	for _, dir := range left(root) {
		if !strings.HasPrefix(filepath.Base(dir), keptPrefix) {
			_ = campaign.SweepTrials(filepath.Join(dir, runDir))
			forget(dir)
		}
	}
}

// hostOf identifies the machine: what has the same lock cannot measure at a time, under whatever name.
func hostOf(lock string) string {
	boot, _ := regular.ReadFile("/proc/sys/kernel/random/boot_id", 100) // without it the path alone serves
	if path, err := filepath.EvalSymlinks(filepath.Dir(lock)); err == nil {
		lock = filepath.Join(path, filepath.Base(lock))
	}
	return string(bytes.TrimSpace(boot)) + " " + lock
}

// clearPrograms removes the programs beside this one that no agent holds.
func clearPrograms(text string) error {
	all := filepath.Dir(filepath.Dir(text)) // each is in a directory of its digest
	if !strings.HasSuffix(all, programsPath) {
		return nil // it was not installed by a coordinator
	}
	entries, err := os.ReadDir(all)
	for _, e := range entries {
		dir := filepath.Join(all, e.Name())
		f, ferr := regular.Open(filepath.Join(dir, programName))
		if ferr == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			f.Close()
			continue
		}
		err = errors.Join(err, os.RemoveAll(dir))
		if ferr == nil {
			f.Close()
		}
	}
	_ = os.Remove(all) // if nothing is left
	return err
}
