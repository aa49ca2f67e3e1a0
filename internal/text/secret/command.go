package secret

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/escape"
)

// Command is a command line of rumbench. It is stored and shown without its secrets.
type Command []string

// MarshalJSON implements json.Marshaler.
func (c Command) MarshalJSON() ([]byte, error) { return json.Marshal(c.hidden()) }

// String returns the command in one line.
func (c Command) String() string { return strings.Join(c.hidden(), " ") }

// hidden returns the command without its secrets. Behind -- is the command of another
// program.
func (c Command) hidden() []string {
	own, other := []string(c), []string(nil)
	if i := slices.Index(own, "--"); i >= 0 {
		own, other = own[:i+1], own[i+1:]
	}
	out := make([]string, len(own))
	for i, arg := range own {
		out[i] = Cut(Hide(arg))
	}
	return append(out, Program(other)...)
}

// An argument whose rest is a secret, one of a user and a password, and those that a
// secret follows.
var (
	beginning = regexp.MustCompile(`(?is)^(-{0,2}` + name + `[:=]|(?-i:-p)|` + user + `[^:]+:)(.+)$`)
	bare      = regexp.MustCompile(`(?s)^((?:-{1,2}[\w.-]+=)?[A-Za-z][\w.+-]*:)([^/].*)$`)
	preceding = regexp.MustCompile(`(?i)(?:\s-{1,2}` + name + `|(?-i:\s-p|` + special + `))$`)
	shell     = regexp.MustCompile(`^-[a-z]*c$`) // before a script
	userFlag  = regexp.MustCompile(`(?i)^(?:-u|-{1,2}[\w-]*user[\w-]*)$`)
)

// Program returns the command of another program without its secrets. An argument may
// be a script, as for sh -c.
func Program(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		before := ""
		if i > 0 {
			before = args[i-1]
		}
		line := strings.Join(args[:i], " ")
		both := bare.FindStringSubmatch(arg)
		switch who, password, _ := strings.Cut(arg, ":"); {
		case shell.MatchString(before):
			out[i] = hide(Hide(arg), inCommands)
		case preceding.MatchString(line) && !(before == "-p" && port.MatchString(arg)):
			out[i] = escape.Hidden
		case userFlag.MatchString(before) && password != "":
			out[i] = who + ":" + escape.Hidden
		case beginning.MatchString(arg):
			out[i] = beginning.ReplaceAllString(arg, "${1}"+escape.Hidden)
		case both != nil && !address.MatchString(both[2]):
			out[i] = both[1] + escape.Hidden
		default:
			out[i] = hide(Hide(arg), inCommands)
		}
	}
	return out
}

// Patterns of secrets in a line of a file or an argument of rumbench.
var (
	DSNKey     = regexp.MustCompile(`(?i)dsn["']?\s*[:=]\s*`)
	credential = regexp.MustCompile(`(?i)[^\s"',{}=]*@|passw|pwd`)
	assignment = regexp.MustCompile(`(?i)` + name + equals)
)

// Is reports whether a text looks like a secret, or like a data source name.
func Is(text string) bool { return credential.MatchString(text) || assignment.MatchString(text) }

// Cut cuts a line of a file, or an argument of rumbench, at the beginning of a data
// source name, or of text that looks like a misplaced one.
func Cut(line string) string {
	cut := len(line)
	for _, p := range []*regexp.Regexp{DSNKey, assignment} {
		if at := p.FindStringIndex(line); at != nil {
			cut = min(cut, at[1])
		}
	}
	if at := credential.FindStringIndex(line); at != nil {
		cut = min(cut, at[0])
	}
	if cut == len(line) {
		return line
	}
	return line[:cut] + escape.Hidden
}
