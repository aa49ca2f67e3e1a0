package importer

import (
	"maps"
	"slices"
)

// ycsbSuccess are the codes of operations that succeeded.
var ycsbSuccess = []string{"0", "OK", "BATCHED_OK"}

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
		if kind, wrong := ycsbKind(name); kind == "" || wrong || !o.counted || o.codes == 0 {
			continue
		}
		_, uncounted := o.failed()
		if sum := o.codes - uncounted; sum != o.count {
			y.contradict(name+": the sum of its codes", figure{value: float64(sum)}, "its operations",
				figure{value: float64(o.count)})
		}
	}
}

// mixed reports whether operations that failed are among those whose times are printed.
func (y *ycsb) mixed() bool {
	for name, o := range y.kinds {
		if counted, _ := o.failed(); ycsbKinds[name] != "" && counted > 0 {
			return true
		}
	}
	return false
}
