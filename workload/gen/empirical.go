package gen

import "math"

// Empirical is a measured distribution of whole numbers.
type Empirical struct {
	points [][2]float64
	exact  int // each of the first exact points represents one number
}

// NewEmpirical returns the distribution through points: numbers in ascending order, each
// with the share of the numbers that are greater, which is 0 for the last point. Between
// points that are not adjacent numbers, the logarithm of the number is linear in the
// logarithm of the share.
func NewEmpirical(points [][2]float64) *Empirical {
	exact := 1
	for exact < len(points) && points[exact][0] == points[exact-1][0]+1 {
		exact++
	}
	return &Empirical{points, exact}
}

// Quantile returns the smallest number that at most a share above of the numbers
// exceed; above is in [0, 1].
func (e *Empirical) Quantile(above float64) int64 {
	i := 0
	for e.points[i][1] > above {
		i++
	}
	number, share := e.points[i][0], e.points[i][1]
	if i < e.exact || share == 0 {
		return int64(number)
	}
	last := e.points[i-1]
	at := math.Log(above/last[1]) / math.Log(share/last[1])
	return int64(math.Ceil(last[0] * math.Pow(number/last[0], at)))
}

// Normal returns the next draw of the standard normal distribution, by the method
// of Box and Muller (1958). It takes two draws of the stream.
func (s *Source) Normal() float64 {
	radius := math.Sqrt(-2 * math.Log(1-s.Unit()))
	return radius * math.Cos(2*math.Pi*s.Unit())
}
