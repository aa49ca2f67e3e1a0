package declared

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/workload/gen"
)

// What follows is YCSB's Java code, transcribed line by line and without regard for
// speed, to compare with: ZipfianGenerator, ScrambledZipfianGenerator,
// SkewedLatestGenerator, HotspotIntegerGenerator, UniformLongGenerator,
// ExponentialGenerator, Utils.hash, and of CoreWorkload nextKeynum and buildKeyName
// (github.com/brianfrankcooper/YCSB, package site.ycsb). Where the original draws an
// integer by Math.abs(nextLong()) % n, n is multiplied by a draw of [0,1) here.

// javaRandom are the draws of [0,1).
type javaRandom func() float64

type javaZipfian struct {
	items, base, countforzeta           int64
	alpha, zetan, eta, theta, zeta2thet float64
	nextDouble                          javaRandom
}

func javaZetaStatic(st, n int64, theta, initialsum float64) float64 {
	sum := initialsum
	for i := st; i < n; i++ {
		sum += 1 / math.Pow(float64(i+1), theta)
	}
	return sum
}

func newJavaZipfian(low, high int64, constant, zetan float64, r javaRandom) *javaZipfian {
	z := &javaZipfian{nextDouble: r}
	z.items = high - low + 1
	z.base = low
	z.theta = constant
	z.zeta2thet = javaZetaStatic(0, 2, z.theta, 0)
	z.alpha = 1.0 / (1.0 - z.theta)
	z.zetan = zetan
	z.countforzeta = z.items
	z.eta = (1 - math.Pow(2.0/float64(z.items), 1-z.theta)) / (1 - z.zeta2thet/z.zetan)
	return z
}

func (z *javaZipfian) nextLong(itemcount int64) int64 {
	if itemcount != z.countforzeta {
		if itemcount > z.countforzeta {
			z.zetan = javaZetaStatic(z.countforzeta, itemcount, z.theta, z.zetan)
			z.countforzeta = itemcount
			z.eta = (1 - math.Pow(2.0/float64(z.items), 1-z.theta)) / (1 - z.zeta2thet/z.zetan)
		}
	}
	u := z.nextDouble()
	uz := u * z.zetan
	if uz < 1.0 {
		return z.base
	}
	if uz < 1.0+math.Pow(0.5, z.theta) {
		return z.base + 1
	}
	return z.base + int64(float64(itemcount)*math.Pow(z.eta*u-z.eta+1, z.alpha))
}

func javaHash(val int64) int64 {
	hashval := int64(-0x340d631b7bdddcdb) // 0xCBF29CE484222325L
	for range 8 {
		octet := val & 0x00ff
		val >>= 8
		hashval ^= octet
		hashval *= 1099511628211
	}
	if hashval < 0 {
		return -hashval
	}
	return hashval
}

func javaKeyName(keynum int64, zeropadding int, orderedinserts bool) string {
	if !orderedinserts {
		keynum = javaHash(keynum)
	}
	value := strconv.FormatInt(keynum, 10)
	return "user" + strings.Repeat("0", max(zeropadding-len(value), 0)) + value
}

// javaCore is CoreWorkload after init, with the last acknowledged key number.
type javaCore struct {
	last       int64
	next       func() int64
	isExponent bool
}

func newJavaCore(distribution string, recordcount, expectednewkeys int64, r javaRandom) *javaCore {
	c := &javaCore{last: recordcount - 1}
	between := func(start, interval int64) int64 { return start + int64(r()*float64(interval)) }
	switch distribution {
	case "uniform":
		c.next = func() int64 { return between(0, recordcount) }
	case "exponential":
		c.isExponent = true
		gamma := -math.Log(1.0-95.0/100.0) / (float64(recordcount) * 0.8571428571)
		c.next = func() int64 { return int64(-math.Log(r()) / gamma) }
	case "zipfian":
		start, end := int64(0), recordcount+expectednewkeys
		itemcount := end - start + 1
		z := newJavaZipfian(0, 10_000_000_000, 0.99, 26.46902820178302, r)
		c.next = func() int64 { return start + javaHash(z.nextLong(z.items))%itemcount }
	case "latest":
		items := c.last // new ZipfianGenerator(basis.lastValue())
		z := newJavaZipfian(0, items-1, 0.99, javaZetaStatic(0, items, 0.99, 0), r)
		c.next = func() int64 { return c.last - z.nextLong(c.last) }
	case "hotspot":
		hot := int64(float64(recordcount) * 0.2)
		c.next = func() int64 {
			if r() < 0.8 {
				return between(0, hot)
			}
			return between(hot, recordcount-hot)
		}
	}
	return c
}

