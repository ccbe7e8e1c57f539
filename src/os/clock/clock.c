/* clock.c - monotonic clocks: clock_gettime(2) and the x86 time stamp counter (TSC), calibrated
 * when opened; sleeping.
 *
 * A dck_clock has the cost of its readings (the least mean of BATCHES batches) and its tick (the
 * smallest step observed). CLOCK_MONOTONIC_RAW, which NTP does not slew, is preferred unless it
 * costs more than twice as much, because only a system call reads it.
 *
 * The TSC gives base_ns + (tsc - base_tsc) x ns_per_tick, a product of 128 bits in 32.32 fixed
 * point: no rounding adds up, and later readings are never less than earlier ones of the same core.
 * It is used only if the kernel trusts it as clocksource and the processor's is constant and does
 * not stop (invariant TSC). Its rate is measured once against CLOCK_MONOTONIC_RAW, over 25 ms to 2
 * ppm. os_clock_state is written when the clock is opened and only read after, so any thread may
 * read the clock; the caller keeps it alive.
 *
 * Readings allocate, lock and print nothing; clock_gettime() is async-signal-safe
 * (signal-safety(7)).
 *
 * Source: Intel 64 and IA-32 SDM, volume 3, "Invariant TSC", and volume 2, RDTSC
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/file/text.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t clock_read_clock(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_monotonic(void *self)
{
	(void)self;
	return clock_read_clock(CLOCK_MONOTONIC);
}

/* Not slewed by NTP, which may stretch CLOCK_MONOTONIC by up to 500 ppm. */
static uint64_t now_raw(void *self)
{
	(void)self;
	return clock_read_clock(CLOCK_MONOTONIC_RAW);
}

uint64_t os_now_ns(void)
{
	return clock_read_clock(CLOCK_MONOTONIC);
}

