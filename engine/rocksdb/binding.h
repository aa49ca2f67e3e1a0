// The part of RocksDB's C interface that is used, declared here so that no header
// of any version is needed, and the functions that Go calls, each of which does
// as much as it can in one call.
#include <stddef.h>
#include <stdint.h>

typedef struct rocksdb_t rocksdb_t;
typedef struct rocksdb_options_t rocksdb_options_t;
typedef struct rocksdb_readoptions_t rocksdb_readoptions_t;
typedef struct rocksdb_writeoptions_t rocksdb_writeoptions_t;
typedef struct rocksdb_flushoptions_t rocksdb_flushoptions_t;
typedef struct rocksdb_family_t rocksdb_family_t;
typedef struct rocksdb_snapshot_t rocksdb_snapshot_t;
typedef struct rocksdb_iterator_t rocksdb_iterator_t;
typedef struct rocksdb_pinned_t rocksdb_pinned_t;
typedef struct rocksdb_batch_t rocksdb_batch_t;
typedef struct rocksdb_indexed_t rocksdb_indexed_t;
typedef struct rocksdb_optimistic_t rocksdb_optimistic_t;
typedef struct rocksdb_optimistic_options_t rocksdb_optimistic_options_t;
typedef struct rocksdb_locking_t rocksdb_locking_t;
typedef struct rocksdb_locking_options_t rocksdb_locking_options_t;
typedef struct rocksdb_tx_t rocksdb_tx_t;
typedef struct rocksdb_tx_options_t rocksdb_tx_options_t;
typedef struct rocksdb_operator_t rocksdb_operator_t;

typedef char *(*full_merge_t)(void *, const char *, size_t, const char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *);
typedef char *(*partial_merge_t)(void *, const char *, size_t, const char *const *, const size_t *, int, unsigned char *, size_t *);

#define BYTES const char *, size_t

