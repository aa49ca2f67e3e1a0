package metric

// descriptive are the codes of warnings that only a reader acts upon.
var descriptive = map[Code]Kind{}
