package profile

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/pprof/profile"

	"rumbench/internal/expect"
)

// example is a profile of two seconds.
func example() *Profile {
	ms := time.Millisecond
	return &Profile{
		Window: 2500 * ms, Period: 10 * ms, Lost: 3,
		Images: []Image{{"mariadbd", "/usr/sbin/mariadbd", "abcd"}, {"old", "/bin/old (deleted)", ""}},
		Frames: []Frame{{"start_thread", ""}, {"f;g", "mariadbd"}, {"mariadbd@12", "mariadbd"}, {"vfs_write", KernelImage}, {"_start", ""}},
		Samples: []Sample{
			{Server, "mariadbd", "worker", []int32{0, 1, 2}, []Part{{0, 30 * ms}, {1, 10 * ms}}},
			{Server, "mariadbd", "worker", []int32{0, 1}, []Part{{1, 20 * ms}}},
			{Server, "mariadbd", "other", []int32{1, 2, 1, 3}, []Part{{1, 10 * ms}}},
			{Client, "rumbench", "rumbench", []int32{4, 3}, []Part{{0, 20 * ms}}},
			{Other, "cron", "cron", []int32{}, []Part{{1, 10 * ms}}},
		},
	}
}

func TestFolded(t *testing.T) {
	p := example()
	p.Frames[4].Name = "start_thread" // two stacks that read alike are one line
	p.Samples = append(p.Samples, Sample{Client, "rumbench", "rumbench", []int32{0, 3}, []Part{{1, time.Millisecond}}})
	var b strings.Builder
	expect.NoError(t, p.WriteFolded(&b))
	want := `client rumbench;rumbench;start_thread;vfs_write 21000000
other cron;cron 10000000
server mariadbd;other;f:g;mariadbd@12;f:g;vfs_write 10000000
server mariadbd;worker;start_thread;f:g 20000000
server mariadbd;worker;start_thread;f:g;mariadbd@12 40000000
`
	expect.Equal(t, b.String(), want)
}

func TestPprof(t *testing.T) {
	var b bytes.Buffer
	expect.NoError(t, example().WritePprof(&b))
	written := b.Bytes()
	got := expect.Value(ReadPprof(&b))(t)
	// Frames are numbered as they are met.
	resolve := func(p *Profile) (out [][]Frame) {
		for _, s := range p.Samples {
			stack := []Frame{}
			for _, f := range s.Stack {
				stack = append(stack, p.Frames[f])
			}
			out = append(out, stack)
		}
		return out
	}
	want := example()
	expect.Same(t, resolve(want), resolve(got))
	for _, p := range []*Profile{got, want} {
		p.Frames = nil
		for i := range p.Samples {
			p.Samples[i].Stack = nil
		}
	}
	expect.Same(t, want, got, cmpopts.IgnoreUnexported(Profile{}))
	other, err := profile.ParseData(written) // as other tools see it
	expect.True(t, err == nil && other.CheckValid() == nil && len(other.Sample) == 6 && other.Sample[0].Location[0].Line[0].Function.Name == "mariadbd@12", err, other)
	other.Sample[0].Label["side"] = []string{"else"}
	b.Reset()
	expect.NoError(t, other.Write(&b))
	expect.Refused(ReadPprof(&b))(t, "", "a profile of another program was read")
	expect.Refused(ReadPprof(strings.NewReader("nothing")))(t, "", "text was read")
}

func TestFunctions(t *testing.T) {
	p := example().Of(Server)
	want := []Cost{
		{Frame{"mariadbd@12", "mariadbd"}, 4000, 5000},
		{Frame{"f;g", "mariadbd"}, 2000, 7000},
		{Frame{"vfs_write", KernelImage}, 1000, 1000},
		{Frame{"start_thread", ""}, 0, 6000},
	}
	expect.Same(t, want, p.Functions(10))
	got := p.Rooted()
	expect.True(t, math.Abs(got-6.0/7) <= 1e-12, got)
	expect.True(t, math.IsNaN(new(Profile).Rooted()) && new(Profile).Count() == 0, "an empty profile has samples")
}

// TestCheck: seven samples may be 115 % off, hundred times as many 13 %.
func TestCheck(t *testing.T) {
	p := example().Of(Server)
	for accounted, ok := range map[time.Duration]bool{70: true, 41: true, 400: true, 31: false} {
		if err := p.Check(accounted * time.Millisecond); (err == nil) != ok {
			t.Errorf("%d: %v", accounted, err)
		}
	}
	for i := range p.Samples {
		for j := range p.Samples[i].Parts {
			p.Samples[i].Parts[j].CPU *= 100
		}
	}
	for accounted, ok := range map[time.Duration]bool{7000: true, 6200: true, 8000: true, 6100: false, 8200: false} {
		if err := p.Check(accounted * time.Millisecond); (err == nil) != ok {
			t.Errorf("%d: %v", accounted, err)
		}
	}
}
