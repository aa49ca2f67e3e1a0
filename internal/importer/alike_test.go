package importer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// transactions is a log of a script with several statements in a transaction,
// for which a rate was asked.
func transactions(storage, rate string, queries int) string {
	command := "sysbench --tables=8 --table-size=1000 --rate=" + rate + " --mysql-storage-engine=" + storage + " /share/oltp_read_write.lua run\n"
	n := fmt.Sprint(queries)
	log := strings.NewReplacer("queries:                             1000000 (10000.00", "queries:                             "+n+" ("+n[:len(n)-2]+".00",
		"read:                            1000000", "read:                            "+n).Replace(sysbenchLog)
	return command + strings.Replace(log, "Warmup time: 5s", "Target transaction rate: "+rate+"/sec", 1)
}

// compared are two targets, each of an import of its own.
func compared(t *testing.T, innodb, rocksdb string) (c *compare.Campaign, a, b *compare.Target) {
	t.Helper()
	var trials []*result.Trial
	for name, log := range map[string]string{"innodb": innodb, "rocksdb": rocksdb} {
		for _, trial := range imported(t, map[string]string{name + "/1/mixed.log": log}) {
			trial.Target, trial.Dir = name, name
			trials = append(trials, trial)
		}
	}
	c = compare.New(trials)
	return c, c.Target("innodb"), c.Target("rocksdb")
}

// Storage engines are what is compared; a rate is the one that was asked for,
// however many statements its transactions took.
func TestStorageEnginesAreCompared(t *testing.T) {
	c, a, b := compared(t, transactions("InnoDB", "1000", 20000000), transactions("rocksdb", "1000", 20110000))
	if list := compare.Unlike(a, b); len(list) > 0 {
		t.Errorf("other work: %v", list)
	}
	expect.Equal(t, fmt.Sprint(compare.Apart(a, b)), "[storage: innodb and rocksdb]", "differs")
	if list := c.Steps[0].Offered(a, b); len(list) > 0 {
		t.Errorf("offered: %v", list)
	}
	g := c.Steps[0].Groups()[0]
	expect.True(t, g.Rate == 1000 && g.RateOf == opTransaction && g.Promised(opQuery) == 0 &&
		g.Promised(opTransaction) == 1000, g)
	c, a, b = compared(t, transactions("innodb", "500", 20000000), transactions("rocksdb", "4000", 20000000))
	expect.Equal(t, strings.Join(c.Steps[0].Offered(a, b), "; "), "rate of clients: 500/s of transaction and 4000/s of transaction")
}

// In one import targets may differ in it, the trials of one target must not.
func TestStorageEngineOfTarget(t *testing.T) {
	innodb, rocksdb := transactions("innodb", "1000", 20000000), transactions("rocksdb", "1000", 20110000)
	trials := imported(t, map[string]string{"a/1/mixed.log": innodb, "b/1/mixed.log": rocksdb})
	expect.True(t, len(trials) == 2 && trials[0].Knobs[storageKnob] == "innodb" &&
		trials[1].Knobs[storageKnob] == "rocksdb", trials)
	_, err := Read([]string{write(t, map[string]string{"a/1/mixed.log": innodb, "a/2/mixed.log": rocksdb})}, Options{Now: at})
	var ps hint.Problems
	expect.True(t, errors.As(err, &ps), "two storage engines in one target", err)
	expect.Contains(t, err.Error(), "storage engine", "two storage engines in one target", err)
}

// imported are the trials of an import.
func imported(t *testing.T, files map[string]string) (out []*result.Trial) {
	t.Helper()
	c := expect.Value(Read([]string{write(t, files)}, Options{Now: at}))(t)
	for i := range c.trials {
		out = append(out, c.trials[i].Trial)
	}
	return out
}
