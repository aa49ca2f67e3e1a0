// Package redact removes from results the traces of where they were measured.
package redact

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/text/secret"
)

// Notice lists the replacements made by Copy.
const Notice = "Redacted: names of hosts, users, machines and campaigns, addresses, serial numbers and paths are " +
	"replaced in all texts, the same by the same everywhere (host-1, user-1, /path-1). What else a plan, a setting " +
	"or a remark gives away is still there: read it before you publish it."

// Copy returns a copy of a value that holds results, in depth, without traces
// of where they were measured: in every text, names of hosts and users,
// addresses, serial numbers and absolute paths are replaced consistently. In
// plans, names are also found by their keys.
//
// It finds names if they are identifiable (in the facts of the host, in data
// source names, in home directories) and replaces them everywhere. Other names
// cannot be distinguished from words.
func Copy[T any](subject T, plans ...string) T {
	r := &redactor{names: map[string]string{}, counts: map[string]int{}, plain: map[string]bool{},
		done: map[string]string{}}
	for _, m := range metric.All() {
		for _, word := range strings.Split(m.Name, "_") {
			r.plain[word] = true
		}
	}
	var trials []*result.Trial
	v := reflect.ValueOf(&subject).Elem()
	look := copier{func(s string) string { return s }, func(t, _ *result.Trial) { trials = append(trials, t) }}
	look.copy(v)
	for _, t := range trials {
		r.keepWords(t)
	}
	look.text = func(s string) string { r.learn(s); return s }
	look.copy(v)
	for _, plan := range plans {
		r.learnAll(planNames, plan)
	}
	for _, t := range trials {
		r.learnTrial(t)
	}
	r.order()
	return copier{r.text, r.facts}.copy(v).Interface().(T)
}

// redactor maps secrets to their replacements.
type redactor struct {
	names  map[string]string // as they are found between other words
	found  []name            // the longest first
	counts map[string]int
	plain  map[string]bool   // words of the page, which are not secret
	mu     sync.Mutex        // series are read side by side
	done   map[string]string // texts
}

// name is a secret as it is looked for, in any case, and what replaces it.
type name struct {
	lower   string
	pattern *regexp.Regexp
	by      string
}

// keepWords keeps the words that name the numbers: a user with the name of the
// workload is no secret, and replacing it would make the page hard to read.
func (r *redactor) keepWords(t *result.Trial) {
	words := []string{t.Workload, t.Engine, t.Preset}
	for _, s := range t.Steps {
		words = append(words, s.Name, s.Primary, s.WritesPer)
		for _, g := range s.Groups {
			words = append(append(words, g.Name), g.Ops...)
		}
	}
	for _, w := range words {
		r.plain[w] = true
	}
}

// add assigns a secret its replacement.
func (r *redactor) add(kind, secret string) string {
	if replacement, ok := r.names[secret]; ok {
		return replacement
	}
	r.counts[kind]++
	name := fmt.Sprintf("%s-%d", kind, r.counts[kind])
	r.names[secret] = name
	return name
}

// leastName is the length from which a name is replaced among other words; a
// shorter one, such as “vm”, is often just a word.
const leastName = 3

// common are names that are everywhere the same.
var common = []string{"localhost", "root", "mysql", "postgres", "mariadb", "mongodb", "127.0.0.1", "0.0.0.0", "::1",
	"unix", "tcp", "server", "servers", "client", "clients", "machine", "https", "http", "true", "false", "off", "yes",
	"none", "null", "default", "auto", "all"}

func (r *redactor) learnName(kind, name string) {
	if list := strings.Split(name, ","); kind == "host" && len(list) > 1 {
		for _, one := range list {
			r.learnName(kind, one)
		}
		return
	}
	name = strings.Trim(name, `"'`)
	if host, port, err := net.SplitHostPort(name); kind == "host" && err == nil && port != "" {
		name = host
	}
	name = strings.Trim(name, "[]")
	if !r.isName(name) {
		return
	}
	replacement := r.add(kind, name)
	if short, _, full := strings.Cut(name, "."); kind == "host" && full && r.isName(short) && r.names[short] == "" {
		r.names[short] = replacement
	}
}

