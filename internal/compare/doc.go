// Package compare judges the trials of campaigns against each other: it sorts
// them into targets and steps, takes medians over trials, and judges the
// difference of two targets with an interval and in a word.
//
// It reads and writes no files. Each rule states its reason as a phrase, because the phrase
// and the rule change together; report/verdict makes the sentences.
//
// Read campaign.go, number.go, effect.go and judge.go first. Files mostly name those below them:
//
//   - caveat.go, gate.go: what to read before the numbers; conditions on a comparison
//   - sweep.go, relative.go: steps along an axis, families of targets; one number in all tests, with means
//   - judge.go: two targets in all numbers: families of tests, the outcome of a question
//   - modes.go, machine.go: trials in two groups, and what these differ in; machines that are off
//   - effect.go: a difference, its test, and its verdict
//   - unfit.go, offered.go: why numbers are not compared: memory, other programs; other work
//   - apart.go, unlike.go: what two targets differ in: to explain a difference, or to forbid a comparison
//   - unit.go: what counts once: trials, pairs of them, machines, or loads
//   - index.go: the keys of a step, and what is derived from its runs once
//   - question.go, headline.go, search.go, group.go: the keys of numbers: asked about, of a metric; searches; tests
//   - number.go, canary.go, campaign.go: a target's number; the machine's own speed; targets and steps
package compare
