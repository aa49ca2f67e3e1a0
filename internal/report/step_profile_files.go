package report

import (
	"cmp"
	"fmt"
	"slices"

	"rumbench/internal/observe/blockio"
	"rumbench/internal/page"
)

// transfers are the columns of FileTable.
var transfers = []blockio.Op{blockio.Read, blockio.Write, blockio.Discard}

// transferred is the I/O on files of a class, per unit.
type transferred struct {
	name     string
	kb       [3]float64 // as transfers
	requests float64    // reads and writes
}

func (t *transferred) add(o *transferred) {
	for i := range t.kb {
		t.kb[i] += o.kb[i]
	}
	t.requests += o.requests
}

// FileTable shows the reads and writes of the device in a step, by class of file, and
// the sum next to the device's own count. Tables beyond the most written are one row.
func FileTable(p *Profile, limit int) page.Table {
	t := page.Table{Title: "Files of " + p.Target, Head: "KB per " + p.Per,
		Columns: []page.Column{{Name: "read"}, {Name: "written"}, {Name: "discarded"},
			{Name: "requests", Title: "that read or write, per " + p.Per}},
		Note: "By the requests that the device was given, the sync after the step included."}
	all := transferred{name: "in all"}
	list := byClass(p)
	for i := range list {
		all.add(&list[i])
	}
	rest := transferred{name: "other classes and tables"}
	for len(list) > limit {
		rest.add(&list[len(list)-1])
		list = list[:len(list)-1]
	}
	if rest != (transferred{name: rest.name}) {
		list = append(list, rest)
	}
	for _, c := range append(list, all) {
		t.Add(plainRow(c.name, costCell(c.kb[0]), costCell(c.kb[1]), costCell(c.kb[2]), costCell(c.requests)))
	}
	read, known := p.Device[blockio.Read]
	written, too := p.Device[blockio.Write]
	if known && too {
		apart := page.Absent("see the step’s costs")
		t.Add(plainRow("the device, without rumbench’s own files", costCell(read), costCell(written), apart, apart))
	}
	return t
}

// byClass sums the rows of classes, the most KB first.
func byClass(p *Profile) (list []transferred) {
	at := map[blockio.Class]int{}
	for _, r := range p.Files.Rows {
		if r.Op == blockio.Flush {
			continue
		}
		i, known := at[r.Class]
		if !known {
			i = len(list)
			at[r.Class] = i
			list = append(list, transferred{name: r.Use})
			if r.Name != "" {
				list[i].name += ": " + r.Name
			}
		}
		list[i].kb[slices.Index(transfers, r.Op)] += r.KB / p.Units
		if r.Op != blockio.Discard {
			list[i].requests += float64(r.Requests) / p.Units
		}
	}
	slices.SortFunc(list, func(a, b transferred) int {
		return cmp.Or(cmp.Compare(b.kb[1]+b.kb[0], a.kb[1]+a.kb[0]), cmp.Compare(a.name, b.name))
	})
	return list
}

// SleepTable shows where the threads of a target slept longest.
func SleepTable(p *Profile, limit int) page.Table {
	t := page.Table{Title: "Where threads of " + p.Target + " slept", Head: "µs per " + p.Per,
		Columns: []page.Column{{Name: "asleep"}, {Name: "threads", Title: "on average"}, {Name: "system call"},
			{Name: "kernel"}, {Name: "file"}}, Note: fmt.Sprintf("From %d samples of /proc.", p.Asleep.Looks)}
	for _, s := range p.Asleep.Sleeps[:min(limit, len(p.Asleep.Sleeps))] {
		cost, threads := float64(s.Time.Nanoseconds())/1e3/p.Units, float64(s.Time)/float64(p.Asleep.Window)
		t.Add(plainRow(s.Thread, costCell(cost), costCell(threads), page.Words(s.Syscall), page.Words(s.Kernel),
			page.Words(s.File)))
	}
	return t
}