// isName reports whether a word may be a name: what is short, common, a path, a number or the part of a metric's name
// is none.
func (r *redactor) isName(word string) bool {
	lower := strings.ToLower(word)
	return len(word) >= leastName && !slices.Contains(common, lower) && !r.plain[word] && !r.plain[lower] &&
		!strings.HasPrefix(word, "/") && !number.MatchString(word)
}

var portEnd = regexp.MustCompile(`:\d+$`)

var number = regexp.MustCompile(`^\d+(?:\.\d+)?[a-zA-Z%]{0,2}$`)

// sourceURL is the beginning of a data source name like postgres://me:word@host:5432,other/.
var sourceURL = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*)://(?:([^\s/@"':]+)(?::[^\s/@"']*)?@)?([^\s/@"')}?;\\]+)`)

// identifier is a pattern of text in which names are identifiable, and the
// kinds of its groups.
type identifier struct {
	pattern *regexp.Regexp
	kinds   []string
}

func identifies(pattern string, kinds ...string) identifier {
	return identifier{regexp.MustCompile(pattern), kinds}
}

const (
	quotable = `\s*("[^"]*"|'[^']*'|[^\s"',}\]&;]+)`
	listed   = `\s*("[^"]*"|'[^']*'|[^\s"'}\]&;]+)`
	// clients are programs whose flags -h and -u name a host and a user.
	clients = `(?:psql|mysql\w*|mariadb[\w-]*|pg\w+|sysbench|mongo\w*|redis-cli)\s(?:[^|;\n]*?\s)?`
	begins  = `(?:^|[;&|"'/:]\s*)` // a command, in which a flag may have its value without a space
)

var (
	textNames = []identifier{
		identifies(`(?:([\w.+-]+)(?::[^\s"'@]*)?@)(?:\w+\(([^\s:)]*)|/)`, "user", "host"), // me:word@tcp(host:3306)/
		// of a data source: host=db user=me
		identifies(`(?i)\b\w*host(?:addr|name|s)?\s*=`+listed, "host"),
		identifies(`(?i)\b(?:\w*user(?:name)?|uid|user id)\s*=`+quotable, "user"),
		identifies(`\b`+clients+`-h\s`+quotable, "host"),
		identifies(`\b`+clients+`-[uU]\s`+quotable, "user"),
		identifies(begins+clients+`-h`+quotable, "host"),
		identifies(begins+clients+`-[uU]`+quotable, "user"),
		identifies(`(?:^|\s)--?[\w-]*(?:host|hostname)[\s=]`+quotable, "host"),
		identifies(`(?:^|\s)--?[\w-]*(?:user|username)[\s=]`+quotable, "user"),
		identifies(`\b(?:ssh|scp|rsync|sftp)\s[^\n"']*?([\w.+-]+)@([\w.-]+)`, "user", "host"),
		identifies(`\btcp\(([^\s:()]+)`, "host"),
		identifies(`\b([A-Za-z][\w.-]*):\d+: connection refused`, "host"),
		// of errors
		identifies(`(?i)\b(?:host(?: name)?|server at|server on)\s+(["'][^"'\s]+["'])`, "host"),
		identifies(`(?i)\b(?:user|role)\s+(["'][^"'\s]+["'])`, "user"),
		identifies(`'([^'\s]+)'@'([^'\s]+)'`, "user", "host"),
		identifies(`\blookup ([\w.-]+)(?: on |: no such host)`, "host"),
		identifies(`\bdial tcp\d? ([A-Za-z][\w.-]*):\d`, "host"),
		identifies(`\b\d{1,3}(?:\.\d{1,3}){3}:\d+ \(([A-Za-z][\w.-]*)\)`, "host"),
		identifies(`\b([\w.+-]+)@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)`, "user", "host"),
		identifies(`(?:/home/|/Users/)([\p{L}\p{N}_.-]+)`, "user"),
		identifies(`\b(\d{1,3}(?:\.\d{1,3}){3})\b`, "host"),
		identifies(`\b((?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{1,4})*)\b`, "host"),
		identifies(`\b([0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*)?)`, "host"),
		identifies(`\bprocess \d+ on ([\w.-]+)`, "host"), // as in remarks on tables
		identifies(`(?:^|[\s=\[(,"'@])(::[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4})*)\b`, "host"),
		identifies(`\b([0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5})\b`, "serial"),
		identifies(`(?i)\b([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b`, "serial"),
	}
	planNames = []identifier{
		identifies(`(?m)(?:^|[{,-])\s*(?:host|hostname|address|listen)\s*:`+quotable, "host"),
		identifies(`\bssh\s*:\s*["']?(?:([\w.+-]+)@)?([\w.-]+)`, "user", "host"),
		identifies(`(?m)(?:^|[{,-])\s*(?:user|username)\s*:`+quotable, "user"),
		identifies(`(?m)^name\s*:`+quotable, "campaign"),
	}
)

