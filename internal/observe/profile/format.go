package profile

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// WritePprof writes the profile as go tool pprof reads it, compressed. Side,
// process, thread and the second of the window are labels, so that ReadPprof
// loses nothing.
func (p *Profile) WritePprof(w io.Writer) error {
	cpu := &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	out := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, cpu},
		PeriodType: cpu, Period: int64(p.Period), DurationNanos: int64(p.Window),
		Comments: []string{fmt.Sprintf("lost records: %d", p.Lost)},
	}
	mappings := make(map[string]*profile.Mapping) // by name; the first of two builds
	for _, i := range append(slices.Clone(p.Images), Image{Name: KernelImage, Path: KernelImage}) {
		m := &profile.Mapping{ID: uint64(len(out.Mapping) + 1), File: i.Path, BuildID: i.BuildID, HasFunctions: true}
		out.Mapping = append(out.Mapping, m)
		if mappings[i.Name] == nil {
			mappings[i.Name] = m
		}
	}
	for i, f := range p.Frames {
		id := uint64(i + 1)
		fn := &profile.Function{ID: id, Name: f.Name, SystemName: f.Name, Filename: f.Image}
		out.Function = append(out.Function, fn)
		out.Location = append(out.Location,
			&profile.Location{ID: id, Mapping: mappings[f.Image], Line: []profile.Line{{Function: fn}}})
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		var stack []*profile.Location // the leaf first
		for _, f := range slices.Backward(s.Stack) {
			stack = append(stack, out.Location[f])
		}
		for _, part := range s.Parts {
			out.Sample = append(out.Sample, &profile.Sample{
				Location: stack, Value: []int64{int64(part.CPU / max(1, p.Period)), int64(part.CPU)},
				Label:    map[string][]string{"side": {s.Side.String()}, "process": {s.Process}, "thread": {s.Thread}},
				NumLabel: map[string][]int64{"second": {int64(part.Second)}},
				NumUnit:  map[string][]string{"second": {"seconds"}}, // a 0 without a unit is not written
			})
		}
	}
	if err := out.Write(w); err != nil {
		return fmt.Errorf("write profile: %w", err)
	}
	return nil
}

// ReadPprof reads the output of WritePprof.
func ReadPprof(r io.Reader) (*Profile, error) {
	in, err := profile.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p := &Profile{Window: time.Duration(in.DurationNanos), Period: time.Duration(in.Period)}
	for _, c := range in.Comments {
		fmt.Sscanf(c, "lost records: %d", &p.Lost) // other comments leave it as it is
	}
	for _, m := range in.Mapping {
		if m.File != KernelImage {
			p.Images = append(p.Images, Image{imageName(m.File), m.File, m.BuildID})
		}
	}
	c := newCutter(nil, p, nil)
	for _, s := range in.Sample {
		side := slices.Index(sideNames[:], first(s.Label["side"]))
		if side < 0 || len(s.NumLabel["second"]) != 1 || len(s.Value) != 2 {
			return nil, fmt.Errorf("read profile: it was not written by rumbench: a sample has no side, second or CPU time")
		}
		var frames []Frame
		for _, l := range slices.Backward(s.Location) {
			if len(l.Line) != 1 || l.Line[0].Function == nil {
				return nil, fmt.Errorf("read profile: it was not written by rumbench: a frame is not one function")
			}
			frames = append(frames, Frame{l.Line[0].Function.Name, l.Line[0].Function.Filename})
		}
		c.sum(owner{Side(side), first(s.Label["process"]), first(s.Label["thread"])}, c.pack(frames),
			int(s.NumLabel["second"][0]), time.Duration(s.Value[1]))
	}
	return p, nil
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// WriteFolded writes a line for each stack, as flamegraph.pl and speedscope read
// them: side and process, thread, the frames from the root, and the CPU time in ns.
func (p *Profile) WriteFolded(w io.Writer) error {
	sums := make(map[string]int64)
	var stacks []string
	name := strings.NewReplacer(";", ":", "\n", " ")
	for i := range p.Samples {
		s := &p.Samples[i]
		line := s.Side.String() + " " + name.Replace(s.Process) + ";" + name.Replace(s.Thread)
		for _, f := range s.Stack {
			line += ";" + name.Replace(p.Frames[f].Name)
		}
		if _, ok := sums[line]; !ok {
			stacks = append(stacks, line)
		}
		sums[line] += int64(s.CPU())
	}
	slices.Sort(stacks)
	out := bufio.NewWriter(w)
	for _, line := range stacks {
		fmt.Fprintln(out, line, sums[line])
	}
	return out.Flush()
}
