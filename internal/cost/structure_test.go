package cost

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A card with one price each for space and for I/O: EBS io1 in 2020.
func linear(ioKB float64) *Card {
	return &Card{GB: 0.125, IOPS: Tier{Price: 0.065}, IOKB: ioKB}
}

// published returns the cost as the source computes it, with f for all writes.
func published(c *Card, gb, mbps, f, used float64) float64 {
	return gb*c.GB/used + 1024/c.ioKB()*mbps*f*c.IOPS.Price/(1-used)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %v, not %v", what, got, want)
	}
}

// The best shares of the source, 67, 39 and 17 % for writes of 1, 10 and 100 MB/s, with what
// they cost; and without the 256 of 4 KB in a MB, which the source's printed coefficient lacks,
// they would be others.
func TestPublishedOptima(t *testing.T) {
	for _, of := range []struct{ mbps, used, space, write, price, low, high float64 }{
		{1, 67.0254, 1.49197, 3.03264, 306.072, 56, 76},
		{10, 39.1274, 2.55575, 1.64278, 898.132, 29, 50},
		{100, 16.8927, 5.91972, 1.20326, 4818.423, 10, 27},
	} {
		c := linear(4)
		used := Closed(1100, of.mbps, 2, c.GB, c.IOPS.Price, 4)
		near(t, "share", 100*used, of.used, 1e-3)
		near(t, "price", published(c, 1100, of.mbps, 2, used), of.price, 1e-3)
		d := Demand{GB: 1100, MBps: of.mbps, Reads: 1}
		p, low, high := d.Optimum(c)
		near(t, "share by golden sections", 100*p.Used, of.used, 1e-3)
		near(t, "space amplification", p.Space, of.space, 1e-4)
		near(t, "write amplification", p.Write, of.write, 1e-4)
		near(t, "yardstick", Yardstick(p.Space, p.Write), 1, 1e-9)
		// Reads are of rewrites only: the source pays for one more read of what users write.
		near(t, "exact price", p.Bill.Sum(), of.price-256*of.mbps*c.IOPS.Price, 1e-3)
		if 100*low > of.low+8 || 100*high < of.high-8 || low >= p.Used || high <= p.Used {
			t.Errorf("%v MB/s: from %v to %v", of.mbps, low, high)
		}
		if wrong := Closed(1100, of.mbps, 2, c.GB, c.IOPS.Price, 1024); math.Abs(100*wrong-of.used) < 10 {
			t.Errorf("%v MB/s: without 256 it is %v", of.mbps, wrong)
		}
	}
}

// The closed form is a root of the source's quadratic equation, and where golden sections end.
func TestClosedForm(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		c := linear(4)
		gb, mbps, f := math.Exp(src.Float64()*9), math.Exp(src.Float64()*9-4), 1+src.Float64()
		used := Closed(gb, mbps, f, c.GB, c.IOPS.Price, 4)
		r := 256 * mbps * f * c.IOPS.Price / (gb * c.GB)
		p := 100 * used
		near(t, "quadratic", ((r-1)*p*p+200*p-10_000)/10_000, 0, 1e-6*(1+r))
		// Twice the price of I/O over space leaves the other share.
		near(t, "symmetry", Closed(gb, mbps/r/r, f, c.GB, c.IOPS.Price, 4), 1-used, 1e-9)
		best, _, _ := Demand{GB: gb, MBps: mbps, Reads: f - 1}.Optimum(c)
		near(t, "golden sections", best.Used, used, 1e-5)
	}
	near(t, "equal prices", Closed(256, 1, 1, 1, 1, 4), 0.5, 0)
}

// I/O of more KB is cheaper, so that more of the space is used.
func TestIOSize(t *testing.T) {
	for kb, want := range map[float64][3]float64{16: {80, 56, 29}, 64: {89, 72, 45}, 256: {94, 84, 62}} {
		for i, mbps := range []float64{1, 10, 100} {
			near(t, "share", math.Round(100*Closed(1100, mbps, 2, 0.125, 0.065, kb)), want[i], 0)
		}
	}
}

// A card with free I/O has kinks, and the least cost is often at one.
func TestFreeTier(t *testing.T) {
	for kb, want := range map[float64][3]float64{4: {85.4, 65.0, 36.6}, 64: {98.4, 89.3, 65.7}} {
		c := &Card{GB: 0.08, IOPS: Tier{0.005, 3000}, MBps: Tier{0.04, 125}, IOKB: kb}
		for i, mbps := range []float64{1, 10, 100} {
			p, _, _ := Demand{GB: 1100, MBps: mbps, Reads: 1}.Optimum(c)
			// The wanted shares are of the source's cost, which differs at kinks of throughput.
			near(t, "share", 100*p.Used, want[i], 0.7)
		}
	}
}