uint64_t os_process_cpu_ns(void)
{
	return clock_read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t os_thread_cpu_ns(void)
{
	return clock_read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t os_boottime_ns(void)
{
	return clock_read_clock(CLOCK_BOOTTIME);
}

int64_t os_unix_ns(void)
{
	return (int64_t)clock_read_clock(CLOCK_REALTIME);
}

uint64_t os_unix_error_ns(void)
{
	struct timex t = {.modes = 0};

	if (adjtimex(&t) < 0 || t.status & STA_UNSYNC || t.maxerror <= 0)
		return 0;
	return (uint64_t)t.maxerror * 1000;
}

void os_system_calls(unsigned n)
{
	/* Not getpid(), which a C library may cache. */
	while (n-- > 0)
		syscall(SYS_getppid);
}

enum { BATCHES = 15, BATCH = 200 };

/* The mean of a batch is exact to tick / BATCH; the least over batches has no interrupt in it. */
static double reading_cost(const dck_clock *c)
{
	double least = 1e18;
	for (int b = 0; b < BATCHES; b++) {
		uint64_t begin = c->now_ns(c->self), end = begin;
		for (int i = 0; i < BATCH; i++)
			end = c->now_ns(c->self);
		double mean = (double)(end - begin) / BATCH;
		if (mean < least)
			least = mean;
	}
	return least;
}

/* Returns the smallest step between readings: of a coarse clock its resolution, of a fine one the
 * cost of a reading; 0 (not known) if all readings are equal. */
static double smallest_step(const dck_clock *c)
{
	uint64_t least = 0, last = c->now_ns(c->self);
	for (int i = 0; i < BATCHES * BATCH; i++) {
		uint64_t now = c->now_ns(c->self);
		uint64_t step = now - last;
		if (now > last && (least == 0 || step < least))
			least = step;
		last = now;
	}
	return (double)least;
}

static void clock_calibrate(dck_clock *c)
{
	c->cost_ns = reading_cost(c);
	c->tick_ns = smallest_step(c);
}

/* RAW is preferred, but some kernels and sandboxes read it by a system call, which costs at least
 * four times more. The limit is far from both costs, and the cost of RAW must exceed it twice: the
 * clock's name decides which records compare, so noise must not choose it (a limit of 1.2 did in 2
 * % of the starts of a virtual machine). */
static const double raw_price_max = 2;

void os_clock_monotonic(dck_clock *ret)
{
	dck_clock plain = {.name = "CLOCK_MONOTONIC", .now_ns = now_monotonic};
	dck_clock raw = {.name = "CLOCK_MONOTONIC_RAW", .now_ns = now_raw};
	struct timespec t;

	for (int i = 0; i < 2; i++) {
		clock_calibrate(&plain);
		*ret = plain;
		if (clock_gettime(CLOCK_MONOTONIC_RAW, &t))
			return;
		clock_calibrate(&raw);
		if (raw.tick_ns > 0 && raw.cost_ns <= raw_price_max * plain.cost_ns) {
			*ret = raw;
			return;
		}
	}
}

/* --- the time stamp counter */

#if defined(__x86_64__)
#include <x86intrin.h>

__extension__ typedef unsigned __int128 wide;

/* RDTSC may run before earlier instructions have finished, so that work would leak out of the
 * timed region. LFENCE waits for them (Intel SDM vol. 2B, RDTSC; on AMD the kernel makes LFENCE
 * dispatch-serialising). The kernel's own vDSO clock uses the same pair. No fence follows: later
 * instructions can begin at most some cycles early, and a second fence costs more than that. */
static inline uint64_t read_tsc(void)
{
	_mm_lfence();
	return __rdtsc();
}

static uint64_t now_tsc(void *self)
{
	const os_clock_state *s = self;
	/* A core may lag the calibrating core by a tick or two; time must not be negative then. */
	uint64_t t = read_tsc();
	uint64_t d = t > s->base_tsc ? t - s->base_tsc : 0;
	return s->base_ns + (uint64_t)(((wide)d * s->ns_per_tick_q32) >> 32);
}

/* Reads the counter and the system's clock at the same instant: of several tries the one with the
 * closest two readings of the system's clock around the counter. */
static void read_both(uint64_t *ret_tsc, uint64_t *ret_ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 50; i++) {
		uint64_t a = clock_read_clock(CLOCK_MONOTONIC_RAW);
		uint64_t tsc = read_tsc();
		uint64_t b = clock_read_clock(CLOCK_MONOTONIC_RAW);
		if (b - a < best) {
			best = b - a;
			*ret_tsc = tsc;
			*ret_ns = a + (b - a) / 2;
		}
	}
}

static bool has_word(const char *line, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = line; (p = strstr(p, word)); p += n)
		if ((p == line || p[-1] == ' ' || p[-1] == '\t') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

/* Relies on the kernel, since it compared the cores at boot and watches them. cpuid would trap in a
 * virtual machine, and reports on one core only. */
static bool tsc_is_trusted(void)
{
	char buf[8192];
	if (!text_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", buf,
		       sizeof buf) ||
	    (strcmp(buf, "tsc") && strcmp(buf, "kvm-clock")))
		return false;
	if (!text_read("/proc/cpuinfo", buf, sizeof buf))
		return false;
	char *at = buf, *line;
	while ((line = text_line(&at)))
		if (!strncmp(line, "flags", 5))
			return has_word(line, "constant_tsc") && has_word(line, "nonstop_tsc");
	return false;
}

/* The ends are known to some 20 ns, so that 25 ms give the rate to 2 ppm. */
static bool rate_find(os_clock_state *s)
{
	struct timespec pause = {.tv_nsec = 25000000};
	uint64_t tsc, ns;

	while (nanosleep(&pause, &pause) && errno == EINTR)
		;
	read_both(&tsc, &ns);
	if (tsc <= s->base_tsc || ns <= s->base_ns)
		return false;
	s->ns_per_tick_q32 = (uint64_t)(((wide)(ns - s->base_ns) << 32) / (tsc - s->base_tsc));
	return true;
}

bool os_clock_tsc(os_clock_state *s, dck_clock *ret)
{
	if (!s->ns_per_tick_q32 && !tsc_is_trusted())
		return false;
	os_clock_state found = {.ns_per_tick_q32 = s->ns_per_tick_q32};
	read_both(&found.base_tsc, &found.base_ns);
	if (!found.ns_per_tick_q32 && !rate_find(&found))
		return false;
	*s = found;
	if (!ret)
		return true;
	dck_clock c = {.name = "TSC", .now_ns = now_tsc, .self = s};
	clock_calibrate(&c);
	*ret = c;
	return true;
}
#else
bool os_clock_tsc(os_clock_state *s, dck_clock *ret)
{
	(void)s;
	(void)ret;
	return false;
}
#endif

/* --- sleeping */

static const uint64_t ask_every_ns = 50000000;

bool os_sleep_ns(uint64_t ns, bool (*cancelled)(void *self), void *self)
{
	uint64_t now = os_now_ns();
	uint64_t end = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;
	for (;;) {
		if (cancelled && cancelled(self))
			return false;
		now = os_now_ns();
		if (now >= end)
			return true;
		uint64_t until = end - now > ask_every_ns && cancelled ? now + ask_every_ns : end;
		struct timespec t = {.tv_sec = (time_t)(until / 1000000000u),
				     .tv_nsec = (long)(until % 1000000000u)};
		/* An absolute deadline, so that the time of the loop itself does not add up. Not
		 * every signal means an end: the program may have handlers for its own purposes.
		 */
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR &&
		    !cancelled)
			return false;
	}
}
