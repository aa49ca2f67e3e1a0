package base

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
)

// File is a file of a base.
type File struct {
	Path string    `json:"path"` // below the base's data
	Size int64     `json:"size"`
	Time time.Time `json:"modified"`
	// Sum is the checksum of the content: CRC-32C of its blocks that are not zero, with their offsets.
	Sum uint32 `json:"crc32c"`

	cloned bool // it shares its blocks with the original, and has no checksum
}

// is reports whether a file that was copied is the one that was kept.
func (f File) is(kept File) bool {
	return f.Path == kept.Path && f.Size == kept.Size &&
		(f.Sum == kept.Sum && !f.cloned || f.cloned && f.Time.Equal(kept.Time))
}

// blockSize is the unit of copying and of checksums.
const blockSize = 64 << 10

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	zeros      = make([]byte, blockSize)
)

// copyTree copies a directory that nothing changes meanwhile, with owners, modes and times, and returns
// its regular files. With clones set, files share their blocks with the originals where the file system
// can do that.
func copyTree(source, target string, clones bool) (files []File, err error) {
	var dirs []string // the deepest last
	err = filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		copied := filepath.Join(target, below)
		switch d.Type() {
		case fs.ModeDir:
			dirs = append(dirs, below)
			if err := os.Mkdir(copied, 0o700); err != nil && (below != "." || !errors.Is(err, fs.ErrExist)) {
				return err
			}
			return nil
		case fs.ModeSymlink:
			return copyLink(path, copied)
		case fs.ModeSocket, fs.ModeNamedPipe:
			return nil // what a server has left
		case 0:
		default:
			return fmt.Errorf("%s is neither a file nor a directory", path)
		}
		f, err := copyFile(path, copied, clones)
		if err != nil {
			return fmt.Errorf("copy %s: %w", path, err)
		}
		f.Path = below
		files = append(files, f)
		return like(path, copied)
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		err = like(filepath.Join(source, dirs[i]), filepath.Join(target, dirs[i]))
	}
	return files, err
}

// copyLink copies a symbolic link. One that leads elsewhere is refused: the copy would change what is
// there.
func copyLink(path, copied string) error {
	leads, err := os.Readlink(path)
	if err != nil {
		return err
	}
	if filepath.IsAbs(leads) || !filepath.IsLocal(leads) {
		return hint.Errorf("the data must be in one directory", "%s is a link to %s, which is not copied", path, leads)
	}
	return os.Symlink(leads, copied)
}

// like gives a copy the owner, the mode and the times of the original.
func like(path, copied string) error {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return err
	}
	if err := os.Lchown(copied, int(st.Uid), int(st.Gid)); err != nil && os.Geteuid() == 0 {
		return err // else it is this user's
	}
	if err := syscall.Chmod(copied, st.Mode&0o7777); err != nil {
		return err
	}
	return syscall.UtimesNano(copied, []syscall.Timespec{st.Atim, st.Mtim})
}

// copyFile copies a file, with its allocation.
func copyFile(path, copied string, clone bool) (f File, err error) {
	in, f, err := open(path)
	if err != nil {
		return f, err
	}
	defer in.Close()
	out, err := os.OpenFile(copied, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if f.cloned = clone && unix.IoctlFileClone(int(out.Fd()), int(in.Fd())) == nil; f.cloned {
		return f, nil
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(int(in.Fd()), &st); err != nil {
		return f, err
	}
	if f.Size > 0 && st.Blocks*512 >= f.Size { // all of it is allocated: first writes must not be dearer in the copy
		if err := unix.Fallocate(int(out.Fd()), 0, 0, f.Size); errors.Is(err, syscall.ENOSPC) {
			return f, err
		}
	}
	if err := out.Truncate(f.Size); err != nil {
		return f, err
	}
	f.Sum, err = each(in, f.Size, func(block []byte, offset int64) error {
		_, err := out.WriteAt(block, offset)
		return err
	})
	return f, err
}

// summed returns what is known of a file, with its checksum.
func summed(path string) (f File, err error) {
	in, f, err := open(path)
	if err != nil {
		return f, err
	}
	defer in.Close()
	f.Sum, err = each(in, f.Size, func([]byte, int64) error { return nil })
	return f, err
}

func open(path string) (*os.File, File, error) {
	in, err := regular.Open(path)
	if err != nil {
		return nil, File{}, err
	}
	info, err := in.Stat()
	if err != nil {
		in.Close()
		return nil, File{}, err
	}
	return in, File{Size: info.Size(), Time: info.ModTime()}, nil
}

// each calls a function for each block of a file that is no hole, and returns the checksum of all.
func each(f *os.File, size int64, do func(block []byte, offset int64) error) (sum uint32, err error) {
	block := make([]byte, blockSize)
	for place := int64(0); place < size; {
		data, err := unix.Seek(int(f.Fd()), place, unix.SEEK_DATA)
		if errors.Is(err, syscall.ENXIO) {
			break // only a hole follows
		}
		if err == nil {
			place = data - data%blockSize // else the file system knows no holes
		}
		n, err := f.ReadAt(block[:min(blockSize, size-place)], place)
		if err != nil && !(errors.Is(err, io.EOF) && place+int64(n) == size) {
			return 0, err
		}
		if !bytes.Equal(block[:n], zeros[:n]) {
			sum = crc32.Update(sum, castagnoli, binary.LittleEndian.AppendUint64(nil, uint64(place)))
			sum = crc32.Update(sum, castagnoli, block[:n])
		}
		if err := do(block[:n], place); err != nil {
			return 0, err
		}
		place += int64(n)
	}
	return sum, nil
}

// user returns the PID of a process that has files below a directory open; "" if none is seen.
func user(dir string) string {
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if file, err := os.Readlink(fd); err == nil && strings.HasPrefix(file, dir+"/") {
			return strings.Split(fd, "/")[2]
		}
	}
	return ""
}
