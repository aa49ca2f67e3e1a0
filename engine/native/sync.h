// Switches the syncs of C code in this process off (1) or on (0).
void rumbench_syncs_off(int off);
// How many syncs there were, and the nanoseconds that they took.
long long rumbench_syncs(void);
long long rumbench_sync_ns(void);
