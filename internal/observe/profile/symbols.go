package profile

import (
	"cmp"
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// find returns the function of an address among functions in order. A begin
// before the address is not enough: code without a symbol may follow the
// function.
func find(functions []function, address uint64) *function {
	i, found := slices.BinarySearchFunc(functions, address,
		func(f function, a uint64) int { return cmp.Compare(f.begin, a) })
	if !found {
		i--
	}
	if i < 0 || address >= functions[i].end {
		return nil
	}
	return &functions[i]
}

// inOrder sorts functions and leaves one name for each begin: the name with the
// fewest underscores at its start, then the shortest.
func inOrder(functions []function) []function {
	underscores := func(s string) int { return len(s) - len(strings.TrimLeft(s, "_")) }
	slices.SortFunc(functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(underscores(a.name), underscores(b.name)),
			cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	return slices.CompactFunc(functions, func(a, b function) bool { return a.begin == b.begin })
}

// symbols names addresses. It opens each file once, when its first address is
// asked for.
type symbols struct {
	kernel *image
	images map[file]*image
}

// opened are the images that recordings of this process have opened: a trial has many steps, and reading the functions
// of a server takes a tenth of a second. A cut holds the lock.
var opened = struct {
	sync.Mutex
	kernel *image
	images map[file]*image
}{images: map[file]*image{}}

// file is a file at one time: its path may be another's later.
type file struct {
	path  string
	inode uint64
}

// needed returns the files that were needed, in the order of their paths.
func (s *symbols) needed() (images []Image) {
	for _, i := range s.images {
		images = append(images, i.Image)
	}
	slices.SortFunc(images, func(a, b Image) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.BuildID, b.BuildID))
	})
	return images
}

// kernelFrame returns the function of an address of the kernel.
func (s *symbols) kernelFrame(address uint64) Frame {
	if s.kernel == nil {
		if opened.kernel == nil {
			opened.kernel = &image{Image: Image{Name: KernelImage}, named: kernelFunctions("/proc/kallsyms")}
		}
		s.kernel = opened.kernel
	}
	return s.kernel.frame(address)
}

// frame returns the function of an address in a mapping, nil if it is in none.
func (s *symbols) frame(m *mapping, address uint64) Frame {
	switch {
	case m == nil || m.path == "" || strings.HasPrefix(m.path, "//anon"):
		return Frame{Name: "[unknown]"}
	case strings.HasPrefix(m.path, "["):
		return Frame{m.path, m.path}
	}
	key := file{m.path, m.inode}
	if s.images[key] == nil {
		if s.images[key] = opened.images[key]; s.images[key] == nil {
			s.images[key] = openMapped(m)
		}
		if s.images[key].named != nil { // else the next recording may find the file
			opened.images[key] = s.images[key]
		}
	}
	return s.images[key].frame(address - m.begin + m.offset)
}

// kernelFunctions reads the kernel's symbols: address, type, name. Their sizes are
// unknown, and without the right to see addresses all of them are 0.
func kernelFunctions(path string) (functions []function) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		field := strings.Fields(line)
		if len(field) < 3 || !strings.Contains("tTwW", field[1]) {
			continue
		}
		if begin, err := strconv.ParseUint(field[0], 16, 64); err == nil && begin > 0 {
			functions = append(functions, function{begin: begin, name: field[2]})
		}
	}
	functions = inOrder(functions)
	for i := range functions[:max(0, len(functions)-1)] {
		functions[i].end = functions[i+1].begin
	}
	return functions
}

// image is the functions of a file.
type image struct {
	Image
	goCode         bool
	segments       []elf.ProgHeader
	named, unnamed []function
}

// frame returns the function at an offset of the file.
func (i *image) frame(offset uint64) Frame {
	address := offset
	for _, s := range i.segments {
		if s.Off <= offset && offset < s.Off+s.Filesz {
			address = offset - s.Off + s.Vaddr
		}
	}
	if f := find(i.named, address); f != nil {
		if !f.readable {
			f.name, f.readable = readable(f.name, i.goCode), true
		}
		return Frame{f.name, i.Name}
	}
	if f := find(i.unnamed, address); f != nil {
		return Frame{fmt.Sprintf("%s@%x", i.Name, f.begin), i.Name}
	}
	return Frame{i.Name + "@?", i.Name}
}

// openMapped opens the file of a mapping: at its path if it is the same file, else
// through the process, if it still runs (the file was replaced, or is a
// container's). Without the file an image has no functions.
func openMapped(m *mapping) *image {
	path := strings.TrimSuffix(m.path, " (deleted)")
	if info, err := os.Stat(path); err != nil || inode(info) != m.inode {
		path = fmt.Sprintf("/proc/%d/map_files/%x-%x", m.pid, m.begin, m.end)
	}
	i, err := openImage(path)
	if err != nil {
		i = new(image)
	}
	i.Path = m.path
	i.Name = imageName(m.path)
	return i
}

