//go:build native && cgo && linux

#include "binding.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// load finds the functions of a library and returns the name of one that it lacks.
const char *load(store *s, void *library) {
#define OPTIONAL(result, name, arguments) s->f.name = (result (*) arguments)dlsym(library, "rocksdb_" #name);
#define REQUIRED(result, name, arguments) OPTIONAL(result, name, arguments) if (!s->f.name) return "rocksdb_" #name;
	FUNCTIONS(REQUIRED) NEWER(OPTIONAL)
	return NULL;
}

// set_options changes the options that the text names.
char *set_options(store *s, const char *text) {
	char *error = NULL;
	rocksdb_options_t *before = s->options, *after = s->f.options_create();
	if (!before)
		before = s->f.options_create();
	s->f.get_options_from_string(before, text, after, &error);
	s->f.options_destroy(before);
	s->options = after;
	return error;
}

static char *open_kind(store *s, const char *dir, int transactions, const char *const *names, const rocksdb_options_t *const *options) {
	char *error = NULL;
	switch (transactions) {
	case NONE:
		s->db = s->f.open_column_families(s->options, dir, s->count, names, options, s->families, &error);
		break;
	case OPTIMISTIC:
		s->optimistic = s->f.optimistictransactiondb_open_column_families(s->options, dir, s->count, names, options, s->families, &error);
		if (!error)
			s->db = s->f.optimistictransactiondb_get_base_db(s->optimistic);
		break;
	case LOCKS: {
		rocksdb_locking_options_t *o = s->f.transactiondb_options_create();
		s->locking = s->f.transactiondb_open_column_families(s->options, o, dir, s->count, names, options, s->families, &error);
		s->f.transactiondb_options_destroy(o);
		if (!error)
			s->db = s->f.transactiondb_get_base_db(s->locking);
	}
	}
	return error;
}

// store_open opens the database, which is created if there is none. The families
// are called by their numbers, which RocksDB gives out in the same order.
char *store_open(store *s, const char *dir, int families, int transactions, int sync) {
	const char *names[families];
	const rocksdb_options_t *options[families];
	char text[families][12];
	for (int i = 0; i < families; i++) {
		snprintf(text[i], sizeof text[i], "%d", i);
		names[i] = i ? text[i] : "default";
		options[i] = s->options;
	}
	s->count = families;
	s->families = calloc(families, sizeof *s->families);
	s->f.options_enable_statistics(s->options);
	char *error = open_kind(s, dir, transactions, names, options);
	if (error)
		return error;
	s->read = s->f.readoptions_create();
	s->write = s->f.writeoptions_create();
	s->f.writeoptions_set_sync(s->write, sync);
	s->optimistic_options = s->f.optimistictransaction_options_create();
	s->f.optimistictransaction_options_set_set_snapshot(s->optimistic_options, 1);
	s->locking_options = s->f.transaction_options_create();
	s->f.transaction_options_set_set_snapshot(s->locking_options, 1);
	s->f.transaction_options_set_deadlock_detect(s->locking_options, 1);
	return NULL;
}

void store_close(store *s) {
	if (s->db) {
		for (int i = 0; i < s->count; i++)
			s->f.column_family_handle_destroy(s->families[i]);
		s->f.optimistictransaction_options_destroy(s->optimistic_options);
		s->f.transaction_options_destroy(s->locking_options);
		s->f.readoptions_destroy(s->read);
		s->f.writeoptions_destroy(s->write);
		if (s->optimistic) {
			s->f.optimistictransactiondb_close_base_db(s->db);
			s->f.optimistictransactiondb_close(s->optimistic);
		} else if (s->locking) {
			s->f.transactiondb_close_base_db(s->db);
			s->f.transactiondb_close(s->locking);
		} else {
			s->f.close(s->db);
		}
	}
	if (s->options)
		s->f.options_destroy(s->options);
	free(s->families);
	free(s);
}

// A key begins with its space.
static rocksdb_family_t *family(const store *s, const char *key) {
	return s->families[s->count == 1 ? 0 : (unsigned char)key[0] << 8 | (unsigned char)key[1]];
}

// store_write commits a transaction whose writes are in a batch. If it has a
// transaction of RocksDB, the records from applied on are still to be repeated
// there.
char *store_write(store *s, view *v, const char *batch, size_t length, size_t applied) {
	char *error = NULL;
	if (v && v->tx) {
		error = view_apply(v, batch + applied, length - applied);
		if (!error)
			s->f.transaction_commit(v->tx, &error);
		return error;
	}
	rocksdb_batch_t *b = s->f.writebatch_create_from(batch, length);
	s->f.write(s->db, s->write, b, &error);
	s->f.writebatch_destroy(b);
	return error;
}

char *store_flush(store *s, int family) {
	char *error = NULL;
	rocksdb_flushoptions_t *o = s->f.flushoptions_create();
	s->f.flush_cf(s->db, o, s->families[family], &error);
	s->f.flushoptions_destroy(o);
	return error;
}

