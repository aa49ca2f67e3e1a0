//go:build native && cgo && linux

// The operator of kvkit/operator.go, which describes rows and operands, in C:
// RocksDB calls it while it reads, flushes and compacts. Records are as the kit
// wrote them: RocksDB has checked their checksums.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

enum { ROW, SET, ADD, UPSERT };

// An operator_t merges the rows of tables: formats holds the letters of their
// cells by space, in strings of one width.
typedef struct {
	char name[64];
	size_t spaces, width;
	char formats[];
} operator_t;

typedef struct {
	const char *at;
	size_t length;
	char sum[9]; // what at points to after an addition
} cell;

typedef struct {
	const char *format; // a letter for each cell
	cell *cells;
	int there;
} row;

static int nullable(char letter) { return letter < 'a'; }

static int is_null(char letter, const cell *c) { return nullable(letter) && c->at[0] == 0; }

// take reads a cell.
static cell take(const char **p, char letter) {
	cell out = {.at = *p};
	if (!nullable(letter) || *(*p)++) {
		letter |= 'a' - 'A';
		size_t n = letter == 'i' ? 4 : letter == 's' ? uvarint(p) : 8;
		*p += n;
	}
	out.length = *p - out.at;
	return out;
}

static void take_all(const char **p, const char *format, cell *cells) {
	for (int i = 0; format[i]; i++)
		cells[i] = take(p, format[i]);
}

static uint64_t load64(const char *p) {
	uint64_t n;
	memcpy(&n, p, sizeof n);
	return __builtin_bswap64(n);
}

static const uint64_t sign = 1ULL << 63;

static double real(uint64_t u) {
	double d;
	u = u & sign ? u & ~sign : ~u;
	memcpy(&d, &u, sizeof d);
	return d;
}

// plus returns the sum of two cells without their marks. A sum that is not a
// number is reported.
static uint64_t plus(char letter, uint64_t a, uint64_t b, int *nan) {
	if (letter == 'q' || letter == 'Q')
		return ((a ^ sign) + (b ^ sign)) ^ sign;
	double d = real(a) + real(b);
	*nan = d != d;
	if (d == 0)
		d = 0; // -0 becomes 0
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return u & sign ? ~u : u | sign;
}

// add adds to a cell. NULL counts as zero.
static void add(char letter, cell *to, const cell *more) {
	if (is_null(letter, more))
		return;
	if (is_null(letter, to)) {
		*to = *more;
		return;
	}
	int mark = nullable(letter), nan = 0;
	uint64_t sum = plus(letter, load64(to->at + mark), load64(more->at + mark), &nan);
	if (nan && !mark)
		return;
	to->sum[0] = !nan;
	to->length = nan ? 1 : 8 + mark;
	sum = __builtin_bswap64(sum);
	memcpy(to->sum + mark, &sum, 8 * !nan);
	to->at = to->sum;
}

static void change(row *r, const char **p, int tag) {
	size_t i = uvarint(p);
	cell given = take(p, r->format[i]);
	if (tag == SET)
		r->cells[i] = given;
	else if (r->there)
		add(r->format[i], &r->cells[i], &given);
}

static void upsert(row *r, const char **p) {
	cell given[strlen(r->format) + 1]; // an array of no cells is none
	take_all(p, r->format, r->there ? given : r->cells);
	for (size_t n = uvarint(p); n > 0; n--) {
		size_t i = uvarint(p);
		if (r->there)
			add(r->format[i], &r->cells[i], &given[i]);
	}
	r->there = 1;
}

// apply applies a row or operands and reports whether they are well-formed.
static int apply(row *r, const char *p, size_t length) {
	const char *end = p + length;
	while (p < end) {
		int tag = *p++;
		if (tag == ROW) {
			take_all(&p, r->format, r->cells);
			r->there = 1;
		} else if (tag == SET || tag == ADD) {
			change(r, &p, tag);
		} else if (tag == UPSERT) {
			upsert(r, &p);
		} else {
			return 0;
		}
	}
	return p == end;
}

// result returns the row, or what is none: nothing.
static char *result(const row *r, size_t *length) {
	size_t n = r->there;
	for (int i = 0; r->there && r->format[i]; i++)
		n += r->cells[i].length;
	char *out = malloc(n + 1), *to = out;
	*to++ = ROW;
	for (int i = 0; r->there && r->format[i]; i++) {
		memcpy(to, r->cells[i].at, r->cells[i].length);
		to += r->cells[i].length;
	}
	*length = n;
	return out;
}

static char *full_merge(void *state, const char *key, size_t nk, const char *base, size_t nb, const char *const *operands, const size_t *lengths, int count, unsigned char *success, size_t *length) {
	const operator_t *o = state;
	size_t space = (unsigned char)key[0] << 8 | (unsigned char)key[1];
	*success = space < o->spaces;
	if (!*success)
		return NULL;
	row r = {.format = o->formats + space * o->width};
	cell cells[o->width];
	r.cells = cells;
	*success = !base || apply(&r, base, nb);
	for (int i = 0; i < count && *success; i++)
		*success = apply(&r, operands[i], lengths[i]);
	return *success ? result(&r, length) : NULL;
}

// partial_merge concatenates operands: a row is not among them.
static char *partial_merge(void *state, const char *key, size_t nk, const char *const *operands, const size_t *lengths, int count, unsigned char *success, size_t *length) {
	*length = 0;
	for (int i = 0; i < count; i++)
		*length += lengths[i];
	char *out = malloc(*length + 1), *to = out;
	for (int i = 0; i < count; i++) {
		memcpy(to, operands[i], lengths[i]);
		to += lengths[i];
	}
	*success = 1;
	return out;
}

static const char *name_of(void *state) { return ((operator_t *)state)->name; }

// store_merge has the database merge rows of tables. The operator lives as long
// as the database.
void store_merge(store *s, const char *name, const char *formats, size_t spaces, size_t width) {
	operator_t *o = malloc(sizeof *o + spaces * width);
	*o = (operator_t){.spaces = spaces, .width = width};
	strncpy(o->name, name, sizeof o->name - 1);
	memcpy(o->formats, formats, spaces * width);
	rocks.options_set_merge_operator(s->options, rocks.mergeoperator_create(o, free, full_merge, partial_merge, NULL, name_of));
}
