package plain

import (
	"fmt"
	"regexp"
	"strings"
)

// few is how many problems of one kind anybody reads.
const few = 20

// varying is what differs between problems of one kind: what was quoted, and
// words with digits or of paths.
var varying = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\S*[\d/]\S*`)

// Few joins texts about problems into one, in their order. Of problems whose
// reasons differ in names and numbers only, the first are shown, and how many
// there are more.
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
