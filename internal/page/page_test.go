package page_test

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/page"
)

// document has a block of each kind that text has a form for.
func document() (*page.Document, []page.Block) {
	n := page.NewNotes("s1")
	noted := page.Cell{Text: "8", Number: true, Value: 8, Ratio: "0.8×", Sign: "▼", Class: "worse", Data: []int{1, 2}}
	noted.Note(n.Mark("measured in the rain"))
	table := page.Table{Title: "Apples", Note: "Of one tree.", Head: "tree", Columns: []page.Column{{Name: "kg", Sub: "a day", Title: "their weight"}, {Name: "kind"}}, Groups: []page.Group{{
		Name: "old ones", Rows: []page.Row{
			{Head: "a", Series: 0, Base: true, Cells: []page.Cell{{Text: "10", Number: true, Value: 10}, page.Words("red | green")}},
			{Head: "b", Series: 1, Cells: []page.Cell{noted, page.Absent("nobody looked")}},
		}, Foot: []string{"b has no more"},
	}}}
	blocks := []page.Block{page.Banner("Wet."), page.Prose("about", "What fell."), page.List{Items: []page.Item{{Text: "one"}}}, table, n}
	sections := []page.Section{{ID: "s1", Title: "Fruit", Nav: "Fruit", Blocks: blocks}}
	return &page.Document{Title: "A <day>", Lead: []page.Block{page.Facts{Class: "facts", Facts: []page.Fact{{Name: "wind", Value: "none", Warning: "differs"}}}}, Sections: sections}, blocks
}

func TestText(t *testing.T) {
	_, blocks := document()
	wide := []page.Block{blocks[3]}
	tree := page.Tree{Text: "fruit"}
	apples := tree.Add("apples")
	apples.Add("red ones and %s ones", "green")
	apples.Add("rm -r all green ones").Verbatim = true
	for name, c := range map[string]struct {
		blocks []page.Block
		style  page.TextStyle
		want   string
	}{
		"whole": {blocks, page.TextStyle{}, `⚠ Wet.
What fell.
one

Apples
tree          kg  kind
  old ones
  a           10  red | green
  b   8 ⚠1 0.8×▼  –
  b has no more

⚠1 measured in the rain
`},
		"tree": {[]page.Block{tree, page.Prose("", "The end.")}, page.TextStyle{Width: 20}, `fruit

  apples
    red ones and
      green ones
    rm -r all green ones

The end.
`},
		"narrow": {wide, page.TextStyle{Width: 20, More: "look there"}, `
Apples
tree         kg
  old ones
  a          10
  b  8 ⚠1 0.8×▼
  b has no more
1 column did not fit into 20 characters; look there.
`},
		"wrapped": {wide, page.TextStyle{Width: 20, Wrap: true}, `
Apples
tree          kg
  old ones
  a           10
  b   8 ⚠1 0.8×▼
  b has no more
tree  kind
  old ones
  a   red | green
  b   –
  b has no more
`},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			expect.NoError(t, page.Text(&b, c.blocks, c.style))
			expect.Same(t, c.want, b.String())
		})
	}
}

func TestMarkdown(t *testing.T) {
	d, _ := document()
	var b strings.Builder
	expect.NoError(t, page.Markdown(&b, d, false))
	const want = `# A \<day>

- wind: none ⚠ differs

## Fruit

> ⚠ Wet.

What fell.

- one

### Apples

Of one tree.

| old ones | kg a day ⚠1 | kind |
|---|---:|---|
| a | 10 | red \| green |
| b | 8 (0.8× ▼) | – |

- ⚠1 1 of 2 numbers, of b: measured in the rain
`
	expect.Same(t, want, b.String())
}

func TestHTML(t *testing.T) {
	d, _ := document()
	var b strings.Builder
	expect.NoError(t, page.HTML(&b, d))
	expect.All(t, b.String(),
		"<title>A &lt;day&gt;</title>", `<a href="#s1">Fruit</a>`, `<tr data-t="0"><th scope="row" class="k0">a <small class="base">base</small></th>`,
		`<td class="worse" data-n="1 2">8<small>0.8× ▼</small></td>`, `>kg<sup>⚠<a href="#s1n1">1</a></sup><small>a day</small></th>`, `<td class="absent" title="nobody looked">–</td>`,
		`<li id="s1n1" value="1">⚠ 1 of 2 numbers, of b: measured in the rain</li>`, `<p class="banner"><strong>⚠</strong> Wet.</p>`,
	)
}
