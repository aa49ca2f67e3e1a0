// Package report composes reports of a campaign's trials: a page of sections, as HTML or Markdown, and the short
// summary that a run prints at its end.
//
// It measures nothing, and computes nothing but medians over trials and ratios of rows: every number on a page is a
// metric.Row, or refers to its rows; verdicts and means come from package compare. Only published figures come from
// elsewhere; they are shown apart and labelled. It reads no files and uses no network.
//
// A file names what comes after it here. Read from the top what is seen first, or from the end what it is made of:
//
//	report.go, embed.go           a page, its forms and its data
//	first_*.go                    the first screen: trust, panels, maps
//	words_*.go                    the answer, the findings and the summary of a run
//	section_*.go, then step_*.go  a section each, and the parts of the section of a step
//	search.go, sweep.go           searches for a rate, and steps along an axis
//	measure.go                    measures, cells and tables of targets
//	campaign.go                   the input, sorted into targets × steps
package report
