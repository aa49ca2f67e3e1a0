package mongodb

import (
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"rumbench/engine/enginetest"
	"rumbench/model"
)

// The client's cost of a request: that of the engine's commands, beside that of the
// driver's own collections on the same server. FerretDB takes its time, which is
// not measured: cpu-us/op is of this process.

const benchRows = 50

// loaded is a session on a table of some rows, and the driver's collection of it.
func loaded(b *testing.B) (*session, *mongo.Collection) {
	d := open(b, config(b))
	s := session1(b, d)
	insert := enginetest.PrepareOperation(b, s, schema(), model.Op{Kind: model.Insert, Table: "sale", Columns: saleColumns, Rows: 1})
	for i := range benchRows {
		insert.OK(i%50, float64(i), "some data of a row")
	}
	client, err := d.connect(b.Context(), 0)
	must(b, err)
	b.Cleanup(func() { disconnect(client) })
	return s, client.Database(d.Server.Schema).Collection("sale")
}

var saleColumns = []string{"product", "price", "data"}

// sale is a row as users of the driver declare it.
type sale struct {
	ID      int64   `bson:"_id"`
	Product int32   `bson:"product"`
	Price   float64 `bson:"price"`
	Data    string  `bson:"data"`
}

func ownCPU() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// measure reports the time that this process computes for, which the server's is
// not part of.
func measure(b *testing.B, do func(i int) error) {
	b.ReportAllocs()
	b.ResetTimer()
	before := ownCPU()
	for i := 0; b.Loop(); i++ {
		must(b, do(i))
	}
	b.ReportMetric(float64((ownCPU()-before).Nanoseconds())/1000/float64(b.N), "cpu-us/op")
}

// engineOp measures an operation of the engine.
func engineOp(b *testing.B, s *session, op model.Op, args []model.Value, change func(i int)) {
	b.Run("engine", func(b *testing.B) {
		o := enginetest.PrepareOperation(b, s, schema(), op)
		o.Each = func([]model.Value) {}
		measure(b, func(i int) error {
			change(i)
			return o.Stmt.Exec(b.Context(), args, &o.Result)
		})
	})
}

func BenchmarkInsert10(b *testing.B) {
	const rows = 10
	s, c := loaded(b)
	var args []model.Value
	for range rows {
		args = append(args, enginetest.Values([]any{7, 1.5, "some data of a row"})...)
	}
	engineOp(b, s, model.Op{Kind: model.Insert, Table: "sale", Columns: saleColumns, Rows: rows}, args, func(int) {})
	next := int64(1 << 40)
	b.Run("driver", func(b *testing.B) {
		measure(b, func(int) error {
			documents := make([]sale, rows)
			for i := range documents {
				next++
				documents[i] = sale{next, 7, 1.5, "some data of a row"}
			}
			_, err := c.InsertMany(b.Context(), documents)
			return err
		})
	})
}

func BenchmarkGet(b *testing.B) {
	s, c := loaded(b)
	args := make([]model.Value, 1)
	engineOp(b, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id", "product", "price", "data"}}, args, func(i int) {
		args[0] = model.IntValue(int64(i%benchRows + 1))
	})
	b.Run("driver", func(b *testing.B) {
		var one sale
		measure(b, func(i int) error {
			return c.FindOne(b.Context(), bson.D{{Key: "_id", Value: i%benchRows + 1}}).Decode(&one)
		})
	})
}

func BenchmarkScanTen(b *testing.B) {
	s, c := loaded(b)
	args := make([]model.Value, 1)
	engineOp(b, s, model.Op{Kind: model.Scan, Table: "sale", Index: "market", Lower: model.Inclusive, Limit: 10, Columns: []string{"product", "price"}}, args, func(i int) {
		args[0] = model.IntValue(int64(i % 10))
	})
	b.Run("driver", func(b *testing.B) {
		o := options.Find().SetSort(bson.D{{Key: "product", Value: 1}, {Key: "price", Value: 1}}).SetLimit(10).SetHint("market").
			SetProjection(bson.D{{Key: "product", Value: 1}, {Key: "price", Value: 1}, {Key: "_id", Value: 0}})
		var rows []sale
		measure(b, func(i int) error {
			cursor, err := c.Find(b.Context(), bson.D{{Key: "product", Value: bson.D{{Key: "$gte", Value: i % 10}}}}, o)
			if err != nil {
				return err
			}
			return cursor.All(b.Context(), &rows)
		})
	})
}

func BenchmarkUpdate(b *testing.B) {
	s, c := loaded(b)
	args := make([]model.Value, 2)
	engineOp(b, s, model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "product", Add: true}}}, args, func(i int) {
		args[0], args[1] = model.IntValue(1), model.IntValue(int64(i%benchRows+1))
	})
	b.Run("driver", func(b *testing.B) {
		measure(b, func(i int) error {
			_, err := c.UpdateOne(b.Context(), bson.D{{Key: "_id", Value: i%benchRows + 1}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "product", Value: 1}}}})
			return err
		})
	})
}
