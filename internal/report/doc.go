// Package report composes reports of a campaign's trials: a page of sections, as HTML or Markdown, and the short
// summary that a run prints at its end.
//
// It measures nothing, and computes nothing but medians over trials and ratios of rows: every number on a page is a
// metric.Row, or refers to its rows; verdicts and means come from package compare. Only published figures come from
// elsewhere; they are shown apart and labelled. It reads no files and uses no network.
//
// A file mostly names what comes after it here. Read from the top what is seen first, or from the end its parts:
//
//	a page, its forms and its data: report.go, embed.go
//	the first screen, with trust, panels and maps: first_*.go
//	the answer, the findings and the summary of a run: words_*.go
//	a section each, and the parts of the section of a step: section_*.go, then step_*.go
//	searches for a rate, and steps along an axis: search.go, sweep.go
//	measures, cells and tables of targets: measure.go
//	the input, sorted into targets × steps: campaign.go
package report
