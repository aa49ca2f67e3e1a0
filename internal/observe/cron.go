package observe

import (
	"strconv"
	"strings"
	"time"
)

// schedule is when a line of a crontab is due: sets of minutes, hours, days of the month, months and
// days of the week, a bit for each.
type schedule struct {
	minutes, hours, days, months, weekdays uint64
	either                                 bool // a day of the month or of the week is enough: both are restricted
}

var cronNames = strings.NewReplacer("@hourly", "0 * * * *", "@daily", "0 0 * * *", "@weekly", "0 0 * * 0",
	"@monthly", "0 0 1 * *")

// parseCron parses a line of a crontab of the system, see crontab(5): when, a user and a command. It is
// false for other lines, and for those with names of days and months.
func parseCron(line string) (s schedule, command string, ok bool) {
	fields := strings.Fields(cronNames.Replace(line))
	if len(fields) < 7 || strings.HasPrefix(fields[0], "#") {
		return s, "", false
	}
	ok = true
	for i, f := range []struct {
		set       *uint64
		low, high int
	}{{&s.minutes, 0, 59}, {&s.hours, 0, 23}, {&s.days, 1, 31}, {&s.months, 1, 12}, {&s.weekdays, 0, 7}} {
		var valid bool
		*f.set, valid = cronSet(fields[i], f.low, f.high)
		ok = ok && valid
	}
	s.weekdays |= s.weekdays >> 7 & 1 // 7 is Sunday, too
	s.either = !strings.HasPrefix(fields[2], "*") && !strings.HasPrefix(fields[4], "*")
	return s, strings.Join(fields[6:], " "), ok
}

// cronSet parses a field such as "*/15" or "1-5,7".
func cronSet(field string, low, high int) (set uint64, ok bool) {
	for part := range strings.SplitSeq(field, ",") {
		span, stepText, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(span, "-")
		start, end, step := low, high, 1
		var errs [3]error
		if span != "*" {
			start, errs[0] = strconv.Atoi(first)
			if end = start; ranged {
				end, errs[1] = strconv.Atoi(last)
			}
		}
		if stepped {
			step, errs[2] = strconv.Atoi(stepText)
		}
		if errs != [3]error{} || start < low || end > high || step < 1 {
			return 0, false
		}
		for v := start; v <= end; v += step {
			set |= 1 << v
		}
	}
	return set, true
}

// first returns the first time after now, and before an end, that is in the schedule.
func (s *schedule) first(now, end time.Time) (time.Time, bool) {
	for at := now.Truncate(time.Minute).Add(time.Minute); !at.After(end); at = at.Add(time.Minute) {
		day, weekday := s.days>>at.Day()&1 == 1, s.weekdays>>int(at.Weekday())&1 == 1
		today := day && weekday || s.either && (day || weekday)
		if today && s.months>>int(at.Month())&1 == 1 && s.hours>>at.Hour()&1 == 1 && s.minutes>>at.Minute()&1 == 1 {
			return at, true
		}
	}
	return time.Time{}, false
}
