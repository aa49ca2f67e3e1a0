package profile

import "debug/elf"

// function is the code of a function. Without a name only its place is known.
type function struct {
	begin, end uint64
	name       string
	readable   bool // the name is no symbol any more
}

// unwound returns the functions that .eh_frame_hdr lists: begins and ends
// without names, also in stripped files, because exceptions need them. The end
// is taken from .eh_frame if its usual encoding is confirmed by the begin;
// otherwise it is the next begin.
func unwound(f *elf.File) []function {
	const (
		header   = 12   // version, three encodings, address of .eh_frame, count
		pointer4 = 0x1b // relative to its own address, 4 bytes with sign
		count4   = 0x03 // 4 bytes
		table4   = 0x3b // relative to this section, 4 bytes with sign
	)
	section := f.Section(".eh_frame_hdr")
	if section == nil {
		return nil
	}
	table, err := section.Data()
	if err != nil || len(table) < header || table[0] != 1 || table[1] != pointer4 || table[2] != count4 ||
		table[3] != table4 {
		return nil
	}
	n := min(int(f.ByteOrder.Uint32(table[8:])), (len(table)-header)/8)
	at := func(i int) uint64 { return section.Addr + uint64(int64(int32(f.ByteOrder.Uint32(table[header+4*i:])))) }
	functions := make([]function, n)
	ends := entryEnds(f)
	for i := range functions {
		begin := at(2 * i)
		end := ends(begin, at(2*i+1))
		if end == 0 && i+1 < n {
			end = at(2*i + 2)
		}
		functions[i] = function{begin: begin, end: end}
	}
	return functions
}

// entryEnds returns a function that reads the end of the code that an entry of
// .eh_frame describes, 0 if the entry has a different encoding.
func entryEnds(f *elf.File) func(begin, entry uint64) uint64 {
	none := func(uint64, uint64) uint64 { return 0 }
	section := f.Section(".eh_frame")
	if section == nil {
		return none
	}
	data, err := section.Data()
	if err != nil {
		return none
	}
	return func(begin, entry uint64) uint64 {
		const position, size = 8, 16 // after the entry's length and the offset of its parent
		if entry < section.Addr || entry-section.Addr+size > uint64(len(data)) {
			return 0
		}
		record := data[entry-section.Addr:]
		if entry+position+uint64(int64(int32(f.ByteOrder.Uint32(record[position:])))) != begin {
			return 0
		}
		return begin + uint64(f.ByteOrder.Uint32(record[position+4:]))
	}
}
