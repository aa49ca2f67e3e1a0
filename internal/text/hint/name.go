package hint

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostListed is the maximum number of names in a list for a reader.
const mostListed = 50

// mostAkin is the maximum number of names suggested for one that contains them
// or is contained in them.
const mostAkin = 4

// mostName is more than the length of any name.
const mostName = 200

// OneOf returns a hint at the name that was probably meant by a wrong one, or at
// all names; "" if there are too many.
func OneOf(wrong string, names []string) string {
	all := "one of " + strings.Join(names, ", ")
	switch {
	case len(names) == 0, len(names) > mostListed:
		all = ""
	case len(names) == 1:
		all = "it can be " + names[0]
	}
	return Meant(wrong, names, all)
}

// Meant returns a hint at the names that were probably meant by a wrong one, see Near. It
// returns otherwise if there is none.
func Meant(wrong string, names []string, otherwise string) string {
	return cmp.Or(AnyOf(Near(wrong, names)), otherwise)
}

// Near returns the names that were probably meant by a wrong one: the nearest, or the
// few that contain it or are contained in it, or the few that it shortens, as thruput
// does throughput.
func Near(wrong string, names []string) []string {
	if len(wrong) < 2 || len(wrong) > mostName {
		return nil
	}
	wrong = strings.ToLower(wrong)
	best, lowest := "", min(1+len(wrong)/4, 3)
	var akin, shortened []string
	for _, name := range names {
		if d := distance(wrong, name); d <= lowest && (best == "" || d < lowest) {
			best, lowest = name, d
		}
		if len(name) > 2 && (strings.Contains(wrong, name) || strings.Contains(name, wrong)) {
			akin = append(akin, name)
		}
		if shortens(wrong, name) {
			shortened = append(shortened, name)
		}
	}
	switch {
	case best != "" && (lowest <= 1 || len(shortened) == 0):
		return []string{best}
	case best == "" && len(akin) > 0 && len(akin) <= mostAkin:
		return akin
	case len(shortened) <= mostAkin:
		return shortened
	}
	return nil
}

// shortens reports whether a text is a name of which letters are left out: not the first, and
// not many.
func shortens(text, name string) bool {
	const fewest, share = 4, 0.4
	if len(text) < fewest || float64(len(text)) < share*float64(len(name)) || !strings.HasPrefix(name, text[:1]) {
		return false
	}
	for i := 0; i < len(name) && text != ""; i++ {
		if name[i] == text[0] {
			text = text[1:]
		}
	}
	return text == ""
}

// AnyOf returns a hint at the names that may have been meant; "" if there are none.
func AnyOf(names []string) string {
	last := len(names) - 1
	switch last {
	case -1:
		return ""
	case 0:
		return "did you mean " + names[0] + "?"
	}
	return "did you mean " + strings.Join(names[:last], ", ") + " or " + names[last] + "?"
}

// distance returns the edit distance of a and b, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// Paths returns the paths that were probably meant by one that does not exist: its first
// missing folder or file is replaced by those with a near name, with or without the ending.
// Only paths that fit are returned; nil fits all that exist.
func Paths(path string, fit func(path string) bool) (out []string) {
	path = filepath.Clean(path)
	folder, name, tail := filepath.Dir(path), filepath.Base(path), ""
	for ; !exists(folder) && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		name, tail = filepath.Base(folder), filepath.Join(name, tail)
	}
	var names []string
	byName := map[string]string{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		meant := filepath.Join(folder, e.Name(), tail)
		if !exists(meant) || fit != nil && !fit(meant) {
			continue
		}
		for _, n := range []string{e.Name(), strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))} {
			if byName[n] == "" {
				names, byName[n] = append(names, n), meant
			}
		}
	}
	for _, n := range Near(name, names) {
		if !slices.Contains(out, byName[n]) {
			out = append(out, byName[n])
		}
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