// openImage reads the functions of an ELF file: its symbols, those of its debug
// file if one is installed, Go's own table, and the tables for exceptions.
func openImage(path string) (*image, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	i := &image{Image: Image{Name: filepath.Base(path), Path: path, BuildID: buildID(f)}}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			i.segments = append(i.segments, p.ProgHeader)
		}
	}
	static, _ := f.Symbols()
	if len(static) == 0 && len(i.BuildID) > 2 {
		if debug, err := elf.Open("/usr/lib/debug/.build-id/" + i.BuildID[:2] + "/" + i.BuildID[2:] + ".debug"); err == nil {
			static, _ = debug.Symbols()
			debug.Close()
		}
	}
	exported, _ := f.DynamicSymbols()
	i.named = functionsOf(append(static, exported...))
	table := cmp.Or(f.Section(".gopclntab"), f.Section(".data.rel.ro.gopclntab"))
	i.goCode = table != nil
	if i.goCode && len(static) == 0 {
		i.named = append(i.named, goFunctions(f, table)...)
	}
	i.named, i.unnamed = inOrder(i.named), inOrder(unwound(f))
	return i, nil
}

// functionsOf returns the symbols that are functions of a known size, and those of assembler, which ends where the next
// function begins.
func functionsOf(symbols []elf.Symbol) (functions []function) {
	var sizeless []function
	for _, s := range symbols {
		kind, f := elf.ST_TYPE(s.Info), function{begin: s.Value, end: s.Value + s.Size, name: s.Name}
		switch {
		case s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE:
		case (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Size > 0:
			functions = append(functions, f)
		case kind == elf.STT_NOTYPE && s.Size == 0 && elf.ST_BIND(s.Info) == elf.STB_GLOBAL &&
			elf.ST_VISIBILITY(s.Other) == elf.STV_HIDDEN:
			sizeless = append(sizeless, f)
		}
	}
	slices.SortFunc(functions, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
	for _, f := range sizeless {
		i, _ := slices.BinarySearchFunc(functions, f.begin,
			func(o function, at uint64) int { return cmp.Compare(o.begin, at) })
		if i < len(functions) && functions[i].begin > f.begin && !strings.HasPrefix(f.name, "_") {
			f.end = functions[i].begin
			functions = slices.Insert(functions, i, f)
		}
	}
	return functions
}

// goFunctions returns the functions of Go's own table, which a stripped program
// keeps.
func goFunctions(f *elf.File, section *elf.Section) (functions []function) {
	data, err := section.Data()
	text := f.Section(".text")
	if err != nil || text == nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, goText(f, data, text)))
	if err != nil {
		return nil
	}
	for _, f := range table.Funcs {
		functions = append(functions, function{begin: f.Entry, end: f.End, name: f.Name})
	}
	return functions
}

// goText returns the address at which the text of Go begins; the table of functions is
// relative to it. In a program with C that is behind the begin of the section. Go 1.26
// and later has the address in the module's data, which are a separate section; before,
// the header of the table had it.
func goText(f *elf.File, table []byte, text *elf.Section) uint64 {
	const word = 8
	at := func(data []byte, i int) uint64 {
		if len(data) < word*(i+1) {
			return 0
		}
		return f.ByteOrder.Uint64(data[word*i:])
	}
	inText := func(a uint64) bool { return text.Addr <= a && a < text.Addr+text.Size }
	// Of moduledata in runtime/symtab.go: minpc, maxpc, text.
	const minimum, begin = 20, 22
	if section := f.Section(".go.module"); section != nil {
		if data, err := section.Data(); err == nil && inText(at(data, begin)) && at(data, begin) <= at(data, minimum) {
			return at(data, begin)
		}
	}
	const inHeader = 3
	if a := at(table, inHeader); inText(a) {
		return a
	}
	return text.Addr
}

// buildID returns the identifier of a build, from the note that linkers write:
// its three sizes, its owner's name, the id.
func buildID(f *elf.File) string {
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		return ""
	}
	note, err := section.Data()
	const id = 16
	if err != nil || len(note) < id {
		return ""
	}
	return fmt.Sprintf("%x", note[id:])
}

// mapping is a part of a file that a process mapped as code.
type mapping struct {
	pid                int32
	begin, end, offset uint64
	inode              uint64
	path               string
}

// inode returns the number of a file in its file system.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}

// imageName returns the name of a file in the form used by frames.
func imageName(path string) string { return filepath.Base(strings.TrimSuffix(path, " (deleted)")) }
