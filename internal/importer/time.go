package importer

import (
	"regexp"
	"strings"

	"rumbench/internal/text/hint"
)

// usage is the resource use of the client's process, from a file of /usr/bin/time.
type usage struct {
	cpu     float64 // user + system, seconds
	elapsed float64 // seconds
	failed  string  // the failure of the command, "" if it succeeded
}

// timeFields is what the scripts of RocksDB ask for: elapsed, user and system time.
var timeFields = regexp.MustCompile(`^(\d+\.\d\d) (\d+\.\d\d) (\d+\.\d\d)$`)

var isTimeLine = anyLine(`user .*elapsed|User time \(seconds\):|^real\S*\s+\S+\s*$`)

func isTime(head []string) bool {
	return isTimeLine(head) || len(head) == 1 && timeFields.MatchString(head[0])
}

// parseTime reads a file of /usr/bin/time in its default format, in the long
// format of option -v or the POSIX format (-p), or the output of a shell's time.
func parseTime(f *file, ps *hint.Problems) *usage {
	in := &input{file: f, ps: ps}
	times, failed := map[string]float64{}, "" // by the names of the default format
	if !usable(func() {
		in.each(func(line string) {
			line = strings.TrimSpace(line)
			timesIn(line, times)
			if timeFailed.MatchString(line) && !timeSucceeded.MatchString(line) {
				failed = line
			}
		})
	}) {
		return nil
	}
	if len(times) < 3 {
		ps.Add(f.path, 0, "run the command as /usr/bin/time -o FILE COMMAND",
			"it does not contain the user, system and elapsed time of a command")
		return nil
	}
	return &usage{cpu: times["user"] + times["system"], elapsed: times["elapsed"], failed: failed}
}

// The line with the result of a command that failed, or did not.
var (
	timeFailed    = regexp.MustCompile(`^Command (exited|terminated)|^Exit status:`)
	timeSucceeded = regexp.MustCompile(`^Exit status:.*\s0$`)
)

func timesIn(line string, times map[string]float64) {
	if m := timeFields.FindStringSubmatch(line); m != nil {
		for i, name := range []string{"elapsed", "user", "system"} {
			times[name], _ = positiveNumber(m[1+i])
		}
		return
	}
	words := strings.Fields(line)
	set := func(name, text string) {
		if v, ok := clock(text); ok {
			times[name] = v
		}
	}
	for name, names := range map[string][2]string{"user": {"User time", "user"}, "system": {"System time", "sys"},
		"elapsed": {"Elapsed", "real"}} {
		if strings.HasPrefix(line, names[0]) || len(words) == 2 && words[0] == names[1] {
			set(name, words[len(words)-1])
		}
		for _, w := range words {
			if v, ok := strings.CutSuffix(w, name); ok && v != "" {
				set(name, v)
			}
		}
	}
}

// clock parses a time such as 5.02, 0:05.02, 1:02:03 or 0m5.020s.
func clock(s string) (seconds float64, ok bool) {
	if m, text, ok := strings.Cut(strings.TrimSuffix(s, "s"), "m"); ok {
		s = m + ":" + text
	}
	for part := range strings.SplitSeq(s, ":") {
		v, ok := positiveNumber(part)
		if !ok {
			return 0, false
		}
		seconds = 60*seconds + v
	}
	return seconds, true
}
