package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"rumbench/engine"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/escape"
)

// StatementPlan is a line of plans.jsonl: the database's plan to find the rows
// of an operation that clients of a step prepared.
type StatementPlan struct {
	Step   string      `json:"step"`
	When   When        `json:"when"`
	Op     string      `json:"op"`
	Wanted string      `json:"wanted,omitempty"` // the index that the workload demands; "": any plan will do
	Plan   engine.Plan `json:"plan"`
}

// When is when a plan was asked for.
type When string

// A plan is asked for before and after the measured window, and written again
// only if it has changed.
const (
	AtBegin When = "begin"
	AtEnd   When = "end"
)

// AppendPlans adds plans to those of a trial.
func AppendPlans(dir string, plans []StatementPlan) (err error) {
	if len(plans) == 0 {
		return nil
	}
	path := filepath.Join(dir, PlansFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(escape.NewWriter(f))
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for i := range plans {
		err = errors.Join(err, enc.Encode(&plans[i]))
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// ReadPlans reads the plans of a trial; none if its engine has no planner. A last line that was cut
// off ends it without error.
func ReadPlans(dir string) ([]StatementPlan, error) {
	path := filepath.Join(dir, PlansFile)
	b, err := regular.ReadFile(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []StatementPlan
	lines := bytes.Split(b, []byte("\n"))
	for n, line := range lines[:len(lines)-1] { // text after the last line end was cut off
		var p StatementPlan
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read %s: line %d: %w", path, n+1, err)
		}
		out = append(out, p)
	}
	return out, nil
}
