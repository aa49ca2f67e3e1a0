package account_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// A drive's log pages before and after a step become its rows: from bytes of NVMe's SMART page and OCP's
// extended one, by a reader of pages in place of a drive.
func TestDrive(t *testing.T) {
	smart, ocp := make([]byte, 512), make([]byte, 512)
	copy(ocp[496:], "\xc5\xaf\x10\x28\xea\xbf\xf2\xa4\x9c\x4f\x6f\x7c\xc9\x14\xd5\xaf")
	set := func(kelvin uint16, units, mediaBytes, mediaErrors uint64, transitions uint32) {
		binary.LittleEndian.PutUint16(smart[1:], kelvin)
		binary.LittleEndian.PutUint64(smart[48:], units)
		binary.LittleEndian.PutUint64(smart[160:], mediaErrors)
		binary.LittleEndian.PutUint32(smart[216:], transitions)
		binary.LittleEndian.PutUint64(ocp, mediaBytes)
	}
	extended := true
	sampler := observe.Sampler{Collectors: []observe.Collector{&observe.NVMe{Drives: []string{"nvme0n1"},
		Page: func(_ string, id byte) ([]byte, error) {
			switch {
			case id == 2:
				return slices.Clone(smart), nil
			case extended:
				return slices.Clone(ocp), nil
			}
			return make([]byte, 512), nil
		}}}}
	step := func(units, media, mediaErrors uint64, transitions uint32) *account.Step {
		set(300, 5000, 9e12, 1, 10)
		before := sampler.Snapshot(context.Background())
		set(331, 5000+units, 9e12+media, 1+mediaErrors, 10+transitions)
		o := &account.Observed{}
		o.AddDrive(observe.Diff(before, sampler.Snapshot(context.Background()))[0].Changes)
		return inserts(level(1000, 1000, 60), o)
	}
	s := step(1000, 768e6, 3, 2)
	rows := row(t, s, "g", "insert", metric.OpsPerS)
	units := float64(rows.N)
	if r := row(t, s, "", "", metric.MediaWriteKB); math.Abs(r.Value-768e6/1024/units) > 1e-9 || r.Per != "insert row" || r.Source != "the drive's own counters" {
		t.Errorf("%+v", r)
	}
	if r := row(t, s, "", "", metric.MediaRatio); r.Value != 1.5 {
		t.Errorf("%+v", r)
	}
	if r := row(t, s, "", "", metric.DeviceTemperatureC); r.Value != 58 {
		t.Errorf("%+v", r)
	}
	if !metric.Has(s.Warnings, remark.MediaErrors) || !metric.Has(rows.Warnings, remark.Throttled) ||
		!strings.Contains(strings.Join(metric.Texts(rows.Warnings), ""), "heat slowed the drive down 2 times") {
		t.Errorf("%q, %q", s.Warnings, rows.Warnings)
	}
	s = step(100, 768e6, 0, 0) // too little for a ratio, and nothing happened
	if has(s, metric.MediaRatio) || !has(s, metric.MediaWriteKB) || metric.Has(s.Warnings, remark.MediaErrors) ||
		metric.Has(row(t, s, "g", "insert", metric.OpsPerS).Warnings, remark.Throttled) {
		t.Errorf("%+v", s.Rows)
	}
	extended = false
	if s = step(1000, 768e6, 0, 0); has(s, metric.MediaWriteKB) || has(s, metric.MediaRatio) || !has(s, metric.DeviceTemperatureC) {
		t.Errorf("without the extended page: %+v", s.Rows)
	}
	for _, name := range []string{metric.MediaWriteKB, metric.MediaRatio, metric.DeviceTemperatureC} {
		if s := inserts(level(1000, 1000, 60), &account.Observed{}); has(s, name) {
			t.Errorf("a machine without such a drive has %s", name)
		}
	}
}

func has(s *account.Step, name string) bool {
	return slices.ContainsFunc(s.Rows, func(r metric.Row) bool { return r.Metric == name })
}
