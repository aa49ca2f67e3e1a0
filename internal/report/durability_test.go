package report

import (
	"testing"

	"rumbench/internal/expect"
)

// One level may promise more on one target than on another: each says what it
// promises there, and that is no difference of levels.
func TestDurabilityIsExplained(t *testing.T) {
	in := fixture(1)
	const worse = "a crash of the operating system may lose the whole database"
	in.Trials[2].Promise = worse
	f := durabilityFact(newCampaign(in.Trials))
	expect.All(t, f.Value, "pebble, sqlite: process (commits survive kill -9 of the engine); ", "bbolt: process ("+worse+")")
	expect.Equal(t, f.Warning, "", "equal levels are warned about")
	in.Trials[2].Durability = "os"
	if f := durabilityFact(newCampaign(in.Trials)); f.Warning == "" {
		t.Error("unlike levels are not warned about")
	}
	for i := range in.Trials { // results of old
		in.Trials[i].Durability, in.Trials[i].Promise = "process", ""
	}
	if f := durabilityFact(newCampaign(in.Trials)); f.Value != "process" {
		t.Errorf("%q of results that do not say what the level means", f.Value)
	}
}
