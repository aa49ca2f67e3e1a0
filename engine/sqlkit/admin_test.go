package sqlkit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/expect"
	"rumbench/model"
)

// A connection that is kept open is tried when it was idle, and opened again if it was
// lost; another one stays lost.
func TestKeepOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost, fresh := &fake{fail: map[string]error{}}, &fake{}
		for _, kept := range []bool{true, false} {
			lost.log, fresh.log = nil, nil
			delete(lost.fail, "SELECT 1")
			delete(lost.fail, "DO 2")
			c, err := sqlkit.Connect(t.Context(), lost.connect, dialect())
			expect.NoError(t, err)
			if kept {
				c.KeepOpen(fresh.connect, false)
			}
			expect.NoError(t, c.Exec(t.Context(), "DO 1"))
			want(t, lost, "text DO 1") // it was not idle
			time.Sleep(time.Minute)
			lost.fail["SELECT 1"], lost.fail["DO 2"] = errLost, errLost
			if err := c.Exec(t.Context(), "DO 2"); (err == nil) != kept {
				t.Errorf("kept open: %v: %v", kept, err)
			}
			if kept {
				want(t, lost, "text SELECT 1", "close connection")
				want(t, fresh, "text DO 2")
				time.Sleep(time.Minute)
				expect.NoError(t, c.Exec(t.Context(), "DO 3"))
				want(t, fresh, "text SELECT 1", "text DO 3") // it was not lost
			} else {
				want(t, lost, "text DO 2")
			}
			expect.NoError(t, c.Close())
		}
	})
}

// A server that cannot be reached again is the error, and the context's end is.
func TestKeepOpenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := &fake{fail: map[string]error{"SELECT 1": errLost, "DO 1": context.Canceled}}
		c, err := sqlkit.Connect(t.Context(), lost.connect, dialect())
		expect.NoError(t, err)
		c.KeepOpen(func(context.Context) (sqlkit.Conn, error) { return nil, errLost }, false)
		time.Sleep(time.Minute)
		if err := c.Exec(t.Context(), "DO 1"); !errors.Is(err, errLost) || !strings.Contains(err.Error(), "connect again") {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		expect.Is(t, c.Exec(ended, "DO 1"), context.Canceled)
	})
}

// Every statement names the schema, so that none can meet a table of the same name.
func TestSchemaIsNamed(t *testing.T) {
	d := dialect()
	d.Schema = `my "own"`
	s := sqlkittest.Schema()
	table := &s.Tables[0]
	texts := []string{d.CreateTable(table), d.DropTable(table, true), d.DropTable(table, false), d.DropIndex(table, "product")}
	texts = append(texts, d.CreateIndexes(table, []*model.Index{&table.Indexes[0]})...)
	altering := *d
	altering.AlterIndexes = true
	texts = append(texts, altering.DropIndex(table, "product"))
	texts = append(texts, altering.CreateIndexes(table, []*model.Index{&table.Indexes[0]})...)
	for _, op := range []model.Op{
		{Kind: model.Insert, Columns: []string{"product", "price"}, Rows: 2}, {Kind: model.Get, Columns: []string{"id"}},
		{Kind: model.Scan, Index: "product", Columns: []string{"price"}, Limit: 3, Aggregate: model.Sum}, {Kind: model.Delete},
		{Kind: model.Update, Set: []model.Assign{{Column: "price"}}}, {Kind: model.DeleteLowest, Rows: 5},
	} {
		st, err := d.Statement(table, &op)
		expect.NoError(t, err)
		texts = append(texts, st.Text)
	}
	for _, text := range texts {
		rest := strings.ReplaceAll(text, `"my ""own"""."sale`, "")
		expect.True(t, rest != text && !strings.Contains(strings.ReplaceAll(rest, `"sale.product"`, ""), `"sale`),
			"a table without its schema", text)
	}
}

// Tables that rumbench has not made are neither used nor replaced.
func TestForeign(t *testing.T) {
	f := &fake{}
	db, err := sqlkit.Open(t.Context(), f.connect, dialect(), sqlkittest.Schema())
	expect.NoError(t, err)
	db.Replace = true
	db.SetForeign([]string{"other", "link"})
	for subject, err := range map[string]error{
		"create": db.CreateTables(t.Context()), "clear": db.ClearTable(t.Context(), "link"),
		"index": db.CreateIndexes(t.Context(), "link", "to"), "drop": db.DropIndex(t.Context(), "link", "to"),
		"use": db.Usable(&model.Op{Kind: model.Get, Table: "link"}),
	} {
		expect.True(t, err != nil && strings.Contains(err.Error(), "link exists, and rumbench did not make it"),
			subject, err)
	}
	want(t, f)
	db.SetForeign([]string{"other"})
	expect.NoError(t, db.CreateTables(t.Context()))
}

// SQL in messages is cut.
func TestLongSQL(t *testing.T) {
	long := "DO " + strings.Repeat("x", 5000)
	f := &fake{fail: map[string]error{long: errLost}}
	c, err := sqlkit.Connect(t.Context(), f.connect, dialect())
	expect.NoError(t, err)
	if err := c.Exec(t.Context(), long); !errors.Is(err, errLost) || len(err.Error()) > 300 || !strings.HasPrefix(err.Error(), "DO xxx") {
		t.Errorf("%.400s", err)
	}
}
