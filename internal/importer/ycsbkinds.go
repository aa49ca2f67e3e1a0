package importer

import (
	"maps"
	"math"
	"slices"
	"strings"
)

const ycsbRMW = "READ-MODIFY-WRITE"

// ycsbKinds are the operations, by their names in the log. Others are connections, transactions
// and checks. A read-modify-write is counted as a read and an update, too.
var ycsbKinds = map[string]string{
	"READ": "read", "UPDATE": "update", "INSERT": "insert", "SCAN": "scan", "DELETE": "delete",
	ycsbRMW: "read_modify_write", "READ_MODIFY_WRITE": "read_modify_write",
}

// ycsbKind returns the kind of operations that a name in the log is about, and whether they failed.
// YCSB's failures are KIND-REASON, go-ycsb's KIND_ERROR.
func ycsbKind(name string) (kind string, failed bool) {
	if kind := ycsbKinds[name]; kind != "" {
		return kind, false
	}
	longest := ""
	for known := range ycsbKinds {
		failure := strings.HasPrefix(name, known+"-") || name == known+"_ERROR"
		if failure && len(known) > len(longest) {
			longest = known
		}
	}
	return ycsbKinds[longest], true
}

// done returns the kinds of operations, how many of each and of all succeeded, and how many of each failed.
func (y *ycsb) done() (kinds []string, done map[string]int64, total int64, failed map[string]int64) {
	done, failed = map[string]int64{}, map[string]int64{}
	uncounted := map[string]int64{} // in the codes, and in a kind of their own if that is printed
	for name, o := range y.kinds {
		switch kind, failure := ycsbKind(name); {
		case kind == "":
		case failure:
			failed[kind] += o.count
		case o.counted:
			counted, codesOnly := o.failed()
			kinds = append(kinds, kind)
			done[kind], uncounted[kind] = o.count-counted, codesOnly
			failed[kind] += counted
			if total += done[kind]; kind == "read_modify_write" {
				total -= 2 * done[kind]
			}
		}
	}
	for kind, n := range uncounted {
		failed[kind] = max(failed[kind], n)
	}
	slices.Sort(kinds)
	return kinds, done, total, failed
}

// failed returns how many of the counted operations failed, and how many more did that are not counted. Releases of
// today count what succeeded; the codes have the others too, which are also a kind of their own, KIND-FAILED.
func (o *ycsbOp) failed() (counted, uncounted int64) {
	if o.codes == o.count+o.bad {
		return 0, o.bad
	}
	return o.bad, 0
}

// checkCodes compares the sum of the codes of each kind with its count.
func (y *ycsb) checkCodes() {
	for _, name := range slices.Sorted(maps.Keys(y.kinds)) {
		o := y.kinds[name]
		_, uncounted := o.failed()
		sum := o.codes - uncounted
		y.contradictIf(ycsbKinds[name] != "" && o.counted && o.codes != 0 && sum != o.count,
			name+": the sum of its codes", newFigure(float64(sum)), "its operations", newFigure(float64(o.count)))
	}
}

// timesFailures reports whether operations that failed are among those whose times are printed.
func (y *ycsb) timesFailures() bool {
	for name, o := range y.kinds {
		if counted, _ := o.failed(); ycsbKinds[name] != "" && counted > 0 {
			return true
		}
	}
	return false
}

// tornPairs reports whether read-modify-writes may have failed in part: both tools measure them all the same, and
// how many reads and updates were theirs is not in the log.
func (y *ycsb) tornPairs() bool {
	parts, pairs := false, false
	for name, o := range y.kinds {
		kind, failed := ycsbKind(name)
		parts = parts || (failed && o.count > 0 || o.bad > 0) && (kind == "read" || kind == "update")
		pairs = pairs || kind == "read_modify_write" && o.count > 0
	}
	return parts && pairs
}

// wholeMillis reports whether all percentiles are multiples of a millisecond, as those of old releases of go-ycsb.
func (y *ycsb) wholeMillis() bool {
	some := false
	for _, o := range y.kinds {
		for _, us := range o.percentiles {
			if some = true; math.Mod(us, 1000) != 0 {
				return false
			}
		}
	}
	return some
}
