// Package secret hides passwords, tokens and keys in texts, commands and errors that are
// shown or stored. It has the one table of the forms in which they are written.
//
// It reads no data source names: engines do, each in its own way.
package secret

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/escape"
)

// Parts of patterns: the name of a secret, as in --mysql-password, PGPASSWORD and
// api_key; a value as shells read it; and what separates both.
const (
	name = `(?:[\w.-]*(?:passw|passphrase|pwd|secret|token|credential|authorization|(?:api|access|private)[_-]?key)[\w.-]*` +
		`|[\w.-]*pass|\b(?:[\w.-]*[_.-])?(?:pw|auth)|[\w.-]+_pat)`
	value  = `((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\\.|\$\([^)]*\)|[^\s'"\\]|['"][^\n]*)+)`
	equals = `["']?\s*[:=]\s*`
	user   = `(?:-u\s*|-{1,2}[\w-]*user[\w-]*(?:\s+|=))`
	word   = `(?:^|\s)`
	// Programs whose flag for a password is another's flag for something else.
	special = `(?:(?:redis|valkey|memtier)[^\s;|&]*\s(?:[^;|&\n]*\s)?-a|sqlcmd\s(?:[^;|&\n]*\s)?-P)`
)

// form is a way in which a text has a secret. Its pattern has two groups: the text
// before the secret, and the secret.
type form struct {
	pattern *regexp.Regexp
	except  *regexp.Regexp // what looks like this is no secret; nil: everything is
}

func forms(patterns ...string) (out []form) {
	for _, p := range patterns {
		out = append(out, form{pattern: regexp.MustCompile(`(?i)` + p)})
	}
	return out
}

// anywhere are the forms in texts of any kind. A password in a data source name may
// have any character but a line end.
var anywhere = forms(
	`((?:postgres(?:ql)?|mongodb(?:\+srv)?|mysql|mariadb|tarantool)://[^:/@\s"']*:)([^\n]*)@`, // postgres://me:SECRET@host
	`(\w://[^:/@\s"']*:)([^\s"']*)@`,                          // any://me:SECRET@host
	`(\b(?:https?|rediss?)://)([^@/:\s"']+)@`,                 // https://TOKEN@host
	`([\w.+-]+:)(/?[^\s/][^\n]*)@(?:\w*\(|/)`,                 // me:SECRET@tcp(host)/, me:SECRET@/db
	`([\w.+-]+:)([^\s/@]\S*)@[\w\[]`,                          // me:SECRET@host, me:SECRET@unix/:/path
	`([\w.+-]+@)([^\s@]+)@[\w\[]`,                             // me@SECRET@host
	`(\bauthorization`+equals+`["']?)((?:[\w-]+ )?[^\s"',]+)`, // Authorization: Bearer SECRET
	`(\bbearer\s+)`+value,
	`(`+name+equals+`)`+value, // password=SECRET, "token": "SECRET"
	`(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)`+value,
	`(\b(?:mysql|mariadb)[\w-]*\s(?:[^\n|;&]*\s)?(?-i:-p))`+value,
	`(\bpassword\s+)('(?:[^'\\]|\\.)*')`, // ALTER ROLE me PASSWORD 'SECRET'
)

var (
	port    = regexp.MustCompile(`^\d{1,5}$`)
	address = regexp.MustCompile(`^(?:\*\*\*|\d{1,5}(?:$|[/,]))`) // a port; or it is hidden already
)

// harmless are texts that look like secrets and are none: how a data source name is written, and
// whether a password was used, as MySQL reports.
var harmless = []string{"USER:PASSWORD@tcp(HOST:PORT)/", "USER:PASSWORD@HOST:PORT",
	"user=USER password=PASSWORD dbname=DATABASE", "(using password: YES)", "(using password: NO)"}

// covered replaces each of them with a character, and uncovered restores them: so they neither are
// hidden nor take part in what is.
var covered, uncovered = func() (*strings.Replacer, *strings.Replacer) {
	var there, back []string
	for i, text := range harmless {
		cover := string(rune(0xF0000 + i)) // for private use
		there, back = append(there, text, cover), append(back, cover, text)
	}
	return strings.NewReplacer(there...), strings.NewReplacer(back...)
}()

// inCommands are the further forms in a command: the words of a script, or an argument.
var inCommands = append(forms(
	`(\w://[^:/@\s"']*:)([^\n]*)@`,
	`(`+word+`-{1,2}`+name+`\s+)`+value,    // --password SECRET
	`(`+word+user+`["']?[^\s:"']+:)`+value, // --user me:SECRET
	`(`+word+`(?-i:-p))`+value,             // -pSECRET
	`((?-i:`+special+`)\s*)`+value,         // redis-cli -a SECRET
	`(`+word+`[a-z]\w*/)([^\s/@]+)@`,       // sqlplus me/SECRET@db
), form{regexp.MustCompile(`(` + word + `-p\s+)` + value), port},
	form{regexp.MustCompile(`(` + word + `(?:-{1,2}[\w.-]+=)?[A-Za-z][\w.+-]*:)([^\s/]\S*)`), address}, // me:SECRET, --auth=me:SECRET
	form{regexp.MustCompile(`(` + word + `'[A-Za-z][\w.+-]*:)([^'/\n]+)`), address},
	form{regexp.MustCompile(`(` + word + `"[A-Za-z][\w.+-]*:)([^"/\n]+)`), address})

// hide returns a text with its secrets hidden.
func hide(text string, list []form) string {
	text = covered.Replace(text)
	for _, f := range list {
		var out strings.Builder
		done := 0
		for _, m := range f.pattern.FindAllStringSubmatchIndex(text, -1) {
			if f.except == nil || !f.except.MatchString(text[m[4]:m[5]]) {
				out.WriteString(text[done:m[4]] + escape.Hidden)
				done = m[5]
			}
		}
		text = out.String() + text[done:]
	}
	return uncovered.Replace(text)
}

// Hide returns a text with its secrets hidden.
func Hide(text string) string { return hide(text, anywhere) }

// shortest is the length from which a part of a secret is replaced wherever it is; a
// shorter one is often just a word, or within one.
const shortest = 4

// parts returns the secrets in a data source name and their parts, the longest first: a
// server that does not understand them quotes them in its errors.
func parts(dsn string) (out []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range anywhere {
		for _, m := range f.pattern.FindAllStringSubmatch(dsn, -1) {
			add(strings.Trim(m[2], `"'`))
			if plain, err := url.QueryUnescape(m[2]); err == nil {
				add(plain)
			}
		}
	}
	for _, s := range slices.Clone(out) {
		for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" &,;@:/?'\"\\", r) }) {
			if len(part) >= shortest {
				add(part)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// hidden is an error with another text.
type hidden struct {
	error
	text string
}

func (h *hidden) Error() string { return h.text }
func (h *hidden) Unwrap() error { return h.error }

// Error returns an error without the secrets of a data source name; nil for nil.
func Error(err error, dsn string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, s := range parts(dsn) {
		if len(s) >= shortest {
			text = strings.ReplaceAll(text, s, escape.Hidden)
			continue
		}
		single := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(s) + `($|\W)`)
		for range 2 { // neighbours share the character between them
			text = single.ReplaceAllString(text, "${1}"+escape.Hidden+"${2}")
		}
	}
	if text == err.Error() {
		return err
	}
	return &hidden{err, text}
}
