/* zone.h - instrumentation of a program: named ranges, marks, counters.
 *
 *     #include <deepclock/zone.h>
 *
 *     void step(void)
 *     {
 *             DCK_ZONE("step");               // to the end of this block
 *             DCK_PUSH("forward");            // the same by hand
 *             DCK_NUMBER("batch", 32);        // annotates the innermost range
 *             forward();
 *             DCK_POP();
 *             DCK_COUNTER("loss", loss);
 *     }
 *
 *     DEEPCLOCK_TRACE=out.pftrace ./program
 *
 * Ranges nest on their thread. One that longjmp() leaves, or that is open while a coroutine is
 * suspended, encloses what follows on the thread: DCK_START() and DCK_END() do not nest.
 * Without a recording, each macro costs one load and one branch, and
 * its values are not computed; -DDCK_ZONES_OFF removes the macros. Names are string literals.
 * Everything is async-signal-safe and thread-safe.
 *
 * trace.h starts and stops recording from inside the program. libdeepclock_zones has all of this
 * header, for programs that need nothing else of the library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_ZONE_H
#define DCK_ZONE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- building blocks of the macros below */

/* A source location in the program; id belongs to the library. */
typedef struct dck_zone_site {
	const char *name, *file;
	uint32_t line, id;
} dck_zone_site;

/* A range that any thread may end; 0: no recording was active at its start. */
typedef struct dck_range {
	uint64_t id;
} dck_range;

/* Not 0: a recording is active, or an NVTX tool listens. Read-only. */
DCK_API extern int dck_trace_on;

DCK_API void dck_zone_push(dck_zone_site *site);
DCK_API void dck_zone_pop(void);
DCK_API dck_range dck_zone_start(dck_zone_site *site);
DCK_API void dck_zone_end(dck_range range);
DCK_API void dck_zone_number(dck_zone_site *site, double value);
DCK_API void dck_zone_counter(dck_zone_site *site, double value);
DCK_API void dck_zone_mark(dck_zone_site *site);

#ifdef __cplusplus
}
#endif

#if !defined(__GNUC__) && !defined(DCK_ZONES_OFF)
#define DCK_ZONES_OFF /* The macros need extensions of gcc and clang. */
#endif

static inline void dck_zone_check(const char *name, double value)
{
	(void)name;
	(void)value;
}

static inline dck_range dck_range_none(const char *name)
{
	dck_range none = {0};

	(void)name;
	return none;
}

#ifdef DCK_ZONES_OFF

#define DCK_OFF_(name, value)                                        \
	do {                                                         \
		if (0)                                               \
			dck_zone_check("" name "", (double)(value)); \
	} while (0)
#define DCK_ZONE(name)		 DCK_OFF_(name, 0)
#define DCK_PUSH(name)		 DCK_OFF_(name, 0)
#define DCK_POP()		 DCK_OFF_("", 0)
#define DCK_NUMBER(name, value)	 DCK_OFF_(name, value)
#define DCK_COUNTER(name, value) DCK_OFF_(name, value)
#define DCK_MARK(name)		 DCK_OFF_(name, 0)
#define DCK_START(name)		 dck_range_none("" name "")
#define DCK_END(range)		 DCK_OFF_("", (range).id)

#else

#define DCK_ON_()	 __builtin_expect(__atomic_load_n(&dck_trace_on, __ATOMIC_RELAXED) != 0, 0)
#define DCK_JOIN2_(a, b) a##b
#define DCK_JOIN_(a, b)	 DCK_JOIN2_(a, b)
/* The quotes reject everything except literals. */
#define DCK_SITE_(name)	 static dck_zone_site dck_site_ = {"" name "", __FILE__, __LINE__, 0}

#define DCK_WHEN_ON_(name, call) \
	do {                     \
		DCK_SITE_(name); \
		if (DCK_ON_())   \
			call;    \
	} while (0)

#define DCK_PUSH(name) DCK_WHEN_ON_(name, dck_zone_push(&dck_site_))
#define DCK_POP()                       \
	do {                            \
		if (DCK_ON_())          \
			dck_zone_pop(); \
	} while (0)
#define DCK_NUMBER(name, value)	 DCK_WHEN_ON_(name, dck_zone_number(&dck_site_, (double)(value)))
#define DCK_COUNTER(name, value) DCK_WHEN_ON_(name, dck_zone_counter(&dck_site_, (double)(value)))
#define DCK_MARK(name)		 DCK_WHEN_ON_(name, dck_zone_mark(&dck_site_))
#define DCK_START(name)                                                      \
	(__extension__({                                                     \
		DCK_SITE_(name);                                             \
		DCK_ON_() ? dck_zone_start(&dck_site_) : dck_range_none(""); \
	}))
#define DCK_END(range)                                \
	do {                                          \
		const dck_range dck_range_ = (range); \
		if (dck_range_.id)                    \
			dck_zone_end(dck_range_);     \
	} while (0)

/* Opens the range of DCK_ZONE. Yields whether it did, so that only opened ranges are closed. */
#define DCK_ENTER_(name)                                        \
	(__extension__({                                        \
		DCK_SITE_(name);                                \
		DCK_ON_() ? (dck_zone_push(&dck_site_), 1) : 0; \
	}))

/* Functions of the macros are not instrumented as calls of the program. */
#define DCK_NO_CALL_ __attribute__((no_instrument_function))

DCK_NO_CALL_ static inline void dck_zone_leave(const int *entered)
{
	if (*entered)
		dck_zone_pop();
}

#ifdef __cplusplus
/* A destructor, because it also runs when an exception leaves the block. */
struct dck_zone_scope {
	int entered;

	DCK_NO_CALL_ explicit dck_zone_scope(int e) : entered(e)
	{
	}
	DCK_NO_CALL_ ~dck_zone_scope()
	{
		dck_zone_leave(&entered);
	}
	dck_zone_scope(const dck_zone_scope &) = delete;
	dck_zone_scope &operator=(const dck_zone_scope &) = delete;
};
#define DCK_ZONE(name) const dck_zone_scope DCK_JOIN_(dck_zone_, __COUNTER__)(DCK_ENTER_(name))
#else
#define DCK_ZONE(name)                                             \
	const int __attribute__((cleanup(dck_zone_leave), unused)) \
	DCK_JOIN_(dck_zone_, __COUNTER__) = DCK_ENTER_(name)
#endif

#endif /* DCK_ZONES_OFF */

#endif
