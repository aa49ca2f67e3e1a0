package report

import (
	"cmp"
	"slices"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/page"
)

// settings shows the targets' settings side by side.
func settings(v *view) []page.Section {
	t := page.Table{Note: "≠ marks settings in which targets that have them differ. “As set”: the engine cannot be " +
		"asked; all others were read back from it.", Head: "setting", Columns: targetColumns(v.Targets)}
	asked, effective := settingRows(v.campaign)
	for _, g := range []page.Group{{Name: "asked for", Rows: asked}, {Name: "in effect", Rows: effective}} {
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return []page.Section{{ID: "settings", Title: "Settings", Nav: "Settings", Folded: true, Blocks: []page.Block{t}}}
}

// settingRows returns the settings that the plan asked for, and the settings in
// effect, with the differing ones marked.
func settingRows(c *campaign) (requested, actual []page.Row) {
	asked, effective := byTarget{}, byTarget{}
	var own []string
	for _, tg := range c.Targets {
		own = compare.AppendNew(own, tg.Trials[0].OwnParams...)
	}
	for _, tg := range c.Targets {
		trial := tg.Trials[0]
		for name, value := range trial.Knobs {
			asked.set(name, tg, page.Cell{Text: value, Title: "as asked for in the plan"})
		}
		for _, name := range own {
			asked.set("params."+name, tg, page.Cell{Text: plainValue(trial.Params[name]), Title: "as asked for in the plan"})
		}
		asked.set("durability", tg, page.Cell{Text: trial.Durability,
			Title: cmp.Or(trial.Promise, "as asked for in the plan")})
		for _, s := range trial.Settings {
			effective.set(s.Name, tg, settingCell(s))
		}
	}
	requested = asked.rows(c.Targets, "not asked for: the engine's own default")
	actual = effective.rows(c.Targets, "no such setting")
	for _, r := range slices.Concat(requested, actual) {
		markDifferent(r.Cells)
	}
	return requested, actual
}

func settingCell(s engine.Setting) page.Cell {
	if s.Aside {
		return page.Absent(s.Value + ", of a part of the server that the tables do not use")
	}
	c := page.Cell{Text: compare.SettingText(s.Name, s.Value)}
	if s.Source != engine.ReadBack { // as the table's note states for all others
		c.Title = s.Source
	}
	if s.Source == engine.AsSet {
		c.Per = engine.AsSet
	}
	return c
}

func markDifferent(cells []page.Cell) {
	var texts []string
	for i := range cells {
		if cells[i].Number = false; !cells[i].Absent {
			texts = compare.AppendNew(texts, cells[i].Text)
		}
	}
	for i := range cells {
		cells[i].Differs = len(texts) > 1 && !cells[i].Absent
	}
}
