package page

import (
	"io/fs"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/escape"
)

// What is put into the page is written as it is: its hash would be another's.
func TestAssetsArePlain(t *testing.T) {
	err := fs.WalkDir(assets, "assets", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := assets.ReadFile(path)
		text := string(b)
		expect.Equal(t, text, escape.Text(text), "has characters that are not shown", path)
		expect.Lacks(t, text, "\r", "has characters that are not shown", path)
		return err
	})
	expect.NoError(t, err)
}

// Addresses become links, whatever stands around them.
func TestLinked(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(linked("see https://a.b/c?d=1&e=2. <b>")), `see <a href="https://a.b/c?d=1&amp;e=2" rel="noreferrer">https://a.b/c?d=1&amp;e=2</a>. &lt;b&gt;`},
		{string(linked(`https://a.b/"onload="x`)), `<a href="https://a.b/" rel="noreferrer">https://a.b/</a>&#34;onload=&#34;x`},
	} {
		expect.Equal(t, c.got, c.want)
	}
}
