package price

import (
	"embed"
	"math"
	"path"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

//go:embed cards/*.yaml
var cards embed.FS

// Shipped returns the cards that come with rumbench, by name.
func Shipped() (out []*Card) {
	files, _ := cards.ReadDir("cards") // it is embedded
	for _, f := range files {
		content, _ := cards.ReadFile(path.Join("cards", f.Name()))
		if c, err := Read(f.Name(), content); err == nil { // a test reads them
			out = append(out, c)
		}
	}
	return out
}

// Read reads a card from the content of a file. The error has type hint.Problems.
func Read(file string, content []byte) (*Card, error) {
	d := strictyaml.Document{What: "price card", Least: "{name: NAME, gb: 0.1}"}
	var c Card
	if root := d.ReadFile(file, content); root != nil {
		keys := c.keys()
		f, _ := d.Record(root, "a price card", names(keys), "name", "currency", "date")
		bind(f, keys)
	}
	if c.Device.Price > 0 && c.GB+c.IOPS.Price+c.MBps.Price > 0 {
		d.Problems = append(d.Problems, hint.Problem{File: file,
			Reason: "a device is bought whole: gb, iops and mbps next to it have no price", Hint: "remove either"})
	}
	if len(d.Problems) > 0 {
		strictyaml.SortProblems(d.Problems)
		return nil, d.Problems
	}
	return &c, nil
}

// amount reads a number of at least 0.
var amount = strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
	if v, ok := strictyaml.Number(n); ok && v >= 0 && !math.IsInf(v, 0) {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of at least 0", n.Text)
}, strictyaml.Shape{"type": "number", "minimum": 0})

// key is a key of a card, and where its value goes: a number, a switch, a line, prose, or keys of a map.
type key struct {
	name string
	dst  any
}

type prose struct{ text *string }

func names(keys []key) []string { return quantity.Texts(keys, func(k key) string { return k.name }) }

func (c *Card) keys() []key {
	d := &c.Device
	tier := func(t *Tier) []key { return []key{{"price", &t.Price}, {"free", &t.Free}} }
	return []key{
		{"name", &c.Name}, {"doc", prose{&c.Doc}}, {"currency", &c.Currency}, {"date", &c.Date}, {"source", prose{&c.Source}},
		{"gb", &c.GB}, {"binary", &c.Binary}, {"iops", tier(&c.IOPS)}, {"io_kb", &c.IOKB}, {"mbps", tier(&c.MBps)},
		{"core", &c.Core}, {"memory", &c.Memory}, {"device", []key{{"price", &d.Price}, {"months", &d.Months},
			{"gb", &d.GB}, {"iops", &d.IOPS}, {"mbps", &d.MBps}, {"tb", &d.TB}}},
	}
}

func bind(f strictyaml.Fields, keys []key) {
	for _, k := range keys {
		switch dst := k.dst.(type) {
		case *float64:
			strictyaml.Bind(f, k.name, amount, func(v float64) { *dst = v })
		case *bool:
			strictyaml.Bind(f, k.name, strictyaml.Boolean, func(v bool) { *dst = v })
		case *string:
			strictyaml.Bind(f, k.name, strictyaml.OneLine, func(v string) { *dst = v })
		case prose:
			strictyaml.Bind(f, k.name, strictyaml.Prose, func(v string) { *dst.text = v })
		case []key:
			if n := f.Value(k.name); n != nil {
				bind(f.In.Fields(n, k.name, names(dst)), dst)
			}
		}
	}
}
