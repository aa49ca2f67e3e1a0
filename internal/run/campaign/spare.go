package campaign

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"rumbench/internal/result"
)

// spare is the path of a file that reserves space on the disk while a campaign
// runs. When the disk is full it is given up, so that the measurements and the
// report can be written.
type spare string

const spareSize = 16 << 20

func (s spare) take() error {
	f, err := os.OpenFile(string(s), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("take room for the report: %w", err)
	}
	err = syscall.Fallocate(int(f.Fd()), 0, 0, spareSize)
	f.Close()
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return s.give() // the file system cannot; it is done without
	}
	if err != nil {
		return fmt.Errorf("take room for the report: %w", err)
	}
	return nil
}

func (s spare) give() error {
	if err := os.Remove(string(s)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// writeJSON writes one of the campaign's files, in the spare room if there is no
// other.
func (s spare) writeJSON(path string, v any) error {
	err := result.WriteJSON(path, v)
	if errors.Is(err, syscall.ENOSPC) && s.give() == nil {
		err = result.WriteJSON(path, v)
	}
	return err
}
