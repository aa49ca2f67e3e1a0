package tarantool

import (
	"context"
	"syscall"
	"testing"
	"time"

	driver "github.com/tarantool/go-tarantool/v2"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/need"
	"rumbench/model"
)

const benchRows = 10_000

// BenchmarkClient compares what this process computes for a request, which the
// server's is not part of, with the published driver: the same requests to the
// same server, one at a time, with rows of 30 bytes.
func BenchmarkClient(b *testing.B) {
	d := open(b, config(need.TempDir(b), memtx))
	fill(b, d)
	s := newSession(b, d)
	load := prepare(b, s, insert(100, model.Fail))
	for i := 0; i < benchRows; i += 100 {
		load.OK(rows(i, 100)...)
	}
	c, err := driver.Connect(b.Context(), driver.NetDialer{Address: "unix:" + d.address.host, User: "guest"}, driver.Opts{SkipSchema: true})
	must(b, err)
	defer c.Close()
	var ids prepared
	must(b, d.admin.eval(b.Context(), &ids, "local s = box.space['rumbench.sale'] return require('json').encode({space = s.id, index = s.index.customer.id})"))
	for _, c := range []struct {
		name   string
		op     model.Op
		args   []any
		keys   int // that there are
		driver func(i int) error
	}{
		{"get", getOp, []any{0}, benchRows, func(i int) error {
			var rows []row
			return c.Do(driver.NewSelectRequest(ids.Space).Index(0).Limit(1).Key([]any{i})).GetTyped(&rows)
		}},
		{"replace", insert(1, model.Replace), rows(0, 1), benchRows, func(i int) error {
			_, err := c.Do(driver.NewReplaceRequest(ids.Space).Tuple(rows(i, 1))).Get()
			return err
		}},
		{"update", model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "data"}}}, []any{"row 00000000", 0}, benchRows, func(i int) error {
			ops := driver.NewOperations().Assign(3, "row 00000000")
			_, err := c.Do(driver.NewUpdateRequest(ids.Space).Index(0).Key([]any{i}).Operations(ops)).Get()
			return err
		}},
		{"scan ten", model.Op{Kind: model.Scan, Table: "sale", Index: "customer", Columns: []string{"id", "price", "data"}, Lower: model.Inclusive, Limit: 10}, []any{0}, 100,
			func(i int) error {
				var rows []row
				return c.Do(driver.NewSelectRequest(ids.Space).Index(ids.Index).Iterator(driver.IterGe).Limit(10).Key([]any{i})).GetTyped(&rows)
			}},
	} {
		b.Run(c.name+"/rumbench", func(b *testing.B) {
			o := prepare(b, s, c.op)
			o.Each = nil
			args := enginetest.Values(c.args)
			key := len(c.op.Set)
			measure(b, c.keys, func(i int) error {
				args[key] = model.IntValue(int64(i))
				return o.Stmt.Exec(context.Background(), args, &o.Result)
			})
		})
		b.Run(c.name+"/go-tarantool", func(b *testing.B) { measure(b, c.keys, c.driver) })
	}
}

// row is a row as the driver decodes it into a struct, which is its fastest way.
type row struct {
	_msgpack struct{} `msgpack:",asArray"` //nolint:unused // read by the driver
	ID       int64
	Customer int64
	Price    float64
	Data     string
}

// measure reports the time that this process computes for a request.
func measure(b *testing.B, keys int, do func(i int) error) {
	b.ReportAllocs()
	before := ownCPU()
	for i := 0; b.Loop(); i++ {
		must(b, do(i*7919%keys))
	}
	b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

func ownCPU() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func BenchmarkCounters(b *testing.B) {
	d := open(b, config(need.TempDir(b), vinyl))
	fill(b, d)
	var sample engine.Sample
	measure(b, 1, func(int) error {
		sample.Reset()
		return d.Counters(context.Background(), &sample)
	})
	b.ReportMetric(float64(len(sample.Points)), "points")
}
