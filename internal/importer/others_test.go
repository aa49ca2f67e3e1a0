package importer

import (
	"strings"
	"testing"

	"rumbench/internal/result"
)

// hammerTest is the log of a test of HammerDB.
func hammerTest(users, orders string) string {
	return "Vuser 1:Beginning rampup time of 2 minutes\nVuser 1:Timing test period of 5 in minutes\n" +
		"Vuser 1:" + users + " Active Virtual Users configured\n" +
		"Vuser 1:TEST RESULT : System achieved " + orders + " NOPM from 139800 PostgreSQL TPM\n"
}

// A virtual user that fails makes its own test partial: the one that runs, or else the last one. A test
// that ends without a result says nothing about the next.
func TestHammerDBFailures(t *testing.T) {
	const failed = "Vuser 3:FINISHED FAILED\n"
	first, second := hammerTest("4", "60600"), hammerTest("8", "70600")
	during := strings.Replace(second, "Vuser 1:8", failed+"Vuser 1:8", 1)
	aborted := strings.Split(first, "Vuser 1:4")[0] + failed
	for _, c := range []struct{ name, log, partial string }{
		{"none", first + second, ""},
		{"after the first", first + failed + second, "a_clients=4"},
		{"in the second", first + during, "a_clients=8"},
		{"after the last", first + second + failed, "a_clients=8"},
		{"in a test without a result", aborted + first + second, ""},
	} {
		trials := read(t, Options{}, write(t, map[string]string{"pg/a.log": "HammerDB CLI v4.12\n" + c.log}))
		for _, name := range []string{"a_clients=4", "a_clients=8"} {
			want := result.Complete
			if name == c.partial {
				want = result.Partial
			}
			if s := step(t, trials, "pg", 1, name); s.Status != want {
				t.Errorf("%s: %s is %s", c.name, name, s.Status)
			}
		}
	}
}

// Tests with equal numbers of users in one log are trials; the jobs of HammerDB say the users otherwise.
func TestHammerDBRepeated(t *testing.T) {
	log := "HammerDB CLI v4.12\n" + hammerTest("4", "60600") + hammerTest("4", "70600")
	for _, dir := range []string{"pg/", "pg/2/"} {
		trials := read(t, Options{}, write(t, map[string]string{dir + "a.log": log}))
		if len(trials) != 2 || trials[0].Trial == trials[1].Trial {
			t.Errorf("%s: %s", dir, names(trials))
		}
	}
	jobs := strings.ReplaceAll(hammerTest("4", "60600"), "Vuser 1:4 Active", `"4 Active`)
	if s := step(t, read(t, Options{}, write(t, map[string]string{"pg/a.log": "HammerDB CLI v4.12\n" + jobs})), "pg", 1, "a"); s.Groups[0].Clients != 4 {
		t.Errorf("%+v", s.Groups[0])
	}
}

// benchbase puts the time into the names of its files: they are trials of one step, in their order.
func TestBenchbaseRepeated(t *testing.T) {
	later := strings.Replace(benchbaseJSON, "1700000000000", "1700000100000", 1)
	trials := read(t, Options{}, write(t, map[string]string{
		"pg/tpcc_2023-11-14_22-15-00.summary.json": later, "pg/tpcc_2023-11-14_22-13-20.summary.json": benchbaseJSON,
		"my/tpcc_2023-11-15_00-00-00.summary.json": benchbaseJSON,
	}))
	if got := names(trials); got != "my.1 tpcc, pg.1 tpcc, pg.2 tpcc" {
		t.Fatal(got)
	}
	if a, b := step(t, trials, "pg", 1, "tpcc"), step(t, trials, "pg", 2, "tpcc"); !a.Started.Before(b.Started) {
		t.Errorf("trial 1 began at %v, trial 2 at %v", a.Started, b.Started)
	}
}
