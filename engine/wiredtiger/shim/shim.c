// The functions of WiredTiger that rumbench calls. WiredTiger's interface is
// structs of function pointers whose order differs between versions: this file is
// compiled with the header of one of them, by scripts/wiredtiger.sh, and the
// library that results is loaded at run time.
#include "shim.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <wiredtiger.h>

const char *rumbench_wt_version(void) { return WIREDTIGER_VERSION_STRING; }
const char *rumbench_wt_error(int code) { return wiredtiger_strerror(code); }

static struct {
	pthread_mutex_t lock;
	int code;
	char text[512];
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(int code, const char *text) {
	pthread_mutex_lock(&last.lock);
	last.code = code;
	snprintf(last.text, sizeof last.text, "%s", text);
	pthread_mutex_unlock(&last.lock);
}

// A panic follows the error that caused it.
static int on_error(WT_EVENT_HANDLER *h, WT_SESSION *s, int code, const char *text) {
	(void)h, (void)s;
	if (code != WT_PANIC)
		keep(code, text);
	fprintf(stderr, "wiredtiger: %s\n", text);
	return 0;
}

int rumbench_wt_last(char *to, size_t room) {
	pthread_mutex_lock(&last.lock);
	int code = last.code;
	snprintf(to, room, "%s", last.text);
	pthread_mutex_unlock(&last.lock);
	return code;
}

int rumbench_wt_open(const char *dir, const char *config, WT_CONNECTION **conn) {
	static WT_EVENT_HANDLER events = {.handle_error = on_error};
	keep(0, "");
	return wiredtiger_open(dir, &events, config, conn);
}

int rumbench_wt_close(WT_CONNECTION *c) { return c->close(c, NULL); }
int rumbench_wt_session(WT_CONNECTION *c, WT_SESSION **s) { return c->open_session(c, NULL, "isolation=snapshot", s); }
int rumbench_wt_end(WT_SESSION *s) { return s->close(s, NULL); }
int rumbench_wt_create(WT_SESSION *s, const char *uri, const char *config) { return s->create(s, uri, config); }
int rumbench_wt_begin(WT_SESSION *s) { return s->begin_transaction(s, NULL); } // as isolated as its session: parsing a configuration takes longer

// A commit leaves cursors on their pages. As long as one stays there, the session's reads
// outside transactions share a snapshot.
int rumbench_wt_commit(WT_SESSION *s) {
	int code = s->commit_transaction(s, NULL), reset = s->reset(s);
	return code ? code : reset;
}

int rumbench_wt_rollback(WT_SESSION *s) { return s->rollback_transaction(s, NULL); }
int rumbench_wt_reset(WT_SESSION *s) { return s->reset(s); }
int rumbench_wt_checkpoint(WT_SESSION *s) { return s->checkpoint(s, NULL); }
int rumbench_wt_cursor(WT_SESSION *s, const char *uri, WT_CURSOR **c) { return s->open_cursor(s, uri, NULL, NULL, c); }

static void set_key(WT_CURSOR *c, const char *key, size_t n) {
	WT_ITEM k = {.data = key, .size = n};
	c->set_key(c, &k);
}

int rumbench_wt_put(WT_CURSOR *c, const char *key, size_t nkey, const char *value, size_t nvalue) {
	WT_ITEM v = {.data = value, .size = nvalue};
	set_key(c, key, nkey);
	c->set_value(c, &v);
	return c->insert(c);
}

int rumbench_wt_finish(WT_SESSION *s, int begun, WT_CURSOR *c, const char *key, size_t nkey, const char *value, size_t nvalue) {
	int code = begun ? 0 : rumbench_wt_begin(s);
	if (code)
		return code;
	if ((code = rumbench_wt_put(c, key, nkey, value, nvalue)) == 0)
		return begun ? rumbench_wt_commit(s) : s->commit_transaction(s, NULL); // a put leaves its cursor nowhere
	rumbench_wt_rollback(s);
	return code;
}

int rumbench_wt_delete(WT_CURSOR *c, const char *key, size_t n) {
	set_key(c, key, n);
	return c->remove(c);
}

rumbench_wt_value rumbench_wt_get(WT_CURSOR *c, const char *key, size_t n, int reserve) {
	WT_ITEM v = {0};
	set_key(c, key, n);
	int code = reserve ? c->reserve(c) : 0;
	if (code == 0)
		code = c->search(c);
	if (code == 0)
		code = c->get_value(c, &v);
	return (rumbench_wt_value){code, v.size, v.data};
}

rumbench_wt_value rumbench_wt_copy(WT_CURSOR *c, const char *key, size_t n, char *room, size_t capacity) {
	rumbench_wt_value v = rumbench_wt_get(c, key, n, 0);
	if (v.code == 0 && v.size <= capacity)
		memcpy(room, v.data, v.size);
	v.data = NULL;
	int code = c->reset(c);
	if (v.code == 0)
		v.code = code;
	return v;
}

// seek moves to the first entry from a key on, or the last one before it. An empty
// key is before the first and, backwards, after the last.
static int seek(WT_CURSOR *c, const char *key, size_t n, int back) {
	int exact = 0, code = 0;
	if (n == 0) {
		if ((code = c->reset(c)) != 0)
			return code;
		return back ? c->prev(c) : c->next(c);
	}
	set_key(c, key, n);
	if ((code = c->search_near(c, &exact)) != 0)
		return code;
	if (back)
		return exact < 0 ? 0 : c->prev(c);
	return exact >= 0 ? 0 : c->next(c);
}

static int compare(const WT_ITEM *k, const char *bound, size_t n) {
	int d = memcmp(k->data, bound, k->size < n ? k->size : n);
	return d ? d : (k->size > n) - (k->size < n);
}

rumbench_wt_batch rumbench_wt_scan(WT_CURSOR *c, int back, int start, const char *from, size_t nfrom, const char *bound, size_t nbound, int max, char *to, size_t room) {
	rumbench_wt_batch b = {0};
	for (; b.count < max; start = 0) {
		WT_ITEM k, v;
		int code = start == 2 ? 0 : start ? seek(c, from, nfrom, back) : back ? c->prev(c) : c->next(c);
		if (code || (code = c->get_key(c, &k)) || (code = c->get_value(c, &v))) {
			b.code = code;
			return b;
		}
		if (back ? compare(&k, bound, nbound) < 0 : nbound && compare(&k, bound, nbound) >= 0) {
			b.code = WT_NOTFOUND;
			return b;
		}
		uint32_t sizes[2] = {k.size, v.size};
		b.need = sizeof sizes + k.size + v.size;
		if (b.need > room) {
			b.full = 1;
			return b;
		}
		memcpy(to, sizes, sizeof sizes);
		memcpy(to + sizeof sizes, k.data, k.size);
		memcpy(to + sizeof sizes + k.size, v.data, v.size);
		to += b.need;
		room -= b.need;
		b.count++;
	}
	return b;
}

int rumbench_wt_stats(WT_SESSION *s, const char *uri, int64_t *values, int max, char *names, size_t room) {
	WT_CURSOR *c;
	int n = 0, code = s->open_cursor(s, uri, NULL, "statistics=(fast)", &c);
	if (code)
		return code < 0 ? code : -code;
	while (n < max && c->next(c) == 0) {
		const char *name, *text;
		int64_t value;
		if (c->get_value(c, &name, &text, &value))
			break;
		values[n++] = value;
		if (names) {
			size_t used = snprintf(names, room, "%s\n", name);
			if (used >= room)
				break;
			names += used;
			room -= used;
		}
	}
	c->close(c);
	return n;
}

int rumbench_wt_config(WT_SESSION *s, const char *uri, char *to, size_t room) {
	WT_CURSOR *c;
	const char *text = "";
	int code = s->open_cursor(s, "metadata:create", NULL, NULL, &c);
	if (code)
		return code;
	c->set_key(c, uri);
	if ((code = c->search(c)) == 0 && (code = c->get_value(c, &text)) == 0)
		snprintf(to, room, "%s", text);
	c->close(c);
	return code;
}
