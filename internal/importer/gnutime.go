package importer

import (
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
)

// usage is the resource use of the client's process, from a file of /usr/bin/time.
type usage struct {
	cpu     float64 // user + system, seconds
	elapsed float64 // seconds
	failed  string  // the failure of the command, "" if it succeeded
}

func isTime(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.Contains(l, "user ") && strings.Contains(l, "elapsed") ||
			strings.Contains(l, "User time (seconds):") ||
			strings.HasPrefix(l, "real") && len(strings.Fields(l)) == 2
	}) || len(head) == 1 && timeFields.MatchString(head[0])
}

// timeFields is what the scripts of RocksDB ask for: elapsed, user and system time.
var timeFields = regexp.MustCompile(`^(\d+\.\d\d) (\d+\.\d\d) (\d+\.\d\d)$`)

// parseTime reads a file of /usr/bin/time in its default format, in the long
// format of option -v or the POSIX format (-p), or the output of a shell's time.
func parseTime(f *file, ps *hint.Problems) *usage {
	in := &input{file: f, ps: ps}
	t := timeParser{user: -1, system: -1, elapsed: -1}
	if !usable(func() { in.each(func(line string) { t.line(strings.TrimSpace(line)) }) }) {
		return nil
	}
	if t.user < 0 || t.system < 0 || t.elapsed < 0 {
		ps.Add(f.path, 0, "run the command as /usr/bin/time -o FILE COMMAND",
			"it does not contain the user, system and elapsed time of a command")
		return nil
	}
	return &usage{cpu: t.user + t.system, elapsed: t.elapsed, failed: t.failed}
}

type timeParser struct {
	user, system, elapsed float64
	failed                string
}

func (t *timeParser) line(line string) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return
	}
	if m := timeFields.FindStringSubmatch(line); m != nil {
		t.elapsed, _ = positive(m[1])
		t.user, _ = positive(m[2])
		t.system, _ = positive(m[3])
		return
	}
	set := func(dst *float64, s string) {
		if v, ok := clock(s); ok {
			*dst = v
		}
	}
	last := words[len(words)-1]
	if strings.HasPrefix(line, "Command exited") || strings.HasPrefix(line, "Command terminated") ||
		strings.HasPrefix(line, "Exit status:") && last != "0" {
		t.failed = line
	}
	for _, part := range []struct {
		dst                  *float64
		verbose, posix, unit string
	}{{&t.user, "User time", "user", "user"}, {&t.system, "System time", "sys", "system"},
		{&t.elapsed, "Elapsed", "real", "elapsed"}} {
		if strings.HasPrefix(line, part.verbose) || len(words) == 2 && words[0] == part.posix {
			set(part.dst, last)
		}
		for _, w := range words {
			if v, ok := strings.CutSuffix(w, part.unit); ok && v != "" {
				set(part.dst, v)
			}
		}
	}
}

// clock parses a time such as 5.02, 0:05.02, 1:02:03 or 0m5.020s.
func clock(s string) (seconds float64, ok bool) {
	if m, rest, ok := strings.Cut(strings.TrimSuffix(s, "s"), "m"); ok {
		s = m + ":" + rest
	}
	for _, part := range strings.Split(s, ":") {
		v, ok := positive(part)
		if !ok {
			return 0, false
		}
		seconds = 60*seconds + v
	}
	return seconds, true
}
