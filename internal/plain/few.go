package plain

import (
	"fmt"
	"regexp"
	"strings"
)

// few is the number of problems of one kind that are shown.
const few = 20

// varying matches what differs between problems of one kind: quoted text, and
// words with digits or slashes.
var varying = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S*[\d/]\S*`)

// Few joins descriptions of problems, in their order. Of problems whose reasons
// differ only in names and numbers, it keeps the first and counts the rest.
func Few(texts, reasons []string) string {
	seen, last := map[string]int{}, map[string]int{} // by kind
	kinds := make([]string, len(texts))
	for i, reason := range reasons {
		kinds[i] = varying.ReplaceAllString(reason, "")
		if seen[kinds[i]]++; seen[kinds[i]] <= few {
			last[kinds[i]] = i
		}
	}
	var out []string
	for i, kind := range kinds {
		if i > last[kind] {
			continue
		}
		out = append(out, texts[i])
		if more := seen[kind] - few; i == last[kind] && more > 0 {
			out = append(out, fmt.Sprintf("… and %d more of this kind", more))
		}
	}
	return strings.Join(out, "\n")
}
