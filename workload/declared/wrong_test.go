package declared

import (
	goflag "flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

var update = goflag.Bool("update", false, "write the golden files anew")

// Every testdata/wrong/*.yaml gives the problems of the .txt beside it, all at once.
func TestWrong(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	expect.Must(t, err == nil && len(files) >= 40, "found", len(files), "wrong files", err)
	for _, file := range files {
		base := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(base, func(t *testing.T) {
			src, err := os.ReadFile(file)
			expect.NoError(t, err)
			_, err = Read(base+".yaml", src)
			expect.Must(t, err != nil, "the file is accepted")
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			got := err.Error() + "\n"
			if *update {
				expect.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			expect.NoError(t, err)
			expect.Equal(t, cmp.Diff(string(want), got), "")
		})
	}
}

// Any content of a file is read or refused, in little time.
func FuzzRead(f *testing.F) {
	for _, pattern := range []string{"testdata/wrong/*.yaml", "files/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(err, files)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		stop := time.AfterFunc(20*time.Second, func() { panic("Read hangs") })
		defer stop.Stop()
		w, err := Read("f.yaml", src)
		expect.Must(t, (w == nil) != (err == nil), "gave", w, "and", err)
		if err == nil {
			return
		}
		problems := err.(hint.Problems)
		expect.True(t, len(problems) != 0, "it is refused without a problem")
		for _, p := range problems {
			expect.True(t, p.Reason != "" && p.Column >= 1 && p.Line >= 1, "bad place", p)
			_ = p.String()
		}
	})
}
