package importer

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Patterns of names of repetitions and steps.
var (
	trialDir  = regexp.MustCompile(`^(?:(?:run|trial|rep)[-._]?)?0*([1-9]\d{0,3})$`)
	trialFile = regexp.MustCompile(`^(.+)[-._](?:run|trial|rep)[-._]?0*([1-9]\d{0,3})$`)
	// The steps of the insert benchmark name their directories: l.i0, l.x, l.i1,
	// q100.1, qr500.L3, q.L2.ips500.
	stepDir = regexp.MustCompile(`^(?:l\.(?:i\d?|ix|x)|q[rp]?\d+(?:\..*)?|q\.L\d.*)$`)
)

// repetition splits a file's name into the name of the run and its number, 0 if it
// has none.
func repetition(base string) (name string, trial int) {
	if m := trialFile.FindStringSubmatch(base); m != nil {
		n, _ := strconv.Atoi(m[2])
		return m[1], n
	}
	return base, 0
}

// stem returns a file's name without the parts that state its kind.
func stem(path string) string {
	base := filepath.Base(path)
	for _, ext := range []string{".gz", ".log", ".txt", ".out", ".err", ".stdout", ".stderr", ".csv", ".tsv", ".json",
		".summary", ".iostat", ".vmstat", ".time", ".sysbench", ".pgbench", ".ycsb", ".hammerdb"} {
		if s := strings.TrimSuffix(base, ext); s != "" {
			base = s
		}
	}
	return base
}

// Names of files of the insert benchmark, o.KIND.dopN.CLIENT, and pgbench's
// logs: PREFIX.PID, PREFIX.PID.THREAD.
var (
	ibFile    = regexp.MustCompile(`^o\.(?:ib|io|vm|ctime)\.(dop\d+)(?:\.(\d+))?$`)
	pgLogFile = regexp.MustCompile(`^((.+?)\.\d+)(?:\.(\d+))?$`)
)

var clientFile = regexp.MustCompile(`^(.+)[-._]client[-._]?(\d{1,4})$`)

// clientOf splits a name into that of the run and the number of one of its client processes, 0 if it has none.
func clientOf(name string) (string, int) {
	if m := clientFile.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[2])
		return m[1], n + 1 // they may be counted from 0
	}
	return name, 0
}

// newFileRun returns a run that has the name of its file, without the numbers of the trial and of the client.
func newFileRun(f *file, workload, tool string) *run {
	r := newRun(f, workload)
	r.nameByFile(f.path)
	r.tool = tool
	return r
}

// nameByFile sets the names and numbers that a file's name has.
func (n *naming) nameByFile(path string) {
	name, client := clientOf(stem(path))
	n.base, n.trial = repetition(name)
	if n.client = client; client == 0 {
		n.base, n.client = clientOf(n.base)
	}
	n.byFile = n.base
}

// suiteTest is a parsed name of a suite's file: sb.KIND.TEST.rangeR.pkP.dopN. Tables
// of results name the same tests TEST_range=R.
type suiteTest struct {
	test, reach string
	pk          string // "1", "0"; "" is unknown
	clients     int    // 0 is unknown
}

var (
	suiteFile  = regexp.MustCompile(`^sb\.(?:o|io|vm|time|met)\.(.+)$`)
	suiteName  = regexp.MustCompile(`^sb\.(?:o|met|r\.qps)\.(.+)\.range(\d+)\.pk([01])(?:\.dop(\d+))?$`)
	suiteTable = regexp.MustCompile(`^(.+)_range=(\d+)$`)
)

// suiteTestOf parses the name of a file, as the suite or as published tables have it.
func suiteTestOf(name string) (t suiteTest, ok bool) {
	if m := suiteName.FindStringSubmatch(name); m != nil {
		clients, _ := strconv.Atoi(m[4])
		return suiteTest{m[1], m[2], m[3], clients}, true
	}
	if m := suiteTable.FindStringSubmatch(name); m != nil {
		return suiteTest{test: m[1], reach: m[2]}, true
	}
	return suiteTest{}, false
}

// setSuiteTest makes a run a run of a suite's test.
func (r *run) setSuiteTest(t suiteTest) {
	r.test, r.base = t.test, t.test
	r.step.Doc = "sysbench, test " + t.test
	if t.reach != "" {
		r.base += "_range=" + t.reach
		r.step.Doc += " with range " + t.reach
	}
	if t.pk != "" {
		r.pk = t.pk
		r.params["pk"] = t.pk
	}
	if t.clients > 0 {
		r.clients = t.clients
	}
}

func (r *run) clientsText() string {
	if r.clients > 0 {
		return strconv.Itoa(r.clients)
	}
	return ""
}

// toolWord is the name of a tool at the beginning or the end of a file's name.
var toolWord = regexp.MustCompile(`^(?:sysbench|pgbench|ycsb|hammerdb|iostat|vmstat|time)[._-]|[._-](?:sysbench|pgbench|ycsb|` +
	`hammerdb|iostat|vmstat|time)$`)

// key returns the common part of the names of a run's files.
func key(path string) string {
	base := stem(path)
	if bare := toolWord.ReplaceAllString(base, ""); bare != "" {
		base = bare
	}
	for _, re := range []*regexp.Regexp{suiteFile, ibFile} {
		if m := re.FindStringSubmatch(base); m != nil {
			return m[1]
		}
	}
	return base
}

// key returns the key of a file whose format is known.
func (f *file) key() string {
	if f.id != "" {
		return f.id
	}
	f.id = key(f.path)
	if f.format.name == fmtPgLog {
		if m := pgLogFile.FindStringSubmatch(stem(f.path)); m != nil {
			f.id = m[2]
		}
	}
	return f.id
}
