//go:build native && cgo && linux

#include "binding.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api rocks;

// Options that are the same for all databases.
static handle plain_read, flush, write_options[2], locking_db, optimistic, locking;

// load finds the functions of a library and returns the name of one that it lacks.
const char *load(void *library) {
#define OPTIONAL(result, name, arguments) rocks.name = (result (*) arguments)dlsym(library, "rocksdb_" #name);
#define REQUIRED(result, name, arguments) OPTIONAL(result, name, arguments) if (!rocks.name) return "rocksdb_" #name;
	FUNCTIONS(REQUIRED) NEWER(OPTIONAL)
	plain_read = rocks.readoptions_create();
	flush = rocks.flushoptions_create();
	for (int sync = 0; sync < 2; sync++) {
		write_options[sync] = rocks.writeoptions_create();
		rocks.writeoptions_set_sync(write_options[sync], sync);
	}
	locking_db = rocks.transactiondb_options_create();
	optimistic = rocks.optimistictransaction_options_create();
	rocks.optimistictransaction_options_set_set_snapshot(optimistic, 1);
	locking = rocks.transaction_options_create();
	rocks.transaction_options_set_set_snapshot(locking, 1);
	rocks.transaction_options_set_deadlock_detect(locking, 1);
	return NULL;
}

void release(char *text) { rocks.free(text); }

store *store_new(int families, int transactions, int sync) {
	store *s = calloc(1, sizeof *s);
	*s = (store){.transactions = transactions, .count = families, .write = write_options[sync]};
	s->families = calloc(families, sizeof *s->families);
	s->options = rocks.options_create();
	return s;
}

// store_set changes the options that the text names.
char *store_set(store *s, const char *text) {
	char *error = NULL;
	handle before = s->options;
	s->options = rocks.options_create();
	rocks.get_options_from_string(before, text, s->options, &error);
	rocks.options_destroy(before);
	return error;
}

// store_open opens the database, which is created if there is none. The families
// are called by their numbers, which RocksDB gives out in the same order.
char *store_open(store *s, const char *dir) {
	const char *names[s->count];
	handle options[s->count];
	char text[s->count][12];
	for (int i = 0; i < s->count; i++) {
		snprintf(text[i], sizeof text[i], "%d", i);
		names[i] = i ? text[i] : "default";
		options[i] = s->options;
	}
	char *error = NULL;
	rocks.options_enable_statistics(s->options);
	if (s->transactions == NONE) {
		s->db = rocks.open_column_families(s->options, dir, s->count, names, options, s->families, &error);
	} else if (s->transactions == OPTIMISTIC) {
		s->wrapper = rocks.optimistictransactiondb_open_column_families(s->options, dir, s->count, names, options, s->families, &error);
		if (!error)
			s->db = rocks.optimistictransactiondb_get_base_db(s->wrapper);
	} else {
		s->wrapper = rocks.transactiondb_open_column_families(s->options, locking_db, dir, s->count, names, options, s->families, &error);
		if (!error)
			s->db = rocks.transactiondb_get_base_db(s->wrapper);
	}
	return error;
}

// store_close writes what is left of the log, and closes the database if it is open.
char *store_close(store *s) {
	char *error = NULL;
	if (s->db) {
		rocks.flush_wal(s->db, 0, &error);
		for (int i = 0; i < s->count; i++)
			rocks.column_family_handle_destroy(s->families[i]);
		if (s->transactions == NONE) {
			rocks.close(s->db);
		} else if (s->transactions == OPTIMISTIC) {
			rocks.optimistictransactiondb_close_base_db(s->db);
			rocks.optimistictransactiondb_close(s->wrapper);
		} else {
			rocks.transactiondb_close_base_db(s->db);
			rocks.transactiondb_close(s->wrapper);
		}
	}
	rocks.options_destroy(s->options);
	free(s->families);
	free(s);
	return error;
}

// A key begins with its space.
static handle family(const store *s, const char *key) {
	return s->families[s->count == 1 ? 0 : (unsigned char)key[0] << 8 | (unsigned char)key[1]];
}

// Each thread keeps a batch: creating one costs more than a put.
static __thread handle kept;
#define KEPT_MOST (1 << 20)

// store_write commits a transaction with its writes. A transaction of RocksDB has made
// those before applied.
char *store_write(store *s, view *v, const char *writes, size_t length, size_t applied) {
	char *error = NULL;
	if (v && v->tx) {
		error = view_apply(v, writes + applied, length - applied);
		if (!error)
			rocks.transaction_commit(v->tx, &error);
		return error;
	}
	if (!kept)
		kept = rocks.writebatch_create();
	view plain = {.s = s, .batch = kept};
	rocks.writebatch_clear(kept);
	error = view_apply(&plain, writes, length);
	if (!error)
		rocks.write(s->db, s->write, kept, &error);
	if (length > KEPT_MOST) {
		rocks.writebatch_destroy(kept);
		kept = NULL;
	}
	return error;
}

char *store_flush(store *s) {
	char *error = NULL;
	for (int i = 0; i < s->count && !error; i++)
		rocks.flush_cf(s->db, flush, s->families[i], &error);
	return error;
}

