/* What the plain programs share: keys of 8 bytes and values of 100, as rumbench's clients use. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VALUE = 100, TEXT = 1 << 20 };

static uint64_t state = 88172645463325252ULL;
static uint64_t draw(void) { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; }

/* text returns the next value: a part of a random text. */
static const char *text(void) {
	static char all[TEXT];
	static size_t at;
	if (!all[0])
		for (size_t i = 0; i < TEXT; i++) all[i] = draw() | 1;
	if ((at += VALUE) + VALUE > TEXT) at = 0;
	return all + at;
}

static void number(uint8_t key[8], uint64_t n) {
	for (int i = 7; i >= 0; i--, n >>= 8) key[i] = n;
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void put(const void *key, size_t length, const char *value);
static void get(const void *key, size_t length);
static void begin(const char *dir);
static void end(void);

static void die(const char *what, const char *why) {
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* main runs: PROGRAM TEST DIR OPS KEYS */
int main(int argc, char **argv) {
	if (argc != 5) die("usage", "PROGRAM fillseq|fillrandom|readrandom DIR OPS KEYS");
	const char *test = argv[1];
	uint64_t ops = strtoull(argv[3], 0, 10), keys = strtoull(argv[4], 0, 10);
	uint8_t key[8];
	begin(argv[2]);
	text();
	double start = now(), last = start, longest = 0;
	for (uint64_t i = 0; i < ops; i++) {
		number(key, strcmp(test, "fillseq") ? draw() % keys : i);
		if (strcmp(test, "readrandom")) put(key, 8, text());
		else get(key, 8);
		double t = now(); /* each operation is timed, as by db_bench */
		if (t - last > longest) longest = t - last;
		last = t;
	}
	printf("%s : %.6f seconds %llu operations, the longest %.6f s\n", test, last - start, (unsigned long long)ops, longest);
	end();
	return 0;
}
