package stat

import "math"

// Shape is how a course goes on the whole.
type Shape int

// The shapes of a course.
const (
	Unknown   Shape = iota // too few values, or too few independent ones
	Steady                 // one level, after a warm-up perhaps
	Degrading              // falling from level to level
	Improving              // rising from level to level
	Unsteady               // changing levels in both directions
)

func (s Shape) String() string {
	return [...]string{"unknown", "steady", "degrading", "improving", "unsteady"}[s]
}

// Phase is a stretch of a course on one level.
type Phase struct {
	From, To int     // the value at To is not part of it
	Level    float64 // the median
}

// Course tells how a series of values goes.
type Course struct {
	Phases []Phase
	WarmUp int // leading values before the rest, which the shape is of
	Shape  Shape
}

const (
	leastCourse = 20   // values: fewer show a change only if it is extreme
	courseAlpha = 0.01 // of a change: a report looks at many courses
	sameLevel   = 0.05 // of the greater level: levels so near are taken for the same
	warmUpShare = 0.25 // of the values, at most
)

// CourseOf finds the course of x, such as the rates of a run's intervals: the
// phases between its changes of level, and their shape. Phases whose levels differ by
// less than 5 % count as the same level there.
//
// Phases that begin in the first quarter may be a warm-up, whichever way they
// differ: if the rest is steady without them, or goes in one direction only. The
// shortest that leaves a steady rest is taken, else the shortest that leaves one
// direction. With fewer than 20 values, or so slowly varying ones that a change
// could not be told from chance, the shape is Unknown and there is one phase,
// with no values none. So are outliers: where the course is Steady there may
// still be stalls.
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
	from := 0
	for _, to := range append(points, len(x)) {
		c.Phases = append(c.Phases, Phase{from, to, Median(x[from:to])})
		from = to
	}
	c.WarmUp, c.Shape = shapeOf(c.Phases, int(warmUpShare*float64(len(x))))
	return c
}

// shapeOf leaves out as few of the phases that begin up to latest as it takes to
// see a shape in the rest.
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

// direction compares each level with the extremes of those before.
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

// above tells whether one level is greater by enough to matter.
func above(a, b float64) bool {
	return a-b > sameLevel*max(math.Abs(a), math.Abs(b))
}