// store_number returns a property of a family, -1: their sum. It is 0 if this
// version does not have it.
uint64_t store_number(store *s, int family, const char *name) {
	uint64_t sum = 0, n = 0;
	for (int i = 0; i < s->count; i++)
		if ((family < 0 || family == i) && rocks.property_int_cf(s->db, s->families[i], name, &n) == 0)
			sum += n;
	return sum;
}

// store_text returns a property that is a text, NULL if this version does not have it.
char *store_text(store *s, int family, const char *name) { return rocks.property_value_cf(s->db, s->families[family], name); }

char *store_statistics(store *s) { return rocks.options_statistics_get_string(s->options); }

// store_size estimates the bytes of a range in the only family.
char *store_size(store *s, const char *lower, size_t nl, const char *upper, size_t nu, uint64_t *out) {
	char *error = NULL;
	rocks.approximate_sizes_cf(s->db, s->families[0], 1, &lower, &nl, &upper, &nu, out, &error);
	return error;
}

view *view_open(store *s, int kind) {
	view *v = calloc(1, sizeof *v);
	v->s = s;
	v->read = rocks.readoptions_create();
	if (kind == SNAPSHOT) {
		v->snapshot = rocks.create_snapshot(s->db);
	} else if (kind == INDEXED) {
		v->indexed = rocks.writebatch_wi_create(0, 1);
	} else {
		v->tx = s->transactions == OPTIMISTIC ? rocks.optimistictransaction_begin(s->wrapper, s->write, optimistic, NULL)
						      : rocks.transaction_begin(s->wrapper, s->write, locking, NULL);
		v->snapshot = rocks.transaction_get_snapshot(v->tx);
	}
	rocks.readoptions_set_snapshot(v->read, v->snapshot);
	return v;
}

void view_close(view *v) {
	rocks.readoptions_destroy(v->read);
	if (v->indexed) {
		rocks.writebatch_wi_destroy(v->indexed);
	} else if (v->tx) {
		rocks.free(v->snapshot); // the handle; the transaction owns the snapshot
		rocks.transaction_destroy(v->tx); // which rolls it back
	} else {
		rocks.release_snapshot(v->s->db, v->snapshot);
	}
	free(v);
}

size_t uvarint(const char **p) {
	size_t n = 0;
	for (int shift = 0;; shift += 7) {
		unsigned char b = *(*p)++;
		n |= (size_t)(b & 127) << shift;
		if (b < 128)
			return n;
	}
}

// apply_tx makes a write in a transaction of RocksDB.
static char *apply_tx(view *v, int kind, handle at, const char *key, size_t nk, const char *value, size_t nv) {
	char *error = NULL;
	if (kind == PUT)
		rocks.transaction_put_cf(v->tx, at, key, nk, value, nv, &error);
	else if (kind == MERGE)
		rocks.transaction_merge_cf(v->tx, at, key, nk, value, nv, &error);
	else // they have no single deletes
		rocks.transaction_delete_cf(v->tx, at, key, nk, &error);
	return error;
}

static void apply_indexed(view *v, int kind, handle at, const char *key, size_t nk, const char *value, size_t nv) {
	if (kind == PUT)
		rocks.writebatch_wi_put_cf(v->indexed, at, key, nk, value, nv);
	else if (kind == MERGE)
		rocks.writebatch_wi_merge_cf(v->indexed, at, key, nk, value, nv);
	else if (kind == DELETE)
		rocks.writebatch_wi_delete_cf(v->indexed, at, key, nk);
	else
		rocks.writebatch_wi_singledelete_cf(v->indexed, at, key, nk);
}

static void apply_batch(view *v, int kind, handle at, const char *key, size_t nk, const char *value, size_t nv) {
	if (kind == PUT)
		rocks.writebatch_put_cf(v->batch, at, key, nk, value, nv);
	else if (kind == MERGE)
		rocks.writebatch_merge_cf(v->batch, at, key, nk, value, nv);
	else if (kind == DELETE)
		rocks.writebatch_delete_cf(v->batch, at, key, nk);
	else if (kind == SINGLE_DELETE)
		rocks.writebatch_singledelete_cf(v->batch, at, key, nk);
	else
		rocks.writebatch_delete_range_cf(v->batch, at, key, nk, value, nv);
}

// view_apply makes writes in the view.
char *view_apply(view *v, const char *p, size_t length) {
	char *error = NULL;
	for (const char *end = p + length; p < end && !error;) {
		int kind = *p++;
		size_t nk = uvarint(&p), nv = 0;
		const char *key = p;
		p += nk;
		if (kind != DELETE && kind != SINGLE_DELETE)
			nv = uvarint(&p);
		handle at = family(v->s, key);
		if (v->batch)
			apply_batch(v, kind, at, key, nk, p, nv);
		else if (v->indexed)
			apply_indexed(v, kind, at, key, nk, p, nv);
		else
			error = apply_tx(v, kind, at, key, nk, p, nv);
		p += nv;
	}
	return error;
}

