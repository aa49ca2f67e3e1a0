package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"rumbench/internal/result"
)

// spareFile takes room on the disk as long as a campaign runs. When the disk is
// full it is given up, so that what was measured and the report can be written.
const (
	spareFile = ".spare"
	spareSize = 16 << 20
)

func (r *runner) takeSpare() error {
	f, err := os.OpenFile(filepath.Join(r.Dir, spareFile), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("take room for the report: %w", err)
	}
	err = syscall.Fallocate(int(f.Fd()), 0, 0, spareSize)
	f.Close()
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return r.giveSpare() // the file system cannot; it is done without
	}
	if err != nil {
		return fmt.Errorf("take room for the report: %w", err)
	}
	return nil
}

func (r *runner) giveSpare() error {
	err := os.Remove(filepath.Join(r.Dir, spareFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// writeJSON writes one of the campaign's files, in the spare room if there is no
// other.
func (r *runner) writeJSON(path string, v any) error {
	err := result.WriteJSON(path, v)
	if errors.Is(err, syscall.ENOSPC) && r.giveSpare() == nil {
		err = result.WriteJSON(path, v)
	}
	return err
}
