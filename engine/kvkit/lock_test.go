package kvkit

import (
	"hash/maphash"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"rumbench/internal/expect"
	"rumbench/model"
)

// lockTable returns the layout of a table whose rows are locked in the tests.
func lockTable(t testing.TB) *layout {
	t.Helper()
	_, tables, err := newLayouts(model.Schema{Tables: []model.Table{
		{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}},
	}})
	expect.NoError(t, err)
	return tables[0]
}

// fill sets an arena to the keys of rows.
func fill(t testing.TB, l *layout, keys *arena, ids ...int64) {
	t.Helper()
	keys.reset()
	for _, id := range ids {
		var err error
		if keys.buf, err = l.appendRowKey(keys.buf, []model.Value{model.IntValue(id)}); err != nil {
			t.Fatal(err)
		}
		keys.end()
	}
}

// held reports whether a lock of the keys is held.
func (l *rowLocks) held(keys *arena) bool {
	for i := range keys.len() {
		h := maphash.Bytes(l.seed, keys.at(i))
		if l.bucket(h).find(h) != nil {
			return true
		}
	}
	return false
}

// Of operations of 16 clients on 100 rows each, all different, fewer than one in
// a hundred waits. With 512 locks nearly all did.
func TestOtherRowsDoNotWait(t *testing.T) {
	const clients, rows, rounds = 16, 100, 100
	l := lockTable(t)
	random := rand.New(rand.NewPCG(1, 2))
	waits := 0
	for range rounds {
		sets := make([]lockSet, clients)
		for c := range sets {
			ids := make([]int64, rows)
			for i := range ids { // no two clients have an id in common
				ids[i] = random.Int64N(1<<40)*clients + int64(c)
			}
			var keys arena
			fill(t, l, &keys, ids...)
			if l.locks.held(&keys) {
				waits++
				continue
			}
			l.locks.lock(&sets[c], &keys)
		}
		for c := range sets {
			l.locks.unlock(&sets[c])
		}
	}
	if share := float64(waits) / (clients * rounds); share >= 0.01 {
		t.Errorf("%d of %d operations waited for rows of others", waits, clients*rounds)
	}
}

// Operations on common rows exclude each other, whatever the order of their
// keys, and nothing stays locked.
func TestRowLocks(t *testing.T) {
	const clients, rounds, rows, limit = 8, 300, 40, 12
	l := lockTable(t)
	var counts [rows]int // guarded by the rows' locks
	var want [rows]int
	var clientsDone sync.WaitGroup
	for c := range clients {
		random := rand.New(rand.NewPCG(3, uint64(c)))
		var work [][]int64
		for range rounds {
			ids := make([]int64, 1+random.IntN(limit))
			for i := range ids {
				ids[i] = random.Int64N(rows) // an id may come twice
			}
			for _, id := range ids {
				want[id]++
			}
			work = append(work, ids)
		}
		clientsDone.Go(func() {
			var set lockSet
			var keys arena
			for _, ids := range work {
				fill(t, l, &keys, ids...)
				l.locks.lock(&set, &keys)
				for _, id := range ids {
					counts[id]++
				}
				l.locks.unlock(&set)
				l.locks.unlock(&set) // does nothing
			}
		})
	}
	clientsDone.Wait()
	expect.Equal(t, counts, want)
	for i := range l.locks.buckets {
		expect.Must(t, l.locks.buckets[i].held == nil, "a lock of bucket", i, "is still held")
	}
}

// Locks are granted in FIFO order.
func TestLocksInTurn(t *testing.T) {
	const waiting = 5
	l := lockTable(t)
	var keys arena
	fill(t, l, &keys, 7)
	h := maphash.Bytes(l.locks.seed, keys.at(0))
	b := l.locks.bucket(h)
	queued := func() (n int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for k := b.find(h).first; k != nil; k = k.next {
			n++
		}
		return n
	}
	var first lockSet
	l.locks.lock(&first, &keys)
	order := make(chan int, waiting)
	var done sync.WaitGroup
	for c := range waiting {
		done.Go(func() {
			var set lockSet
			l.locks.lock(&set, &keys)
			order <- c
			l.locks.unlock(&set)
		})
		for queued() <= c { // until it waits
			runtime.Gosched()
		}
	}
	l.locks.unlock(&first)
	done.Wait()
	for c := range waiting {
		expect.Equal(t, <-order, c, "the lock went to")
	}
}

// Locking allocates nothing.
func TestLocksAllocateNothing(t *testing.T) {
	l := lockTable(t)
	var keys arena
	var set lockSet
	ids := make([]int64, 100)
	next := int64(0)
	n := testing.AllocsPerRun(200, func() {
		for i := range ids {
			next++
			ids[i] = next * 7919
		}
		fill(t, l, &keys, ids...)
		l.locks.lock(&set, &keys)
		l.locks.unlock(&set)
	})
	// The row that fill encodes does not escape.
	expect.True(t, n <= 0, n, "allocations per operation")
}
