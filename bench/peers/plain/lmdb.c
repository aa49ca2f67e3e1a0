/* Puts and gets on LMDB, each in a transaction of its own, and nothing else. */
#include "plain.h"
#include "lmdb.h"

static MDB_env *env;
static MDB_dbi dbi;
static MDB_txn *reader;

static void must(int code) {
	if (code) die("lmdb", mdb_strerror(code));
}

static void begin(const char *dir) {
	MDB_txn *t;
	must(mdb_env_create(&env));
	must(mdb_env_set_mapsize(env, 16ULL << 30));
	must(mdb_env_set_maxdbs(env, 2));
	must(mdb_env_open(env, dir, MDB_NOTLS | MDB_NOSYNC, 0644));
	must(mdb_txn_begin(env, 0, 0, &t));
	must(mdb_dbi_open(t, "space 1", MDB_CREATE, &dbi));
	must(mdb_txn_commit(t));
	must(mdb_txn_begin(env, 0, MDB_RDONLY, &reader));
	mdb_txn_reset(reader);
}

static void put(const void *key, size_t length, const char *value) {
	MDB_val k = {length, (void *)key}, v = {VALUE, (void *)value};
	MDB_txn *t;
	must(mdb_txn_begin(env, 0, 0, &t));
	must(mdb_put(t, dbi, &k, &v, 0));
	must(mdb_txn_commit(t));
}

static void get(const void *key, size_t length) {
	MDB_val k = {length, (void *)key}, v;
	must(mdb_txn_renew(reader));
	int code = mdb_get(reader, dbi, &k, &v);
	if (code != MDB_NOTFOUND) must(code);
	mdb_txn_reset(reader);
}

static void end(void) {
	mdb_txn_abort(reader);
	mdb_env_close(env);
}
