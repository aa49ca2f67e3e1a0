package metric

// The codes of warnings that only a reader acts upon.
const (
	ProcessorsShared Code = "processors_shared"
	UnexplainedIO    Code = "unexplained_io"
	NotDone          Code = "not_done"
	NotMonotone      Code = "not_monotone"
)

// descriptive are those codes.
var descriptive = map[Code]Kind{
	ProcessorsShared: {Text: "the machine computed for {all:%.2f} s, of which {worker} for {server:%.2f} s[, rumbench for {client:%.2f} s][, the kernel's threads for {kernel:%.2f} s]: other programs took part of the processors"},
	UnexplainedIO:    {Text: "the device {did} {all:%.1f} MB, of which {worker} caused {own:%.1f} MB: the rest is the file system's journal, or of {others}"},
	NotDone:          {Text: "{n:%.0f} of {due:%.0f} operations were not done; their response time is at least their age at the end, by which they count{under}"},
	NotMonotone:      {Text: "not monotone: {lower} at {lower_rate:%.10g}/s, but {upper} at {upper_rate:%.10g}/s; something else disturbed one of them"},
}
