package history

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// InOrder returns the runs in the order of a list of revisions or versions, those of one
// revision by age, and the runs that are on no line of it. A run's revision is that in the name
// of its directory, of its binary, of the engine's version, or of the rumbench that made it: the
// first of these that is in the list. Of commits the first seven digits are enough.
func InOrder(runs []*Run, revisions []string) (sorted, remaining []*Run) {
	places := map[*Run]int{}
	for _, r := range runs {
		place := -1
		for _, label := range r.labels() {
			if place = revisionIn(label, revisions); place >= 0 {
				break
			}
		}
		if places[r] = place; place >= 0 {
			sorted = append(sorted, r)
		} else {
			remaining = append(remaining, r)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *Run) int { return places[a] - places[b] })
	return sorted, remaining
}

// labels returns the texts that may name the revision that a run measured, the most
// deliberate first.
func (r *Run) labels() []string {
	var binaries, versions, own []string
	for _, t := range r.Trials {
		binaries, versions = append(binaries, t.Knobs["binary"]), append(versions, t.EngineVersion())
		own = append(own, t.Versions.Value("rumbench"))
		if t.Build != nil {
			own = append(own, t.Build.Revision)
		}
	}
	return slices.Concat([]string{filepath.Base(r.Dir)}, binaries, versions, own)
}

// revisionIn returns the place in a list of the revision that a label names, −1 if it names none.
func revisionIn(label string, revisions []string) int {
	between := func(r rune) bool { return r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(label, between)
	return slices.IndexFunc(revisions, func(revision string) bool {
		return label == revision || slices.ContainsFunc(words, func(word string) bool { return sameRevision(word, revision) })
	})
}

// sameRevision reports whether two words are one version, with or without a leading v, or
// one commit, of which either may be abbreviated.
func sameRevision(a, b string) bool {
	const abbreviated = 7
	if strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") {
		return true
	}
	hex := func(s string) bool { return len(s) >= abbreviated && strings.Trim(s, "0123456789abcdef") == "" }
	return hex(a) && hex(b) && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}
