//go:build native && cgo && linux

// The operator of kvkit/operator.go, which describes rows and operands, in C:
// RocksDB calls it while it reads, flushes and compacts.
#include "binding.h"
#include <stdlib.h>
#include <string.h>

enum { ROW, SET, ADD, UPSERT };
enum { MOST_CELLS = 256 };

typedef struct {
	const unsigned char *at;
	size_t length;
	unsigned char sum[9]; // what at points to after an addition
} cell;

typedef struct {
	const char *format; // a letter for each cell
	int there;
	cell cells[MOST_CELLS];
} row;

typedef struct {
	const unsigned char *at, *end;
	int failed;
} input;

static size_t number(input *in) {
	size_t n = 0;
	for (int shift = 0; in->at < in->end && shift < 64; shift += 7) {
		unsigned char b = *in->at++;
		n |= (size_t)(b & 127) << shift;
		if (b < 128)
			return n;
	}
	in->failed = 1;
	return 0;
}

static int nullable(char letter) { return letter < 'a'; }

static int is_null(char letter, const cell *c) { return nullable(letter) && c->at[0] == 0; }

// take reads a cell.
static void take(input *in, char letter, cell *out) {
	out->at = in->at;
	if (nullable(letter) && (in->at == in->end || *in->at++ == 0)) {
		in->failed |= in->at == out->at;
		out->length = 1;
		return;
	}
	letter |= 'a' - 'A';
	size_t n = letter == 'i' ? 4 : letter == 's' ? number(in) : 8;
	if (in->failed || n > (size_t)(in->end - in->at)) {
		in->failed = 1;
		return;
	}
	in->at += n;
	out->length = in->at - out->at;
}

static void take_all(input *in, const char *format, cell *cells) {
	for (int i = 0; format[i] && !in->failed; i++)
		take(in, format[i], &cells[i]);
}

static uint64_t load64(const unsigned char *p) {
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

static void change(input *in, row *r, int adds) {
	size_t i = number(in);
	if (in->failed || i >= strlen(r->format)) {
		in->failed = 1;
		return;
	}
	cell given;
	take(in, r->format[i], &given);
	if (in->failed || !r->there)
		return;
	if (adds)
		add(r->format[i], &r->cells[i], &given);
	else
		r->cells[i] = given;
}

static void upsert(input *in, row *r) {
	cell given[MOST_CELLS];
	take_all(in, r->format, r->there ? given : r->cells);
	for (size_t n = number(in); n > 0 && !in->failed; n--) {
		size_t i = number(in);
		if (in->failed || i >= strlen(r->format))
			in->failed = 1;
		else if (r->there)
			add(r->format[i], &r->cells[i], &given[i]);
	}
	r->there = 1;
}

static int is_row(const char *value, size_t length) { return length > 0 && value[0] == ROW; }

// apply applies a row or operands and reports whether they are well-formed.
static int apply(row *r, const char *value, size_t length) {
	input in = {(const unsigned char *)value, (const unsigned char *)value + length, 0};
	if (is_row(value, length)) {
		in.at++;
		take_all(&in, r->format, r->cells);
		r->there = 1;
		return !in.failed;
	}
	while (in.at < in.end && !in.failed) {
		unsigned char tag = *in.at++;
		if (tag == SET || tag == ADD)
			change(&in, r, tag == ADD);
		else if (tag == UPSERT)
			upsert(&in, r);
		else
			in.failed = 1;
	}
	return !in.failed;
}

static char *result(const row *r, size_t *length) {
	size_t n = r->there;
	for (int i = 0; r->there && r->format[i]; i++)
		n += r->cells[i].length;
	char *out = malloc(n + 1), *to = out;
	*length = n;
	if (!r->there)
		return out; // empty: it is no row
	*to++ = ROW;
	for (int i = 0; r->format[i]; i++) {
		memcpy(to, r->cells[i].at, r->cells[i].length);
		to += r->cells[i].length;
	}
	return out;
}

static const char *format_of(const operator_t *o, const char *key, size_t length) {
	size_t space = length < 2 ? o->spaces : (unsigned char)key[0] << 8 | (unsigned char)key[1];
	return space < o->spaces ? o->formats[space] : NULL;
}

static char *full_merge(void *state, const char *key, size_t nk, const char *base, size_t nb, const char *const *operands, const size_t *lengths, int count, unsigned char *success, size_t *length) {
	row r = {.format = format_of(state, key, nk)};
	*success = r.format && strlen(r.format) <= MOST_CELLS && (!base || apply(&r, base, nb));
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

static void delete_value(void *state, const char *value, size_t length) { free((char *)value); }

static const char *name_of(void *state) { return ((operator_t *)state)->name; }

static void destroy(void *state) {
	operator_t *o = state;
	for (size_t i = 0; i < o->spaces; i++)
		free(o->formats[i]);
	free(o->name);
	free(o);
}

// set_operator has the database merge rows of tables, by their formats. The
// operator lives as long as the database; its strings are freed with it.
void set_operator(store *s, operator_t *o) {
	s->f.options_set_merge_operator(s->options, s->f.mergeoperator_create(o, destroy, full_merge, partial_merge, delete_value, name_of));
}

operator_t *new_operator(char *name, size_t spaces) {
	operator_t *o = calloc(1, sizeof *o + spaces * sizeof *o->formats);
	o->name = name;
	o->spaces = spaces;
	return o;
}

void set_format(operator_t *o, size_t space, char *format) { o->formats[space] = format; }
