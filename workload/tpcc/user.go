package tpcc

import (
	"cmp"
	"slices"

	"rumbench/workload/gen"
)

// user draws the input at a terminal.
type user struct {
	sizes
	constants  constants
	source     *gen.Source
	homeID     int64 // the terminal's warehouse
	districtID int64 // its district, for Stock-Level
	anywhere   bool  // each transaction draws a warehouse
	weighted   bool  // each transaction is drawn separately, not from the deck
	deck       [deckSize]kind
	played     int // cards of the deck
	inputs
}

// inputs are the inputs of a terminal's user. They have many fields; each transaction
// uses some of them.
type inputs struct {
	kind      kind
	w, d      int64 // of the terminal
	cw, cd, c int64 // the customer; c 0: by last name
	lastName  []byte
	amount    int64 // of a payment, in cents
	carrier   int64
	threshold int64
	lines     []line // of a New-Order, in the order of their stocks
	rollsBack bool   // the last line has an unused item, and is not in lines
	allLocal  bool
	total     int64   // the final output of the terminal: cents, or low stocks
	recent    []int64 // items of the last orders, for Stock-Level
}

func (u *user) draw() {
	u.kind = u.drawKind()
	u.w, u.d = u.homeID, between(u.source, 1, districts)
	if u.anywhere {
		u.w = between(u.source, 1, u.warehouses)
	}
	switch u.kind {
	case newOrder:
		u.drawNewOrder()
	case payment:
		u.drawPayment()
	case orderStatus:
		u.cw, u.cd = u.w, u.d
		u.drawCustomer()
	case delivery:
		u.carrier = between(u.source, 1, 10)
	case stockLevel:
		u.d, u.threshold = u.districtID, between(u.source, 10, 20)
	}
}

// drawKind draws a card; a used-up deck is shuffled again.
func (u *user) drawKind() kind {
	if u.weighted {
		n := u.source.Uniform(deckSize)
		for k := kind(0); ; k++ {
			if n -= cards[k]; n < 0 {
				return k
			}
		}
	}
	if u.played %= deckSize; u.played == 0 {
		u.shuffle()
	}
	u.played++
	return u.deck[u.played-1]
}

func (u *user) shuffle() {
	n := 0
	for k, count := range cards {
		for range count {
			u.deck[n] = kind(k)
			n++
		}
	}
	for i := deckSize - 1; i > 0; i-- {
		j := u.source.Uniform(int64(i) + 1)
		u.deck[i], u.deck[j] = u.deck[j], u.deck[i]
	}
}

// drawCustomer draws a customer of the warehouse and district: 60 % by last name.
func (u *user) drawCustomer() {
	u.c, u.lastName = 0, u.lastName[:0]
	if chance(u.source, 60) {
		names := min(u.customers, lastNames)
		u.lastName = appendLastName(u.lastName, nurand(u.source, nurandName, u.constants.nameRun, 0, names-1))
		return
	}
	u.c = u.drawID()
}

func (u *user) drawID() int64 { return nurand(u.source, nurandID, u.constants.id, 1, u.customers) }

func (u *user) drawNewOrder() {
	s := u.source
	u.cw, u.cd, u.c = u.w, u.d, u.drawID()
	u.rollsBack, u.allLocal, u.lines = chance(s, 1), true, u.lines[:0]
	for n := range between(s, leastLines, mostLines) {
		l := line{number: n + 1, supplier: u.w, quantity: between(s, 1, 10)}
		l.item = nurand(s, nurandItem, u.constants.item, 1, u.items)
		if chance(s, 1) {
			l.supplier = u.elsewhere()
		}
		u.allLocal = u.allLocal && l.supplier == u.w
		u.lines = append(u.lines, l)
	}
	if u.rollsBack { // the last line has no item
		u.lines = u.lines[:len(u.lines)-1]
	}
	// All transactions lock stocks in the same order, which prevents deadlocks.
	slices.SortStableFunc(u.lines,
		func(a, b line) int { return cmp.Or(cmp.Compare(a.supplier, b.supplier), cmp.Compare(a.item, b.item)) })
}

// elsewhere draws a warehouse other than the terminal's, if there is one.
func (u *user) elsewhere() int64 {
	if u.warehouses == 1 {
		return u.w
	}
	w := between(u.source, 1, u.warehouses-1)
	if w >= u.w {
		w++
	}
	return w
}

func (u *user) drawPayment() {
	u.cw, u.cd = u.w, u.d
	if u.warehouses > 1 && chance(u.source, 15) {
		u.cw, u.cd = u.elsewhere(), between(u.source, 1, districts)
	}
	u.drawCustomer()
	u.amount = between(u.source, 1_00, 5000_00)
}
