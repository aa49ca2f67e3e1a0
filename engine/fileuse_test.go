package engine_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestFileUses(t *testing.T) {
	uses := engine.FileUses{
		{Pattern: "big*", Use: engine.UseDouble, From: 10, To: 20}, {Pattern: "log/*.x", Use: engine.UseLog}, {Pattern: "big", Use: engine.UseUndo},
		{Pattern: "*.x", Use: engine.UseData, Named: true},
	}
	for path, want := range map[string][]engine.FileUse{
		"/a/log/1.x": {{Use: engine.UseLog}},
		"log/1.x":    {{Use: engine.UseLog}},
		"/log/a/1.x": {{Use: engine.UseData, Name: "1"}},
		"1.x":        {{Use: engine.UseData, Name: "1"}},
		"/a/big":     {{Use: engine.UseDouble}, {Use: engine.UseUndo}},
		"/a/bigger":  {{Use: engine.UseDouble}, {Use: engine.UseSystem}},
		"/a/other":   {{Use: engine.UseSystem}},
	} {
		got := uses.Of(path)
		if len(got) != len(want) {
			t.Errorf("%s: %v", path, got)
			continue
		}
		for i := range want {
			expect.True(t, got[i].Use == want[i].Use && got[i].Name == want[i].Name, path, got)
		}
	}
}
