/* Spends CPU time in f, g and write(2) as told, and prints how many ns in each. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static int null;

static long used(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static __attribute__((noinline)) void spin_f(long until) {
	while (used() < until)
		for (int i = 0; i < 20000; i++) sink += i;
}

static __attribute__((noinline)) void spin_g(long until) {
	while (used() < until)
		for (int i = 0; i < 20000; i++) sink ^= i;
}

static __attribute__((noinline)) void spin_write(long until) {
	while (used() < until)
		for (int i = 0; i < 100; i++) sink += write(null, "x", 1);
}

int main(int argc, char **argv) {
	long total = atol(argv[1]), in[3] = {0}, last = used();
	null = open("/dev/null", O_WRONLY);
	while (in[0] + in[1] + in[2] < total) {
		spin_f(last + 2590000), in[0] += used() - last, last = used();
		spin_g(last + 740000), in[1] += used() - last, last = used();
		spin_write(last + 370000), in[2] += used() - last, last = used();
	}
	printf("%ld %ld %ld\n", in[0], in[1], in[2]);
	return 0;
}
