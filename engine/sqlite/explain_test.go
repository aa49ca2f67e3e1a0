package sqlite

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
)

func TestAccessOf(t *testing.T) {
	table := &model.Table{Name: "t", Key: []string{"a"}, Columns: []model.Column{{Name: "a", Type: model.String, Width: 20}}}
	long := &model.Table{Name: "t", Key: []string{"a"}, Columns: []model.Column{{Name: "a", Type: model.String, Width: 2000}}}
	for detail, want := range map[string]*engine.Access{
		"SEARCH t USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)": {Index: engine.PrimaryKey, How: engine.Seek, As: "SEARCH"},
		"SEARCH t USING PRIMARY KEY (a=?)":                         {Index: engine.PrimaryKey, How: engine.Seek, As: "SEARCH"},
		"SEARCH t USING INDEX t.k (k>? AND k<?)":                   {Index: "k", How: engine.Seek, As: "SEARCH INDEX"},
		"SEARCH t USING COVERING INDEX t.k (k=?)":                  {Index: "k", How: engine.Seek, As: "SEARCH COVERING INDEX"},
		"SCAN t":                          {Index: engine.PrimaryKey, How: engine.Walk, As: "SCAN"},
		"SCAN t USING COVERING INDEX t.k": {Index: "k", How: engine.Walk, As: "SCAN COVERING INDEX"},
		"SCAN rows_read":                  nil,
		"LIST SUBQUERY 1":                 nil,
		"USE TEMP B-TREE FOR ORDER BY":    nil,
	} {
		got := accessOf(table, defaultPage, detail)
		expect.True(t, (got == nil) == (want == nil) && (got == nil || *got == *want), detail, got, "want", want)
	}
	for detail, want := range map[string]engine.Access{
		"SEARCH t USING INDEX sqlite_autoindex_t_1 (a=?)": {Index: engine.PrimaryKey, How: engine.Seek, As: "SEARCH INDEX"},
		"SCAN t": {How: engine.WholeTable, As: "SCAN"},
	} {
		if got := accessOf(long, defaultPage, detail); got == nil || *got != want {
			t.Errorf("%s: %+v, want %+v", detail, got, want)
		}
	}
}