// What every version from 6.29 on has.
#define FUNCTIONS(X) \
	X(void, free, (void *)) \
	X(rocksdb_options_t *, options_create, (void)) \
	X(void, options_destroy, (rocksdb_options_t *)) \
	X(void, get_options_from_string, (const rocksdb_options_t *, const char *, rocksdb_options_t *, char **)) \
	X(void, options_enable_statistics, (rocksdb_options_t *)) \
	X(char *, options_statistics_get_string, (rocksdb_options_t *)) \
	X(void, options_set_merge_operator, (rocksdb_options_t *, rocksdb_operator_t *)) \
	X(rocksdb_operator_t *, mergeoperator_create, (void *, void (*)(void *), full_merge_t, partial_merge_t, void (*)(void *, const char *, size_t), const char *(*)(void *))) \
	X(rocksdb_readoptions_t *, readoptions_create, (void)) \
	X(void, readoptions_destroy, (rocksdb_readoptions_t *)) \
	X(void, readoptions_set_snapshot, (rocksdb_readoptions_t *, const rocksdb_snapshot_t *)) \
	X(void, readoptions_set_total_order_seek, (rocksdb_readoptions_t *, unsigned char)) \
	X(void, readoptions_set_iterate_lower_bound, (rocksdb_readoptions_t *, BYTES)) \
	X(void, readoptions_set_iterate_upper_bound, (rocksdb_readoptions_t *, BYTES)) \
	X(rocksdb_writeoptions_t *, writeoptions_create, (void)) \
	X(void, writeoptions_destroy, (rocksdb_writeoptions_t *)) \
	X(void, writeoptions_set_sync, (rocksdb_writeoptions_t *, unsigned char)) \
	X(rocksdb_flushoptions_t *, flushoptions_create, (void)) \
	X(void, flushoptions_destroy, (rocksdb_flushoptions_t *)) \
	X(rocksdb_t *, open_column_families, (const rocksdb_options_t *, const char *, int, const char *const *, const rocksdb_options_t *const *, rocksdb_family_t **, char **)) \
	X(void, close, (rocksdb_t *)) \
	X(void, column_family_handle_destroy, (rocksdb_family_t *)) \
	X(void, flush_cf, (rocksdb_t *, const rocksdb_flushoptions_t *, rocksdb_family_t *, char **)) \
	X(void, flush_wal, (rocksdb_t *, unsigned char, char **)) \
	X(int, property_int_cf, (rocksdb_t *, rocksdb_family_t *, const char *, uint64_t *)) \
	X(void, approximate_sizes_cf, (rocksdb_t *, rocksdb_family_t *, int, const char *const *, const size_t *, const char *const *, const size_t *, uint64_t *, char **)) \
	X(const rocksdb_snapshot_t *, create_snapshot, (rocksdb_t *)) \
	X(void, release_snapshot, (rocksdb_t *, const rocksdb_snapshot_t *)) \
	X(rocksdb_pinned_t *, get_pinned_cf, (rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_family_t *, BYTES, char **)) \
	X(const char *, pinnableslice_value, (const rocksdb_pinned_t *, size_t *)) \
	X(void, pinnableslice_destroy, (rocksdb_pinned_t *)) \
	X(rocksdb_iterator_t *, create_iterator_cf, (rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_family_t *)) \
	X(void, iter_destroy, (rocksdb_iterator_t *)) \
	X(unsigned char, iter_valid, (const rocksdb_iterator_t *)) \
	X(void, iter_seek, (rocksdb_iterator_t *, BYTES)) \
	X(void, iter_seek_for_prev, (rocksdb_iterator_t *, BYTES)) \
	X(void, iter_next, (rocksdb_iterator_t *)) \
	X(void, iter_prev, (rocksdb_iterator_t *)) \
	X(const char *, iter_key, (const rocksdb_iterator_t *, size_t *)) \
	X(const char *, iter_value, (const rocksdb_iterator_t *, size_t *)) \
	X(void, iter_get_error, (const rocksdb_iterator_t *, char **)) \
	X(rocksdb_batch_t *, writebatch_create_from, (BYTES)) \
	X(void, writebatch_destroy, (rocksdb_batch_t *)) \
	X(void, write, (rocksdb_t *, const rocksdb_writeoptions_t *, rocksdb_batch_t *, char **)) \
	X(rocksdb_indexed_t *, writebatch_wi_create, (size_t, unsigned char)) \
	X(void, writebatch_wi_destroy, (rocksdb_indexed_t *)) \
	X(void, writebatch_wi_put_cf, (rocksdb_indexed_t *, rocksdb_family_t *, BYTES, BYTES)) \
	X(void, writebatch_wi_delete_cf, (rocksdb_indexed_t *, rocksdb_family_t *, BYTES)) \
	X(void, writebatch_wi_singledelete_cf, (rocksdb_indexed_t *, rocksdb_family_t *, BYTES)) \
	X(void, writebatch_wi_merge_cf, (rocksdb_indexed_t *, rocksdb_family_t *, BYTES, BYTES)) \
	X(char *, writebatch_wi_get_from_batch_and_db_cf, (rocksdb_indexed_t *, rocksdb_t *, const rocksdb_readoptions_t *, rocksdb_family_t *, BYTES, size_t *, char **)) \
	X(rocksdb_iterator_t *, writebatch_wi_create_iterator_with_base_cf, (rocksdb_indexed_t *, rocksdb_iterator_t *, rocksdb_family_t *)) \
	X(rocksdb_optimistic_t *, optimistictransactiondb_open_column_families, (const rocksdb_options_t *, const char *, int, const char *const *, const rocksdb_options_t *const *, rocksdb_family_t **, char **)) \
	X(rocksdb_t *, optimistictransactiondb_get_base_db, (rocksdb_optimistic_t *)) \
	X(void, optimistictransactiondb_close_base_db, (rocksdb_t *)) \
	X(void, optimistictransactiondb_close, (rocksdb_optimistic_t *)) \
	X(rocksdb_optimistic_options_t *, optimistictransaction_options_create, (void)) \
	X(void, optimistictransaction_options_destroy, (rocksdb_optimistic_options_t *)) \
	X(void, optimistictransaction_options_set_set_snapshot, (rocksdb_optimistic_options_t *, unsigned char)) \
	X(rocksdb_tx_t *, optimistictransaction_begin, (rocksdb_optimistic_t *, const rocksdb_writeoptions_t *, const rocksdb_optimistic_options_t *, rocksdb_tx_t *)) \
	X(rocksdb_locking_options_t *, transactiondb_options_create, (void)) \
	X(void, transactiondb_options_destroy, (rocksdb_locking_options_t *)) \
	X(rocksdb_locking_t *, transactiondb_open_column_families, (const rocksdb_options_t *, const rocksdb_locking_options_t *, const char *, int, const char *const *, const rocksdb_options_t *const *, rocksdb_family_t **, char **)) \
	X(void, transactiondb_close, (rocksdb_locking_t *)) \
	X(rocksdb_tx_options_t *, transaction_options_create, (void)) \
	X(void, transaction_options_destroy, (rocksdb_tx_options_t *)) \
	X(void, transaction_options_set_set_snapshot, (rocksdb_tx_options_t *, unsigned char)) \
	X(void, transaction_options_set_deadlock_detect, (rocksdb_tx_options_t *, unsigned char)) \
	X(rocksdb_tx_t *, transaction_begin, (rocksdb_locking_t *, const rocksdb_writeoptions_t *, const rocksdb_tx_options_t *, rocksdb_tx_t *)) \
	X(const rocksdb_snapshot_t *, transaction_get_snapshot, (rocksdb_tx_t *)) \
	X(char *, transaction_get_cf, (rocksdb_tx_t *, const rocksdb_readoptions_t *, rocksdb_family_t *, BYTES, size_t *, char **)) \
	X(char *, transaction_get_for_update_cf, (rocksdb_tx_t *, const rocksdb_readoptions_t *, rocksdb_family_t *, BYTES, size_t *, unsigned char, char **)) \
	X(void, transaction_put_cf, (rocksdb_tx_t *, rocksdb_family_t *, BYTES, BYTES, char **)) \
	X(void, transaction_delete_cf, (rocksdb_tx_t *, rocksdb_family_t *, BYTES, char **)) \
	X(void, transaction_merge_cf, (rocksdb_tx_t *, rocksdb_family_t *, BYTES, BYTES, char **)) \
	X(rocksdb_iterator_t *, transaction_create_iterator_cf, (rocksdb_tx_t *, const rocksdb_readoptions_t *, rocksdb_family_t *)) \
	X(void, transaction_commit, (rocksdb_tx_t *, char **)) \
	X(void, transaction_rollback, (rocksdb_tx_t *, char **)) \
	X(void, transaction_destroy, (rocksdb_tx_t *))