// get copies a value into the room, unless it is too long.
value get(store *s, view *v, int lock, const char *key, size_t length, char *room, size_t capacity) {
	value out = {.length = SIZE_MAX};
	handle at = family(s, key), read = v ? v->read : plain_read, pinned = NULL;
	const char *found = NULL;
	size_t n = 0;
	if (v && v->tx && lock)
		found = rocks.transaction_get_for_update_cf(v->tx, read, at, key, length, &n, 1, &out.error);
	else if (v && v->tx)
		found = rocks.transaction_get_cf(v->tx, read, at, key, length, &n, &out.error);
	else if (v && v->indexed)
		found = rocks.writebatch_wi_get_from_batch_and_db_cf(v->indexed, s->db, read, at, key, length, &n, &out.error);
	else if ((pinned = rocks.get_pinned_cf(s->db, read, at, key, length, &out.error)))
		found = rocks.pinnableslice_value(pinned, &n);
	if (!found)
		return out;
	out.length = n;
	if (n <= capacity)
		memcpy(room, found, n);
	if (pinned)
		rocks.pinnableslice_destroy(pinned);
	else
		rocks.free((void *)found);
	return out;
}

static iter *iter_open(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu) {
	iter *it = malloc(sizeof *it + nl + nu);
	*it = (iter){.lower = nl, .upper = nu, .own = v && (v->tx || v->indexed)};
	memcpy(it->bounds, lower, nl);
	memcpy(it->bounds + nl, upper, nu);
	it->read = rocks.readoptions_create();
	// Ranges are wider than the prefixes of a prefix_extractor.
	rocks.readoptions_set_total_order_seek(it->read, 1);
	rocks.readoptions_set_iterate_lower_bound(it->read, it->bounds, nl);
	rocks.readoptions_set_iterate_upper_bound(it->read, it->bounds + nl, nu);
	if (v)
		rocks.readoptions_set_snapshot(it->read, v->snapshot);
	handle at = family(s, lower);
	if (v && v->tx) {
		it->it = rocks.transaction_create_iterator_cf(v->tx, it->read, at);
		return it;
	}
	it->it = rocks.create_iterator_cf(s->db, it->read, at);
	if (v && v->indexed) // it owns the other
		it->it = rocks.writebatch_wi_create_iterator_with_base_cf(v->indexed, it->it, at);
	return it;
}

// compare compares the current key.
static int compare(const iter *it, const char *b, size_t nb) {
	size_t na;
	const char *a = rocks.iter_key(it->it, &na);
	int c = memcmp(a, b, na < nb ? na : nb);
	return c ? c : (na > nb) - (na < nb);
}

// inside reports whether the iterator stands at an entry between its bounds.
static int inside(const iter *it) {
	const char *upper = it->bounds + it->lower;
	return rocks.iter_valid(it->it) && (!it->own || compare(it, it->bounds, it->lower) >= 0 && compare(it, upper, it->upper) < 0);
}

// begin moves to the first entry.
static void begin(iter *it) {
	if (!it->reverse) {
		rocks.iter_seek(it->it, it->bounds, it->lower);
		return;
	}
	const char *upper = it->bounds + it->lower;
	rocks.iter_seek_for_prev(it->it, upper, it->upper);
	if (rocks.iter_valid(it->it) && compare(it, upper, it->upper) >= 0)
		rocks.iter_prev(it->it);
}

static size_t put(char *to, const void *from, size_t length) {
	memcpy(to, from, length);
	return length;
}

// fill moves, and copies up to want entries, or as many as are more than enough.
page fill(iter *it, size_t want) {
	const size_t enough = 64 << 10;
	page out = {.it = it};
	for (; out.count < want && out.length < enough; out.count++) {
		if (!it->begun)
			begin(it);
		else if (it->reverse)
			rocks.iter_prev(it->it);
		else
			rocks.iter_next(it->it);
		it->begun = 1;
		if (!inside(it)) {
			if (!rocks.iter_valid(it->it))
				rocks.iter_get_error(it->it, &out.error);
			out.entries = it->room;
			return out;
		}
		size_t nk, nv;
		const char *k = rocks.iter_key(it->it, &nk), *v = rocks.iter_value(it->it, &nv);
		uint32_t lengths[] = {nk, nv};
		size_t need = out.length + sizeof lengths + nk + nv;
		if (need > it->capacity)
			it->room = realloc(it->room, it->capacity = 2 * need);
		out.length += put(it->room + out.length, lengths, sizeof lengths);
		out.length += put(it->room + out.length, k, nk);
		out.length += put(it->room + out.length, v, nv);
	}
	out.entries = it->room;
	out.more = 1;
	return out;
}

// scan opens an iterator and copies its first entries.
page scan(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu, int reverse, size_t want) {
	iter *it = iter_open(s, v, lower, nl, upper, nu);
	it->reverse = reverse;
	return fill(it, want);
}

void iter_close(iter *it) {
	rocks.iter_destroy(it->it);
	rocks.readoptions_destroy(it->read);
	free(it->room);
	free(it);
}