char *store_flush_log(store *s) {
	char *error = NULL;
	s->f.flush_wal(s->db, 0, &error);
	return error;
}

int store_number(store *s, int family, const char *name, uint64_t *out) {
	return s->f.property_int_cf(s->db, s->families[family], name, out);
}

char *store_statistics(store *s) { return s->f.options_statistics_get_string(s->options); }

char *store_size(store *s, int family, const char *lower, size_t nl, const char *upper, size_t nu, uint64_t *out) {
	char *error = NULL;
	s->f.approximate_sizes_cf(s->db, s->families[family], 1, &lower, &nl, &upper, &nu, out, &error);
	return error;
}

void release(store *s, char *text) { s->f.free(text); }

view *view_open(store *s, int kind) {
	view *v = calloc(1, sizeof *v);
	v->s = s;
	v->read = s->read;
	const rocksdb_snapshot_t *at = NULL;
	if (kind == SNAPSHOT) {
		at = v->snapshot = s->f.create_snapshot(s->db);
	} else if (kind == INDEXED) {
		v->indexed = s->f.writebatch_wi_create(0, 1);
	} else {
		v->tx = s->optimistic ? s->f.optimistictransaction_begin(s->optimistic, s->write, s->optimistic_options, NULL)
				      : s->f.transaction_begin(s->locking, s->write, s->locking_options, NULL);
		at = s->f.transaction_get_snapshot(v->tx);
	}
	if (at) {
		v->read = s->f.readoptions_create();
		s->f.readoptions_set_snapshot(v->read, at);
		if (v->tx)
			s->f.free((void *)at); // the handle; the transaction owns the snapshot
	}
	return v;
}

void view_close(view *v) {
	store *s = v->s;
	if (v->read != s->read)
		s->f.readoptions_destroy(v->read);
	if (v->snapshot)
		s->f.release_snapshot(s->db, v->snapshot);
	if (v->indexed)
		s->f.writebatch_wi_destroy(v->indexed);
	if (v->tx)
		s->f.transaction_destroy(v->tx); // which rolls it back
	free(v);
}

static size_t uvarint(const char **p) {
	size_t n = 0;
	for (int shift = 0;; shift += 7) {
		unsigned char b = *(*p)++;
		n |= (size_t)(b & 127) << shift;
		if (b < 128)
			return n;
	}
}

// apply repeats a record of a batch in the view.
static char *apply(view *v, int kind, const char *key, size_t nk, const char *value, size_t nv) {
	const api *f = &v->s->f;
	rocksdb_family_t *at = family(v->s, key);
	char *error = NULL;
	switch (kind) {
	case PUT:
	case FAMILY_PUT:
		if (v->tx)
			f->transaction_put_cf(v->tx, at, key, nk, value, nv, &error);
		else
			f->writebatch_wi_put_cf(v->indexed, at, key, nk, value, nv);
		break;
	case MERGE:
	case FAMILY_MERGE:
		if (v->tx)
			f->transaction_merge_cf(v->tx, at, key, nk, value, nv, &error);
		else
			f->writebatch_wi_merge_cf(v->indexed, at, key, nk, value, nv);
		break;
	case SINGLE_DELETE:
	case FAMILY_SINGLE_DELETE:
		f->writebatch_wi_singledelete_cf(v->indexed, at, key, nk); // transactions have none
		break;
	default:
		if (v->tx)
			f->transaction_delete_cf(v->tx, at, key, nk, &error);
		else
			f->writebatch_wi_delete_cf(v->indexed, at, key, nk);
	}
	return error;
}

// view_apply repeats records of a batch in the view.
char *view_apply(view *v, const char *p, size_t length) {
	char *error = NULL;
	for (const char *end = p + length; p < end && !error;) {
		int kind = *p++;
		if (v->s->count > 1)
			uvarint(&p); // the family
		size_t nk = uvarint(&p), nv = 0;
		const char *key = p;
		p += nk;
		if (kind == PUT || kind == MERGE || kind == FAMILY_PUT || kind == FAMILY_MERGE)
			nv = uvarint(&p);
		error = apply(v, kind, key, nk, p, nv);
		p += nv;
	}
	return error;
}

// copied returns a value in the room, or else in memory of its own.
static value copied(const char *from, size_t length, char *room, size_t capacity) {
	value out = {length, NULL, NULL};
	if (length > capacity)
		room = out.large = malloc(length);
	memcpy(room, from, length);
	return out;
}

