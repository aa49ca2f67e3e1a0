// The part of RocksDB's C interface that is used, declared here so that no header
// of any version is needed, and the functions that Go calls, each of which does
// as much as it can in one call.
#include <stddef.h>
#include <stdint.h>

typedef void *handle; // an object of the library

typedef char *(*full_merge_t)(void *, const char *, size_t, const char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *);
typedef char *(*partial_merge_t)(void *, const char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *);

#define BYTES const char *, size_t

// What every version from 6.29 on has.
#define FUNCTIONS(X) \
	X(void, free, (void *)) \
	X(handle, options_create, (void)) \
	X(void, options_destroy, (handle)) \
	X(void, get_options_from_string, (handle, const char *, handle, char **)) \
	X(void, options_enable_statistics, (handle)) \
	X(char *, options_statistics_get_string, (handle)) \
	X(void, options_set_merge_operator, (handle, handle)) \
	X(handle, mergeoperator_create, (void *, void (*)(void *), full_merge_t, partial_merge_t, void (*)(void *, const char *, size_t), const char *(*)(void *))) \
	X(handle, readoptions_create, (void)) \
	X(void, readoptions_destroy, (handle)) \
	X(void, readoptions_set_snapshot, (handle, handle)) \
	X(void, readoptions_set_total_order_seek, (handle, unsigned char)) \
	X(void, readoptions_set_iterate_lower_bound, (handle, BYTES)) \
	X(void, readoptions_set_iterate_upper_bound, (handle, BYTES)) \
	X(handle, writeoptions_create, (void)) \
	X(void, writeoptions_set_sync, (handle, unsigned char)) \
	X(handle, flushoptions_create, (void)) \
	X(handle, open_column_families, (handle, const char *, int, const char *const *, handle *, handle *, char **)) \
	X(void, close, (handle)) \
	X(void, column_family_handle_destroy, (handle)) \
	X(void, flush_cf, (handle, handle, handle, char **)) \
	X(void, flush_wal, (handle, unsigned char, char **)) \
	X(int, property_int_cf, (handle, handle, const char *, uint64_t *)) \
	X(char *, property_value_cf, (handle, handle, const char *)) \
	X(void, approximate_sizes_cf, (handle, handle, int, const char *const *, const size_t *, const char *const *, const size_t *, uint64_t *, char **)) \
	X(handle, create_snapshot, (handle)) \
	X(void, release_snapshot, (handle, handle)) \
	X(handle, get_pinned_cf, (handle, handle, handle, BYTES, char **)) \
	X(const char *, pinnableslice_value, (handle, size_t *)) \
	X(void, pinnableslice_destroy, (handle)) \
	X(handle, create_iterator_cf, (handle, handle, handle)) \
	X(void, iter_destroy, (handle)) \
	X(unsigned char, iter_valid, (handle)) \
	X(void, iter_seek, (handle, BYTES)) \
	X(void, iter_seek_for_prev, (handle, BYTES)) \
	X(void, iter_next, (handle)) \
	X(void, iter_prev, (handle)) \
	X(const char *, iter_key, (handle, size_t *)) \
	X(const char *, iter_value, (handle, size_t *)) \
	X(void, iter_get_error, (handle, char **)) \
	X(handle, writebatch_create, (void)) \
	X(void, writebatch_destroy, (handle)) \
	X(void, writebatch_clear, (handle)) \
	X(void, writebatch_put_cf, (handle, handle, BYTES, BYTES)) \
	X(void, writebatch_delete_cf, (handle, handle, BYTES)) \
	X(void, writebatch_singledelete_cf, (handle, handle, BYTES)) \
	X(void, writebatch_delete_range_cf, (handle, handle, BYTES, BYTES)) \
	X(void, writebatch_merge_cf, (handle, handle, BYTES, BYTES)) \
	X(void, write, (handle, handle, handle, char **)) \
	X(handle, writebatch_wi_create, (size_t, unsigned char)) \
	X(void, writebatch_wi_destroy, (handle)) \
	X(void, writebatch_wi_put_cf, (handle, handle, BYTES, BYTES)) \
	X(void, writebatch_wi_delete_cf, (handle, handle, BYTES)) \
	X(void, writebatch_wi_singledelete_cf, (handle, handle, BYTES)) \
	X(void, writebatch_wi_merge_cf, (handle, handle, BYTES, BYTES)) \
	X(char *, writebatch_wi_get_from_batch_and_db_cf, (handle, handle, handle, handle, BYTES, size_t *, char **)) \
	X(handle, writebatch_wi_create_iterator_with_base_cf, (handle, handle, handle)) \
	X(handle, optimistictransactiondb_open_column_families, (handle, const char *, int, const char *const *, handle *, handle *, char **)) \
	X(handle, optimistictransactiondb_get_base_db, (handle)) \
	X(void, optimistictransactiondb_close_base_db, (handle)) \
	X(void, optimistictransactiondb_close, (handle)) \
	X(handle, optimistictransaction_options_create, (void)) \
	X(void, optimistictransaction_options_set_set_snapshot, (handle, unsigned char)) \
	X(handle, optimistictransaction_begin, (handle, handle, handle, handle)) \
	X(handle, transactiondb_options_create, (void)) \
	X(handle, transactiondb_open_column_families, (handle, handle, const char *, int, const char *const *, handle *, handle *, char **)) \
	X(void, transactiondb_close, (handle)) \
	X(handle, transaction_options_create, (void)) \
	X(void, transaction_options_set_set_snapshot, (handle, unsigned char)) \
	X(void, transaction_options_set_deadlock_detect, (handle, unsigned char)) \
	X(handle, transaction_begin, (handle, handle, handle, handle)) \
	X(handle, transaction_get_snapshot, (handle)) \
	X(char *, transaction_get_cf, (handle, handle, handle, BYTES, size_t *, char **)) \
	X(char *, transaction_get_for_update_cf, (handle, handle, handle, BYTES, size_t *, unsigned char, char **)) \
	X(void, transaction_put_cf, (handle, handle, BYTES, BYTES, char **)) \
	X(void, transaction_delete_cf, (handle, handle, BYTES, char **)) \
	X(void, transaction_merge_cf, (handle, handle, BYTES, BYTES, char **)) \
	X(handle, transaction_create_iterator_cf, (handle, handle, handle)) \
	X(void, transaction_commit, (handle, char **)) \
	X(void, transaction_destroy, (handle))

