package flame

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func draw(t *testing.T, g *Graph) string {
	t.Helper()
	var b strings.Builder
	expect.NoError(t, g.Draw(&b))
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
	}
}

func example() *Node {
	return &Node{Name: "all", Base: 20, New: 26, Differs: true, Children: []*Node{
		{Name: "mysql_execute_command<int> & co", Base: 12, New: 12, Children: []*Node{{Name: "MYSQLparse", New: 8, Differs: true}, {Name: "gone", Base: 6, Differs: true}}},
		{Name: "compress", Base: 4, New: 4.5, Differs: true},
		{Name: "chance", Base: 1, New: 2},
		{Name: "tiny", Base: 0.001, New: 0.001},
	}}
}

func TestGolden(t *testing.T) {
	for name, g := range map[string]*Graph{
		"plain": {Title: "innodb in read-only", Unit: "µs per query", Base: "innodb", Root: example()},
		"two":   {Title: "innodb and innodb-text in read-only", Unit: "µs per query", Base: "innodb", New: "innodb-text", Root: example()},
	} {
		got, file := draw(t, g), "testdata/"+name+".svg"
		if *update {
			expect.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != got {
			t.Errorf("%s: %v; rewrite it with -update, and look at it in a browser:\n%s", file, err, got)
		}
	}
}

// Boxes say what they are without colour: the sign of what differs, hatching of what is
// on one side only, both costs when pointed at.
func TestBoxes(t *testing.T) {
	text := draw(t, &Graph{Unit: "µs per query", Base: "a", New: "b", Root: example()})
	expect.All(t, text,
		">+ all</text>", ">− gone</text>", ">chance</text>", "a 20, b 26, +6 µs per query</title>", "a 1, b 2, +1 µs per query (may be chance)",
		`x="0.0" y="46" width="1200.0"`,
	)
	expect.Equal(t, strings.Count(text, `class="h"`), 2, "boxes are hatched, those of MYSQLparse and gone")
	expect.Lacks(t, text, "tiny", "a box too small to be seen is drawn")
}

// A great tree is drawn within the limits, the widest boxes of it.
func TestLimits(t *testing.T) {
	root := &Node{Name: "all"}
	for i := range 300 {
		c := &Node{Name: fmt.Sprintf("function_with_quite_a_long_name_%d", i)}
		for k := range 400 {
			leaf := &Node{Name: fmt.Sprintf("called_function_with_a_long_name_%d_%d", i, k), Base: 1 + float64(k%7), New: 1, Differs: k%2 == 0}
			c.Children = append(c.Children, leaf)
			c.Base, c.New = c.Base+leaf.Base, c.New+leaf.New
		}
		root.Children = append(root.Children, c)
		root.Base, root.New = root.Base+c.Base, root.New+c.New
	}
	deep := root
	for i := range 3000 {
		next := &Node{Name: fmt.Sprintf("recursion_%d", i), Base: root.Base, New: root.New}
		deep.Children, deep = append(deep.Children, next), next
	}
	text := draw(t, &Graph{Unit: "µs", Base: "a", New: "b", Root: root})
	n := strings.Count(text, "<title>")
	expect.True(t, n != 0 && n <= maxNodes && len(text) <= maxBytes, n, len(text))
}

func TestFit(t *testing.T) {
	for wide, want := range map[float64]string{10: "", 26: "my…", 200: "mysql_insert"} {
		expect.Equal(t, Fit("mysql_insert", wide), want, wide)
	}
}
