package pace

// Arrivals is the schedule of an open system: how many operations arrive over
// time, whatever becomes of those before.
type Arrivals struct {
	Kind Kind
	// Segments follow each other; the rate of the last one's end goes on.
	Segments []Segment
	// Queue is how many operations may wait for a free client; of more the
	// oldest are shed, which is counted. 0: any number.
	Queue int64
}

// Segment is a stretch of time in which the rate goes evenly from one to another.
type Segment struct {
	Seconds  float64
	From, To float64 // operations a second
}