func (r *redactor) learn(text string) {
	for _, m := range sourceURL.FindAllStringSubmatch(text, -1) {
		r.learnName("user", m[2])
		public := slices.Contains([]string{"http", "https", "file"}, strings.ToLower(m[1]))
		private := strings.ToLower(m[1]) == "http" || portEnd.MatchString(m[3]) || !strings.Contains(m[3], ".")
		if !public || m[2] != "" || private && m[3] != "" { // addresses of publications are kept
			r.learnName("host", m[3])
		}
	}
	r.learnAll(textNames, text)
}

func (r *redactor) learnAll(list []identifier, text string) {
	for _, id := range list {
		for _, m := range id.pattern.FindAllStringSubmatch(text, -1) {
			for i, kind := range id.kinds {
				r.learnName(kind, m[i+1])
			}
		}
	}
}

// learnTrial finds names in the facts of the host, and in targets named after
// directories.
func (r *redactor) learnTrial(t *result.Trial) {
	for _, f := range slices.Concat(t.Host, t.Versions, settings(t)) {
		if kind := secretFact(f.Name); kind != "" {
			for _, v := range strings.FieldsFunc(f.Value, func(c rune) bool { return c == ',' || c == ' ' }) {
				r.learnName(kind, v)
			}
		}
	}
	for _, s := range t.Steps {
		for _, row := range s.Rows {
			if row.Labels.Machine != "" {
				r.learnName("machine", row.Labels.Machine)
			}
		}
	}
	r.learnName("machine", t.Machine)
	r.learnName("campaign", t.Campaign)
	if above := path.Dir(t.Dir); path.Base(above) == result.TrialsDir { // of a campaign, in its folder
		r.learnName("campaign", path.Base(path.Dir(above)))
	}
	if dir, base := path.Split(t.Target); strings.HasPrefix(dir, "/") {
		r.names[t.Target] = r.pathName(strings.TrimSuffix(dir, "/")) + "/" + base
	}
}

// settings returns a trial's settings in the form of facts.
func settings(t *result.Trial) []observe.Fact {
	var out []observe.Fact
	for _, s := range t.Settings {
		out = append(out, observe.Fact{Name: s.Name, Value: s.Value})
	}
	return out
}

// secretFact returns what kind of name the value of a fact or a setting is, ""
// for others.
func secretFact(name string) string {
	name = strings.ToLower(name)
	within := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	}
	switch {
	case within("hostname", "host name"), name == "host", strings.HasSuffix(name, "_host"):
		return "host"
	case within("serial", "wwn", "uuid", "machine id", "mac address"):
		return "serial"
	case name == "user", name == "user name", name == "username":
		return "user"
	}
	return ""
}

