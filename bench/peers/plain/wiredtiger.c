/* Puts and gets on a B-tree of WiredTiger, each in a transaction of its own, and nothing else. */
#include "plain.h"
#include <wiredtiger.h>

static WT_CONNECTION *conn;
static WT_SESSION *session;
static WT_CURSOR *cursor;

static void must(int code) {
	if (code) die("wiredtiger", wiredtiger_strerror(code));
}

static void begin(const char *dir) {
	must(wiredtiger_open(dir, 0, "create,session_max=2000,checkpoint=(wait=60),cache_size=256MB,statistics=(fast),"
		"log=(enabled=true,recover=on,file_max=10MB,prealloc=false),transaction_sync=(enabled=true,method=none)", &conn));
	must(conn->open_session(conn, 0, 0, &session));
	must(session->create(session, "table:s1", "key_format=u,value_format=u,type=file,block_compressor="));
	must(session->open_cursor(session, "table:s1", 0, "overwrite=true", &cursor));
}

static void put(const void *key, size_t length, const char *value) {
	WT_ITEM k = {.data = key, .size = length}, v = {.data = value, .size = VALUE};
	must(session->begin_transaction(session, 0));
	cursor->set_key(cursor, &k);
	cursor->set_value(cursor, &v);
	must(cursor->insert(cursor));
	must(session->commit_transaction(session, 0));
}

static void get(const void *key, size_t length) {
	WT_ITEM k = {.data = key, .size = length}, v;
	cursor->set_key(cursor, &k);
	int code = cursor->search(cursor);
	if (code == 0) must(cursor->get_value(cursor, &v));
	else if (code != WT_NOTFOUND) must(code);
	must(cursor->reset(cursor));
}

static void end(void) { must(conn->close(conn, 0)); }
