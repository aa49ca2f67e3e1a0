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
)

// function is the code of a function. Without a name only its place is known.
type function struct {
	begin, end uint64
	name       string
}

// find returns the function of an address among functions in order. Which one
// begins before is not enough: code without a symbol may follow it.
func find(functions []function, address uint64) *function {
	i, found := slices.BinarySearchFunc(functions, address, func(f function, a uint64) int { return cmp.Compare(f.begin, a) })
	if !found {
		i--
	}
	if i < 0 || address >= functions[i].end {
		return nil
	}
	return &functions[i]
}

// inOrder sorts functions and leaves one name for each begin: that with the fewest
// underscores at its begin, then the shortest.
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
	kallsyms string // path of the kernel's symbols
	kernel   []function
	images   map[string]*image // by path and inode
	readable map[string]string // of symbols
}

func newSymbols(kallsyms string) symbols {
	return symbols{kallsyms: kallsyms, images: make(map[string]*image), readable: make(map[string]string)}
}

// opened returns the files that were needed, in the order of their paths.
func (s *symbols) opened() (images []Image) {
	for _, i := range s.images {
		images = append(images, i.Image)
	}
	slices.SortFunc(images, func(a, b Image) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.BuildID, b.BuildID)) })
	return images
}

// kernelFrame returns the function of an address of the kernel.
func (s *symbols) kernelFrame(address uint64) Frame {
	if s.kernel == nil {
		s.kernel = kernelFunctions(s.kallsyms)
	}
	if f := find(s.kernel, address); f != nil {
		return Frame{s.name(f.name, false), KernelImage}
	}
	return Frame{KernelImage + "@?", KernelImage}
}

// kernelFunctions reads the kernel's symbols: address, type, name. Their sizes are
// unknown, and without the right to see addresses all of them are 0.
func kernelFunctions(path string) []function {
	functions := []function{}
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

// frame returns the function of an address in a mapping, nil if it is in none.
func (s *symbols) frame(m *mapping, address uint64) Frame {
	switch {
	case m == nil || m.path == "" || strings.HasPrefix(m.path, "//anon"):
		return Frame{Name: "[unknown]"}
	case strings.HasPrefix(m.path, "["):
		return Frame{m.path, m.path}
	}
	key := m.path + strconv.FormatUint(m.inode, 16)
	i := s.images[key]
	if i == nil {
		i = openMapped(m)
		s.images[key] = i
	}
	return Frame{s.nameIn(i, address-m.begin+m.offset), i.Name}
}

// nameIn returns the name of the function at an offset of a file.
func (s *symbols) nameIn(i *image, offset uint64) string {
	address := i.address(offset)
	if f := find(i.named, address); f != nil {
		return s.name(f.name, i.goCode)
	}
	if f := find(i.unnamed, address); f != nil {
		return fmt.Sprintf("%s@%x", i.Name, f.begin)
	}
	return i.Name + "@?"
}

func (s *symbols) name(symbol string, goCode bool) string {
	name, ok := s.readable[symbol]
	if !ok {
		name = readable(symbol, goCode)
		s.readable[symbol] = name
	}
	return name
}

// image is the functions of a file.
type image struct {
	Image
	goCode         bool
	segments       []elf.ProgHeader
	named, unnamed []function
}

// address returns the address, as the file has it, of an offset in it.
func (i *image) address(offset uint64) uint64 {
	for _, s := range i.segments {
		if s.Off <= offset && offset < s.Off+s.Filesz {
			return offset - s.Off + s.Vaddr
		}
	}
	return offset
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
// file if one is installed, Go's own table, and what exceptions need.
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
	exported, _ := f.DynamicSymbols()
	i.named = append(functionsOf(static), functionsOf(exported)...)
	if len(static) == 0 && len(i.BuildID) > 2 {
		i.named = append(i.named, debugFunctions("/usr/lib/debug/.build-id/"+i.BuildID[:2]+"/"+i.BuildID[2:]+".debug")...)
	}
	table := cmp.Or(f.Section(".gopclntab"), f.Section(".data.rel.ro.gopclntab"))
	i.goCode = table != nil
	if i.goCode && len(static) == 0 {
		i.named = append(i.named, goFunctions(f, table)...)
	}
	i.named, i.unnamed = inOrder(i.named), inOrder(unwound(f))
	return i, nil
}

// functionsOf returns the symbols that are functions of a known size.
func functionsOf(symbols []elf.Symbol) (functions []function) {
	for _, s := range symbols {
		if kind := elf.ST_TYPE(s.Info); (kind == elf.STT_FUNC || kind == elf.STT_GNU_IFUNC) && s.Size > 0 && s.Section != elf.SHN_UNDEF {
			functions = append(functions, function{s.Value, s.Value + s.Size, s.Name})
		}
	}
	return functions
}

func debugFunctions(path string) []function {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	static, _ := f.Symbols()
	return functionsOf(static)
}

// goFunctions returns the functions of Go's own table, which a stripped program
// keeps.
func goFunctions(f *elf.File, section *elf.Section) (functions []function) {
	data, err := section.Data()
	text := f.Section(".text")
	if err != nil || text == nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	for _, f := range table.Funcs {
		functions = append(functions, function{f.Entry, f.End, f.Name})
	}
	return functions
}

// buildID returns what identifies a build, from the note that linkers write.
func buildID(f *elf.File) string {
	for _, name := range []string{".note.gnu.build-id", ".note.go.buildid"} {
		section := f.Section(name)
		if section == nil {
			continue
		}
		note, err := section.Data()
		if err != nil || len(note) < 12 {
			continue
		}
		nameSize, size := uint64(f.ByteOrder.Uint32(note)), uint64(f.ByteOrder.Uint32(note[4:]))
		begin := 12 + (nameSize+3)&^3
		if begin+size > uint64(len(note)) {
			continue
		}
		if name == ".note.go.buildid" {
			return string(note[begin : begin+size])
		}
		return fmt.Sprintf("%x", note[begin:begin+size])
	}
	return ""
}
