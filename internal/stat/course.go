package stat

import "math"

// Shape is the overall shape of a course.
type Shape int

// The shapes of a course.
const (
	Unknown   Shape = iota // too few values, or too few independent ones
	Steady                 // one level, perhaps after a warm-up
	Degrading              // falling from level to level
	Improving              // rising from level to level
	Unsteady               // changing levels in both directions
)

func (s Shape) String() string {
	return [...]string{"unknown", "steady", "degrading", "improving", "unsteady"}[s]
}

// Phase is a stretch of a course on one level.
type Phase struct {
	From, To int     // half open: the value at To is excluded
	Level    float64 // the median
}

// Course describes how a series of values develops.
type Course struct {
	Phases []Phase
	WarmUp int // leading values that the shape leaves out
	Shape  Shape
}

const (
	leastCourse = 20   // values: in fewer only an extreme change is found
	courseAlpha = 0.01 // significance of a change: a report has many courses
	sameLevel   = 0.05 // of the greater level: closer levels count as the same
	warmUpShare = 0.25 // of the values, at most
)

// CourseOf returns the course of x, such as the rates of a run's intervals: the
// phases between its changes of level, and their shape. For the shape, levels that
// differ by less than 5 % count as the same.
//
// Phases that begin in the first quarter may be a warm-up, in either direction,
// if the rest without them is steady or goes in one direction. The shortest
// warm-up that leaves a steady rest is taken, else the shortest that leaves one
// direction. With fewer than 20 values, or values that vary so slowly that a
// change cannot be distinguished from chance, the shape is Unknown and there is
// one phase, or none without values. Outliers do not count: a Steady course may
// have stalls.
//
// The kinds are those of Barrett and others, "Virtual machine warmup blows hot
// and cold", OOPSLA 2017.
func CourseOf(x []float64) Course {
	if len(x) == 0 {
		return Course{}
	}
	points, able := changes(x, courseAlpha)
	if len(x) < leastCourse || !able {
		return Course{Phases: []Phase{{0, len(x), Median(x)}}}
	}
	var c Course
	start := 0
	for _, end := range append(points, len(x)) {
		c.Phases = append(c.Phases, Phase{start, end, Median(x[start:end])})
		start = end
	}
	c.WarmUp, c.Shape = shapeOf(c.Phases, int(warmUpShare*float64(len(x))))
	return c
}

// shapeOf leaves out the fewest phases that begin up to latest such that the
// rest has a shape.
func shapeOf(phases []Phase, latest int) (warmUp int, shape Shape) {
	shape = Unsteady
	for k, p := range phases {
		if p.From > latest {
			break
		}
		switch s := direction(phases[k:]); {
		case s == Steady:
			return p.From, s
		case shape == Unsteady && s != Unsteady:
			warmUp, shape = p.From, s
		}
	}
	return warmUp, shape
}

// direction compares each level with the extremes of the levels before it.
func direction(phases []Phase) Shape {
	low, high := phases[0].Level, phases[0].Level
	up, down := false, false
	for _, p := range phases[1:] {
		up = up || above(p.Level, low)
		down = down || above(high, p.Level)
		low, high = min(low, p.Level), max(high, p.Level)
	}
	switch {
	case up && down:
		return Unsteady
	case up:
		return Improving
	case down:
		return Degrading
	}
	return Steady
}

// above reports whether a is greater than b by enough to matter.
func above(a, b float64) bool { return a-b > sameLevel*max(math.Abs(a), math.Abs(b)) }
