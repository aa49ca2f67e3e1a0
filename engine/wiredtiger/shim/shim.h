// The functions of the shim, which are called rumbench_wt_NAME there and wt_NAME in
// Go. All but the first three return 0, an errno, or one of WiredTiger's own codes.
#include <stddef.h>
#include <stdint.h>

typedef struct __wt_connection WT_CONNECTION;
typedef struct __wt_session WT_SESSION;
typedef struct __wt_cursor WT_CURSOR;

typedef struct {
	int code;
	size_t size;
	const char *data; // until the next call on the cursor
} rumbench_wt_value;

// What scan has read: count entries, each with the sizes of key and value as
// uint32_t, key, and value. It ends before max with a code, or full: then the
// cursor is on an entry that needs more room.
typedef struct {
	int count, code, full;
	size_t need;
} rumbench_wt_batch;

#define SHIM(X) \
	X(const char *, version, (void), ()) \
	X(const char *, error, (int code), (code)) \
	/* The last error that WiredTiger reported but for panics, and its message. */ \
	X(int, last, (char *to, size_t room), (to, room)) \
	X(int, open, (const char *dir, const char *config, WT_CONNECTION **c), (dir, config, c)) \
	X(int, close, (WT_CONNECTION *c), (c)) \
	X(int, session, (WT_CONNECTION *c, WT_SESSION **s), (c, s)) \
	X(int, end, (WT_SESSION *s), (s)) \
	X(int, create, (WT_SESSION *s, const char *uri, const char *config), (s, uri, config)) \
	X(int, begin, (WT_SESSION *s), (s)) \
	X(int, commit, (WT_SESSION *s), (s)) \
	X(int, rollback, (WT_SESSION *s), (s)) \
	X(int, reset, (WT_SESSION *s), (s)) \
	X(int, checkpoint, (WT_SESSION *s), (s)) \
	X(int, cursor, (WT_SESSION *s, const char *uri, WT_CURSOR **c), (s, uri, c)) \
	X(int, put, (WT_CURSOR *c, const char *key, size_t nkey, const char *value, size_t nvalue), (c, key, nkey, value, nvalue)) \
	/* Puts and commits, after it has begun a transaction if there is none. */ \
	X(int, finish, (WT_SESSION *s, int begun, WT_CURSOR *c, const char *key, size_t nkey, const char *value, size_t nvalue), (s, begun, c, key, nkey, value, nvalue)) \
	X(int, delete, (WT_CURSOR *c, const char *key, size_t n), (c, key, n)) \
	X(rumbench_wt_value, get, (WT_CURSOR *c, const char *key, size_t n, int reserve), (c, key, n, reserve)) \
	/* Gets a copy in the room, which may be too small for it, outside a transaction. */ \
	X(rumbench_wt_value, copy, (WT_CURSOR *c, const char *key, size_t n, char *room, size_t capacity), (c, key, n, room, capacity)) \
	/* Read entries. start: 1 from a key on, inclusive, or before it if back, 0 on from the cursor, 2 again where it was full. */ \
	/* They end at the bound: exclusive, none if empty, or inclusive if back. */ \
	X(rumbench_wt_batch, scan, (WT_CURSOR *c, int back, int start, const char *from, size_t nfrom, const char *bound, size_t nbound, int max, char *to, size_t room), \
		(c, back, start, from, nfrom, bound, nbound, max, to, room)) \
	/* The values of statistics in their order, and their names in lines. Returns how many there are, or less than 0. */ \
	X(int, stats, (WT_SESSION *s, const char *uri, int64_t *values, int max, char *names, size_t room), (s, uri, values, max, names, room)) \
	/* What a table was created with. */ \
	X(int, config, (WT_SESSION *s, const char *uri, char *to, size_t room), (s, uri, to, room))
