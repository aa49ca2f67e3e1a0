package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/run/drive"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// records is the number of YCSB records.
const records = 100_000

// ycsbClient is YCSB C as one would write it in Go.
type ycsbClient struct {
	stmt    engine.Stmt
	request gen.YCSBScrambled
	source  *gen.Source
	key     []byte
	args    [1]model.Value
	result  engine.Result
	ready   bool
}

func (c *ycsbClient) Ready(context.Context) error {
	if c.ready {
		return nil
	}
	row := c.request.Draw(c.source)
	for row >= records {
		row = c.request.Draw(c.source)
	}
	c.key = strconv.AppendInt(append(c.key[:0], "user"...), gen.FNV(row), 10)
	c.args[0] = model.StringValue(c.key)
	c.ready = true
	return nil
}

func (c *ycsbClient) Do(ctx context.Context, out *workload.Outcome) error {
	if err := c.stmt.Exec(ctx, c.args[:], &c.result); err != nil {
		return err
	}
	out.Reads, out.Rows, out.Bytes, out.Expected, out.Found = 1, 1, c.result.Bytes, 1, c.result.Rows
	c.ready = false
	return nil
}

// fileAgainstGo measures the cost of an operation of YCSB C, declared in a file
// and written in Go.
func fileAgainstGo(string) ([]budget, error) {
	const ops = 3_000_000
	w, _ := catalog.Plugins{}.Workload("ycsb")
	steps, db, err := onNull(w, map[string]any{"records": int64(records), "clients": int64(1), "load_clients": int64(1)})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if _, err := timed(ctx, db, &steps[0], nil); err != nil {
		return nil, err
	}
	c := steps[slices.IndexFunc(steps, func(s workload.Step) bool { return s.Name == "C" })]
	c.Seconds, c.Groups = 0, slices.Clone(c.Groups)
	c.Groups[0].Work = ops
	inGo := workload.Step{Name: "C in Go", Groups: c.Groups,
		Open: func(context.Context, workload.Env) (workload.Stage, error) { return goStage{}, nil }}
	file, byHand := 1e9, 1e9
	for range 3 {
		for _, subject := range []struct {
			step *workload.Step
			dst  *float64
		}{{&c, &file}, {&inGo, &byHand}} {
			took, err := timed(ctx, db, subject.step, &workload.Live{})
			if err != nil {
				return nil, err
			}
			*subject.dst = min(*subject.dst, took.Seconds()*1e9/ops)
		}
	}
	return []budget{{
		subject: "YCSB C by file: cost of an operation more than in Go", value: file - byHand, limit: 300, unit: "ns",
		measured: fmt.Sprintf("%.0f ns by file, %.0f ns in Go, with timing and recording", file, byHand),
	}}, nil
}

// timed runs a step and returns the CPU time of its clients.
func timed(ctx context.Context, db engine.DB, s *workload.Step, previous *workload.Live) (time.Duration, error) {
	stage, err := s.Open(ctx, workload.Env{DB: db, Seed: 1, Previous: previous})
	if err != nil {
		return 0, err
	}
	clients, closeAll, err := workload.Seats(ctx, s, stage, workload.Part{}, db.Session)
	defer closeAll()
	if err != nil {
		return 0, err
	}
	res, err := drive.Run(ctx, drive.Config{Step: s, Clients: clients, Interval: time.Second, ThreadCPU: true})
	if err != nil {
		return 0, err
	}
	_, err = stage.Finish(ctx, res.Totals())
	return res.Groups[0].CPU, err
}

// goStage is the stage of YCSB C in Go.
type goStage struct{}

func (goStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	t := &model.Op{Kind: model.Get, Table: "usertable", Columns: []string{"ycsb_key"}, Keys: 1}
	stmt, err := seat.Session.Prepare(ctx, t)
	if err != nil {
		return nil, err
	}
	return &ycsbClient{stmt: stmt, request: gen.NewYCSBScrambled(records+1, gen.YCSBTheta),
		source: gen.NewSource(gen.NewStream(1, "ycsb"))}, nil
}

func (goStage) Finish(context.Context, workload.Totals) (f workload.Finding, err error) {
	return f, nil
}
