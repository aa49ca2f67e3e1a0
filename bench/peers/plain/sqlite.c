/* Puts and gets on SQLite, each in a transaction of its own, and nothing else. */
#include "plain.h"
#include <sqlite3.h>

static sqlite3 *db;
static sqlite3_stmt *insert, *lookup;

static void must(int code) {
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) die("sqlite", db ? sqlite3_errmsg(db) : "open");
}

static sqlite3_int64 id(const void *key) {
	sqlite3_int64 n = 0;
	for (int i = 0; i < 8; i++) n = n << 8 | ((const uint8_t *)key)[i];
	return n;
}

static void begin(const char *dir) {
	char path[4096];
	snprintf(path, sizeof path, "%s/plain.db", dir);
	must(sqlite3_open(path, &db));
	must(sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;"
		"PRAGMA locking_mode = NORMAL; CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, v BLOB NOT NULL)", 0, 0, 0));
	must(sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO t VALUES (?, ?)", -1, &insert, 0));
	must(sqlite3_prepare_v2(db, "SELECT v FROM t WHERE id = ?", -1, &lookup, 0));
}

static void put(const void *key, size_t length, const char *value) {
	(void)length;
	must(sqlite3_bind_int64(insert, 1, id(key)));
	must(sqlite3_bind_blob(insert, 2, value, VALUE, SQLITE_STATIC));
	must(sqlite3_step(insert));
	must(sqlite3_reset(insert));
}

static void get(const void *key, size_t length) {
	(void)length;
	must(sqlite3_bind_int64(lookup, 1, id(key)));
	must(sqlite3_step(lookup));
	must(sqlite3_reset(lookup));
}

static void end(void) {
	sqlite3_finalize(insert);
	sqlite3_finalize(lookup);
	must(sqlite3_close(db));
}