// What versions before 8.11 lack: transactions with locks need it.
#define NEWER(X) \
	X(rocksdb_t *, transactiondb_get_base_db, (rocksdb_locking_t *)) \
	X(void, transactiondb_close_base_db, (rocksdb_t *))

// An api holds the functions of one library.
typedef struct {
#define FIELD(result, name, arguments) result (*name) arguments;
	FUNCTIONS(FIELD) NEWER(FIELD)
#undef FIELD
} api;

// How transactions find conflicts.
enum { NONE, OPTIMISTIC, LOCKS };

// A store is an open database.
typedef struct {
	api f;
	rocksdb_options_t *options;
	rocksdb_t *db;
	rocksdb_optimistic_t *optimistic;
	rocksdb_locking_t *locking;
	rocksdb_family_t **families; // by the space of their keys; the only one holds all
	int count;
	rocksdb_readoptions_t *read;
	rocksdb_writeoptions_t *write;
	rocksdb_optimistic_options_t *optimistic_options;
	rocksdb_tx_options_t *locking_options;
} store;

// A view is what a transaction reads and writes through, unless that is the
// database itself.
typedef struct {
	store *s;
	rocksdb_readoptions_t *read; // on the snapshot, if it has one
	const rocksdb_snapshot_t *snapshot; // its own
	rocksdb_indexed_t *indexed;
	rocksdb_tx_t *tx;
} view;

// An operator_t merges the rows of tables: formats holds the letters of their
// cells by space.
typedef struct {
	char *name;
	size_t spaces;
	char *formats[];
} operator_t;

// The kinds of views.
enum { SNAPSHOT, INDEXED, TX };

// An iter is an iterator with the memory of its bounds, which must outlive it.
typedef struct {
	store *s;
	rocksdb_iterator_t *it;
	rocksdb_readoptions_t *read;
	int fresh; // it stands at an entry that was not copied yet
	int own; // it shows a transaction's own writes, which know no bounds
	size_t lower, upper; // their lengths
	char bounds[];
} iter;

// The kinds of records in a batch, without a family and with one.
enum { DELETE, PUT, MERGE, SINGLE_DELETE = 7, FAMILY_DELETE = 4, FAMILY_PUT, FAMILY_MERGE, FAMILY_SINGLE_DELETE = 8 };

// The moves of an iterator.
enum { FIRST, LAST, NEXT, PREV };

typedef struct {
	iter *it;
	size_t count, used, need; // need: the length of an entry for which there is no room
	char *error;
} page;

typedef struct {
	size_t length; // SIZE_MAX: there is none
	char *large; // the value if it has no room, to be freed
	char *error;
} value;

// Errors and properties are RocksDB's strings, freed by release.
const char *load(store *s, void *library);
char *set_options(store *s, const char *text);
operator_t *new_operator(char *name, size_t spaces);
void set_format(operator_t *o, size_t space, char *format);
void set_operator(store *s, operator_t *o);
char *store_open(store *s, const char *dir, int families, int transactions, int sync);
void store_close(store *s);
char *store_write(store *s, view *v, const char *batch, size_t length, size_t applied);
char *store_flush(store *s, int family);
char *store_flush_log(store *s);
int store_number(store *s, int family, const char *name, uint64_t *out);
char *store_statistics(store *s);
char *store_size(store *s, int family, BYTES, BYTES, uint64_t *out);
void release(store *s, char *text);
view *view_open(store *s, int kind);
char *view_apply(view *v, const char *records, size_t length);
void view_close(view *v);
value get(store *s, view *v, int lock, const char *key, size_t length, char *room, size_t capacity);
page scan(store *s, view *v, const char *lower, size_t nl, const char *upper, size_t nu, int move, size_t want, char *room, size_t capacity);
page fill(iter *it, int move, size_t want, char *room, size_t capacity);
void iter_close(iter *it);