// What versions before 8.11 lack: transactions with locks need it.
#define NEWER(X) \
	X(handle, transactiondb_get_base_db, (handle)) \
	X(void, transactiondb_close_base_db, (handle))

// The functions of the library: a process can have only one.
extern struct api {
#define FIELD(result, name, arguments) result (*name) arguments;
	FUNCTIONS(FIELD) NEWER(FIELD)
#undef FIELD
} rocks;

// How transactions find conflicts.
enum { NONE, OPTIMISTIC, LOCKS };

// A store is an open database.
typedef struct {
	int transactions;
	handle options;
	handle db;
	handle wrapper; // the database with transactions around db, if it has them
	handle *families; // by the space of their keys; the only one holds all
	int count;
	handle write;
} store;

// The kinds of views.
enum { SNAPSHOT, INDEXED, TX };

// A view is what a transaction reads and writes through, unless that is the
// database itself.
typedef struct {
	store *s;
	handle read;
	handle snapshot; // its own, or that of tx
	// Where it writes, at most one of:
	handle batch;
	handle indexed;
	handle tx;
} view;

// An iter is an iterator with the memory of its bounds, which must outlive it.
typedef struct {
	handle it, read;
	int reverse;
	int begun; // it stands at an entry that was copied
	int own; // it shows a transaction's own writes, which know no bounds
	char *room; // of entries
	size_t capacity;
	size_t lower, upper; // lengths of the bounds
	char bounds[];
} iter;

// The kinds of writes. DELETE_RANGE is for a batch only.
enum { PUT, MERGE, DELETE, SINGLE_DELETE, DELETE_RANGE };

// A page is entries, one after the other: the lengths of key and value as 32-bit
// numbers, then both. They are valid until the iterator's next.
typedef struct {
	iter *it;
	char *entries;
	size_t length, count;
	int more; // entries may follow
	char *error;
} page;

typedef struct {
	size_t length; // SIZE_MAX: there is none
	char *error;
} value;

// Errors and statistics are RocksDB's strings, freed by release.
const char *load(void *library);
void release(char *text);
store *store_new(int families, int transactions, int sync);
char *store_set(store *s, const char *text);
void store_merge(store *s, const char *name, const char *formats, size_t spaces, size_t width);
char *store_open(store *s, const char *dir);
char *store_flush(store *s);
char *store_close(store *s);
char *store_write(store *s, view *v, const char *writes, size_t length, size_t applied);
uint64_t store_number(store *s, int family, const char *name);
char *store_text(store *s, int family, const char *name);
char *store_statistics(store *s);
char *store_size(store *s, BYTES, BYTES, uint64_t *out);
view *view_open(store *s, int kind);
char *view_apply(view *v, const char *writes, size_t length);
void view_close(view *v);
value get(store *s, view *v, int lock, const char *key, size_t length, char *room, size_t capacity);
page scan(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu, int reverse, size_t want);
page fill(iter *it, size_t want);
void iter_close(iter *it);
size_t uvarint(const char **p);
