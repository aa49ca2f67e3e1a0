package report

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// The page allows the scripts and styles that are in it, by what they are, and
// no attribute holds any.
func TestPolicy(t *testing.T) {
	in := fixture(3)
	in.Title = "</title><script>alert(1)</script><style>body{display:none}</style>"
	page := render(t, in)
	m := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindStringSubmatch(page)
	expect.Must(t, m != nil, "no policy")
	allowed := html.UnescapeString(m[1])
	expect.Lacks(t, allowed, "unsafe")
	expect.True(t, strings.HasPrefix(allowed, "default-src 'none'; "))
	inside := regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`).FindAllStringSubmatch(page, -1)
	expect.Equal(t, len(inside), 5, "scripts and styles")
	for _, one := range inside {
		sum := sha256.Sum256([]byte(one[2]))
		hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		expect.True(t, regexp.MustCompile(one[1]+"-src [^;]*"+regexp.QuoteMeta(hash)).MatchString(allowed), one[1], allowed)
	}
	expect.Equal(t, regexp.MustCompile(`<[a-z][^>]*\s(style|on[a-z]+)\s*=`).FindString(page), "",
		"an attribute that the policy forbids")
}