value get(store *s, view *v, int lock, const char *key, size_t length, char *room, size_t capacity) {
	value out = {SIZE_MAX, NULL, NULL};
	char *found = NULL;
	size_t n = 0;
	rocksdb_family_t *at = family(s, key);
	if (v && v->tx) {
		found = lock ? s->f.transaction_get_for_update_cf(v->tx, v->read, at, key, length, &n, 1, &out.error)
			     : s->f.transaction_get_cf(v->tx, v->read, at, key, length, &n, &out.error);
	} else if (v && v->indexed) {
		found = s->f.writebatch_wi_get_from_batch_and_db_cf(v->indexed, s->db, v->read, at, key, length, &n, &out.error);
	} else {
		rocksdb_pinned_t *p = s->f.get_pinned_cf(s->db, v ? v->read : s->read, at, key, length, &out.error);
		if (!p)
			return out;
		const char *from = s->f.pinnableslice_value(p, &n);
		out = copied(from, n, room, capacity);
		s->f.pinnableslice_destroy(p);
		return out;
	}
	if (found) {
		out = copied(found, n, room, capacity);
		s->f.free(found);
	}
	return out;
}

static iter *iter_open(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu) {
	iter *it = malloc(sizeof *it + nl + nu);
	*it = (iter){.s = s, .lower = nl, .upper = nu, .own = v && !v->snapshot};
	memcpy(it->bounds, lower, nl);
	memcpy(it->bounds + nl, upper, nu);
	it->read = s->f.readoptions_create();
	// Ranges are wider than the prefixes of a prefix_extractor.
	s->f.readoptions_set_total_order_seek(it->read, 1);
	s->f.readoptions_set_iterate_lower_bound(it->read, it->bounds, nl);
	s->f.readoptions_set_iterate_upper_bound(it->read, it->bounds + nl, nu);
	rocksdb_family_t *at = family(s, lower);
	if (v && v->tx) {
		const rocksdb_snapshot_t *snapshot = s->f.transaction_get_snapshot(v->tx);
		s->f.readoptions_set_snapshot(it->read, snapshot);
		s->f.free((void *)snapshot); // the handle
		it->it = s->f.transaction_create_iterator_cf(v->tx, it->read, at);
		return it;
	}
	if (v && v->snapshot)
		s->f.readoptions_set_snapshot(it->read, v->snapshot);
	it->it = s->f.create_iterator_cf(s->db, it->read, at);
	if (v && v->indexed) // it owns the other
		it->it = s->f.writebatch_wi_create_iterator_with_base_cf(v->indexed, it->it, at);
	return it;
}

static int compare(const char *a, size_t na, const char *b, size_t nb) {
	int c = memcmp(a, b, na < nb ? na : nb);
	return c ? c : (na > nb) - (na < nb);
}

// inside reports whether the iterator stands at an entry between its bounds.
static int inside(const iter *it) {
	if (!it->s->f.iter_valid(it->it))
		return 0;
	if (!it->own)
		return 1;
	size_t n;
	const char *key = it->s->f.iter_key(it->it, &n);
	return compare(key, n, it->bounds, it->lower) >= 0 && compare(key, n, it->bounds + it->lower, it->upper) < 0;
}

static void step(iter *it, int move) {
	if (move == NEXT)
		it->s->f.iter_next(it->it);
	else
		it->s->f.iter_prev(it->it);
}

// fill moves and copies up to want entries, in the direction of the move: the
// lengths of key and value, then both.
page fill(iter *it, int move, size_t want, char *room, size_t capacity) {
	const api *f = &it->s->f;
	page out = {.it = it};
	if (move == FIRST) {
		f->iter_seek(it->it, it->bounds, it->lower);
		it->fresh = 1;
		move = NEXT;
	} else if (move == LAST) {
		const char *upper = it->bounds + it->lower;
		f->iter_seek_for_prev(it->it, upper, it->upper);
		size_t n;
		if (f->iter_valid(it->it)) {
			const char *key = f->iter_key(it->it, &n);
			if (compare(key, n, upper, it->upper) >= 0)
				f->iter_prev(it->it);
		}
		it->fresh = 1;
		move = PREV;
	}
	for (; out.count < want; it->fresh = 0) {
		if (!it->fresh)
			step(it, move);
		if (!inside(it))
			break;
		uint32_t length[2];
		size_t nk, nv;
		const char *k = f->iter_key(it->it, &nk), *v = f->iter_value(it->it, &nv);
		length[0] = nk;
		length[1] = nv;
		size_t need = sizeof length + nk + nv;
		if (need > capacity - out.used) {
			it->fresh = 1;
			out.need = need;
			return out;
		}
		char *to = room + out.used;
		memcpy(to, length, sizeof length);
		memcpy(to + sizeof length, k, nk);
		memcpy(to + sizeof length + nk, v, nv);
		out.used += need;
		out.count++;
	}
	if (!f->iter_valid(it->it))
		f->iter_get_error(it->it, &out.error);
	return out;
}

// scan opens an iterator and fills in its first entries.
page scan(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu, int move, size_t want, char *room, size_t capacity) {
	return fill(iter_open(s, v, lower, nl, upper, nu), move, want, room, capacity);
}

void iter_close(iter *it) {
	it->s->f.iter_destroy(it->it);
	it->s->f.readoptions_destroy(it->read);
	free(it);
}