func (c *javaCore) nextKeynum() int64 {
	for {
		keynum := c.next()
		if c.isExponent {
			if keynum = c.last - keynum; keynum >= 0 {
				return keynum
			}
		} else if keynum <= c.last {
			return keynum
		}
	}
}

// chooser returns the shipped file's chooser of rows for one of YCSB's distributions.
func chooser(t *testing.T, distribution string, records, inserts int64) (value, *tableDef) {
	t.Helper()
	content, _ := File("ycsb")
	w := readTest(t, "ycsb.yaml", content)
	given := map[string]any{"records": records, "inserts": inserts, "distribution": distribution}
	at := "read"
	if distribution == "latest" {
		given["distribution"], at = "zipfian", "read_latest"
	}
	r := newRun(t, w, "", given).(*run)
	table := r.tables[0]
	table.reset(records)
	table.prepare()
	c := r.compiler(1)
	row := r.root.Get("operations").Get(at).Items[0].Get("row")
	v, ok := c.value(row, scope{tableDef: table, vars: map[string]slot{}})
	expect.Must(t, ok, c.Problems)
	return v, table
}

// The requests per key are those of YCSB for the same draws, while rows are inserted
// too, as in D and E. For uniform and hotspot no rows are: YCSB asks for the records of
// the load only, and these files for all that there are.
func TestCountsAsYCSB(t *testing.T) {
	const draws = 200_000
	for _, c := range []struct {
		distribution     string
		records, inserts int64
	}{
		{"zipfian", 20_000, 0}, {"zipfian", 1_000_000, 0}, {"zipfian", 20_000, 10_000}, {"zipfian", 1000, 500},
		{"latest", 20_000, 0}, {"latest", 20_000, 10_000}, {"latest", 1000, 10_000}, {"latest", 10, 500},
		{"uniform", 20_000, 0}, {"hotspot", 20_000, 0}, {"hotspot", 1001, 0},
		{"exponential", 20_000, 0}, {"exponential", 20_000, 10_000},
	} {
		t.Run(c.distribution+" "+strconv.FormatInt(c.records, 10)+" "+strconv.FormatInt(c.inserts, 10), func(t *testing.T) {
			v, table := chooser(t, c.distribution, c.records, c.inserts)
			stream := gen.NewStream(1, "draws")
			e := env{src: *gen.NewSource(stream)}
			theirs := gen.NewSource(stream)
			unit := theirs.Unit
			if c.distribution == "exponential" { // whose logarithm is of a draw of (0,1] here
				unit = func() float64 { return 1 - theirs.Unit() }
			}
			java := newJavaCore(c.distribution, c.records, 2*c.inserts, unit)
			got, want := map[int64]int{}, map[int64]int{}
			for i := range int64(draws) {
				if c.inserts > 0 && i%(draws/c.inserts) == 0 {
					expect.NoError(t, table.done(table.next.Add(1)-1))
					java.last++
				}
				got[v.num(&e)]++
				want[java.nextKeynum()]++
			}
			different := 0
			for key, n := range want {
				if got[key] != n {
					different++
				}
			}
			expect.True(t, different <= 0 && len(got) == len(want),
				different, "of", len(want), "keys have other counts, and", len(got), "keys are asked for")
		})
	}
}

// Numbers and keys of workload/gen and of the shipped file are YCSB's.
func TestKeysAsYCSB(t *testing.T) {
	content, _ := File("ycsb")
	w := readTest(t, "ycsb.yaml", content)
	for order, golden := range map[string][5]string{
		"hashed":  {"user6284781860667377211", "user8517097267634966620", "user1820151046732198393", "user4052466453699787802", "user3232700585171816769"},
		"ordered": {"user000000000000", "user000000000001", "user000000000002", "user000000000003", "user000000000004"},
	} {
		r := newRun(t, w, "", map[string]any{"order": order}).(*run)
		cols := r.compiler(1).columns(r.tables[0])
		var e env
		for i := range int64(10_000) {
			expect.Must(t, gen.FNV(i) == javaHash(i), "FNV of", i, "is", gen.FNV(i), "and in YCSB", javaHash(i))
			e.text = e.text[:0]
			got := string(cols.list[0].at(&e, i).Buf())
			if want := javaKeyName(i, 12, order == "ordered"); order == "ordered" && got != want || order == "hashed" && got != javaKeyName(i, 1, false) {
				t.Fatalf("the key of record %d is %s, and in YCSB %s", i, got, want)
			}
			expect.True(t, i >= int64(len(golden)) || got == golden[i], i, got, golden)
		}
	}
}
