package trial

import (
	"fmt"

	"rumbench/internal/drive"
	"rumbench/internal/hist"
	"rumbench/internal/result"
	"rumbench/workload"
)

// undoneAs is the operation kind under which operations count that were due and
// not done: nobody knows which variety of it they would have been.
func undoneAs(group *workload.Group) string { return group.Ops[0].Whole() }

// withUndone is what was done of a kind, with those that were not done among
// the response times: at least their age at the end is theirs.
func withUndone(group *workload.Group, res *drive.GroupResult, op string, s hist.Sums) *hist.Sums {
	if s.Response == nil || res.Undone == nil || op != undoneAs(group) {
		return &s
	}
	all := hist.NewDist()
	all.Merge(s.Response)
	all.Merge(res.Undone)
	s.Response = all
	return &s
}

// addUndone adds how many operations of a group were due and not done at the
// end, and says so of response times that are longer than known. That each
// client had one on its way, no older than others took, is as it should be.
func (r *rows) addUndone(group *workload.Group, res *drive.GroupResult) {
	ages := res.Undone
	if ages == nil || res.Arrivals == nil && ages.Count() == 0 {
		return
	}
	due, longest := ages.Count(), int64(0)
	for k := range res.Kinds {
		if s := &res.Kinds[k]; !group.Ops[k].Upkeep {
			due += s.Ops + s.GivenUp
			longest = max(longest, s.Response.Max())
		}
	}
	r.put("abandoned", float64(ages.Count()), of(group.Name, ""), count(due))
	if ages.Count() <= int64(group.Clients) && ages.Max() <= longest {
		return
	}
	text := fmt.Sprintf("%d of %d operations were not done; their response time is at least their age at the end, by which they count", ages.Count(), due)
	if len(group.Ops) > 1 {
		text += " under " + undoneAs(group)
	}
	r.doubtResponses(group, text)
}

// logUndone adds to the latency log the ages of the operations that were not done.
func (t *trial) logUndone(step *workload.Step, res *drive.Result) {
	for g := range step.Groups {
		group := &step.Groups[g]
		t.latency.merge(result.LatencyTag(step.Name, group.Name, undoneAs(group), "response"), res.Groups[g].Undone)
	}
}
