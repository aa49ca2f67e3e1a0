//go:build native && cgo && linux

// The functions here take the place of those of the C library: the executable is
// searched before all libraries, those loaded with dlopen too. Go calls the kernel
// directly and is not concerned.
#define _GNU_SOURCE
#include "sync.h"
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int off;
static atomic_llong count, taken;

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int timed(long number, long a, long b, long c, long d) {
	if (atomic_load(&off))
		return 0;
	long long began = now();
	int result = syscall(number, a, b, c, d);
	atomic_fetch_add(&taken, now() - began);
	atomic_fetch_add(&count, 1);
	return result;
}

int fsync(int fd) { return timed(SYS_fsync, fd, 0, 0, 0); }
int fdatasync(int fd) { return timed(SYS_fdatasync, fd, 0, 0, 0); }
int msync(void *at, size_t n, int flags) { return timed(SYS_msync, (long)at, n, flags, 0); }
int sync_file_range(int fd, long long from, long long n, unsigned int flags) {
	return timed(SYS_sync_file_range, fd, from, n, flags);
}

void rumbench_syncs_off(int o) { atomic_store(&off, o); }
long long rumbench_syncs(void) { return atomic_load(&count); }
long long rumbench_sync_ns(void) { return atomic_load(&taken); }