// order sorts the names, the longest first: db1.example.org before db1.
func (r *redactor) order() {
	names := slices.SortedFunc(maps.Keys(r.names),
		func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, n := range names {
		r.found = append(r.found, name{strings.ToLower(n), regexp.MustCompile("(?i)" + regexp.QuoteMeta(n)), r.names[n]})
	}
}

// text returns a text without secrets.
func (r *redactor) text(in string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if out, ok := r.done[in]; ok {
		return out
	}
	s := secret.Hide(in)
	lower := strings.ToLower(s)
	for _, n := range r.found {
		if strings.Contains(lower, n.lower) { // which is faster than the pattern
			s = replaceWord(s, n.pattern, n.by)
		}
	}
	s = absolute.ReplaceAllStringFunc(s, r.path)
	r.done[in] = s
	return s
}

// replaceWord replaces a name as a whole word or a part of one that - or _ joins, with the domain after a host's
// name.
func replaceWord(s string, pattern *regexp.Regexp, by string) string {
	var b strings.Builder
	for {
		match := pattern.FindStringIndex(s)
		if match == nil {
			b.WriteString(s)
			return b.String()
		}
		i, end := match[0], match[1]
		head, after := b.String()+s[:i], s[end:]
		if head != "" && inName(head[len(head)-1]) && !flag.MatchString(head) || after != "" && inName(after[0]) {
			b.WriteString(s[:end])
			s = after
			continue
		}
		b.WriteString(s[:i] + by)
		if strings.HasPrefix(by, "host-") {
			after = domain.ReplaceAllString(after, "")
		}
		s = after
	}
}

// flag matches the flag of a client that its value follows without a space.
var flag = regexp.MustCompile(`(?:^|\s)-[huU]$`)

// domain matches the rest of a host's full name.
var domain = regexp.MustCompile(`^(?:\.[A-Za-z0-9-]+)+`)

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// absolute matches an absolute path, or one in a home directory, with the text
// that precedes it.
var absolute = regexp.MustCompile("(^|[\\s\"'`“‘=(:,;\\[{<>|@](?://)?)(~[\\w.-]*)?(/[\\p{L}\\p{N}_.@%+~#=-]+)+/?")

// path replaces an absolute path, except the kernel's.
func (r *redactor) path(found string) string {
	parts := absolute.FindStringSubmatch(found)
	head, p := parts[1], found[len(parts[1]):]
	if strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/sys/") || strings.HasPrefix(p, "/path-") {
		return found
	}
	end := strings.TrimRight(p, ".") // of a sentence
	return head + r.pathName(strings.TrimSuffix(end, "/")) + p[len(end):]
}

func (r *redactor) pathName(p string) string {
	if strings.HasPrefix(p, "/path-") {
		return p
	}
	return "/" + strings.TrimPrefix(r.add("path", p), "/")
}

// facts replaces the values of facts and settings that are secrets as a whole,
// even if too short to be found elsewhere, and the trial's directory: trials of
// the same campaign keep a common parent.
func (r *redactor) facts(in, out *result.Trial) {
	for i, f := range in.Host {
		if kind := secretFact(f.Name); kind != "" && f.Value != "" {
			out.Host[i].Value = r.add(kind, f.Value)
		}
	}
	for i, s := range in.Settings {
		if kind := secretFact(s.Name); kind != "" && s.Value != "" {
			out.Settings[i].Value = r.add(kind, s.Value)
		}
	}
	if in.Dir != "" {
		out.Dir = path.Join(r.pathName(path.Dir(in.Dir)), path.Base(in.Dir))
	}
}

// series are the lines of a trial, one by one.
type series = func(yield func(result.Line) error) error

// copier copies values in depth.
type copier struct {
	text  func(string) string         // replaces a text
	trial func(in, out *result.Trial) // sees each trial and its copy
}

func (c copier) series(value series) series {
	if value == nil {
		return nil
	}
	return func(yield func(result.Line) error) error {
		return value(func(l result.Line) error {
			l.Step, l.Group, l.Op = c.text(l.Step), c.text(l.Group), c.text(l.Op)
			return yield(l)
		})
	}
}

// sortedMapKeys returns the keys in a fixed order, so that names always get the
// same numbers.
func sortedMapKeys(v reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(v.MapKeys()),
		func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// copy returns the value with every text in it replaced.
func (c copier) copy(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Func:
		if value, ok := v.Interface().(series); ok {
			out.Set(reflect.ValueOf(c.series(value)))
		}
	case reflect.String:
		out.SetString(c.text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(c.copy(v.Elem()))
			if t, ok := v.Interface().(*result.Trial); ok {
				c.trial(t, out.Interface().(*result.Trial))
			}
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(c.copy(v.Elem()))
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			out.Index(i).Set(c.copy(v.Index(i)))
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for _, k := range sortedMapKeys(v) {
				out.SetMapIndex(c.copy(k), c.copy(v.MapIndex(k)))
			}
		}
	case reflect.Struct:
		out.Set(v) // unexported fields, as in a time
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(c.copy(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}
