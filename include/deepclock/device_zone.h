/* device_zone.h - zones with the time of a device: ranges of a GPU queue of the program, in
 * addition to the ranges of its threads.
 *
 *     #include <deepclock/device_zone.h>
 *
 *     dck_device_queue *q;                    // NULL: only the thread's range
 *     dck_device_queue_open("cuda", stream, &q, &err);
 *     ...
 *     {
 *             DCK_DEVICE_ZONE(q, "forward");  // to the end of this block
 *             kernel<<<..., stream>>>(...);
 *     }
 *     ...
 *     dck_device_queue_close(q);
 *
 * Each zone is two ranges. That of the thread is from the macro to the end of the block, as
 * DCK_ZONE's: enqueueing. That of the device is from the point of the queue where the macro was to
 * the point where the block ended, measured by the device; an arrow leads from the first to the
 * second. So it is time of the queue: it contains all commands of the block, and the time in which
 * the device waited for the host between them.
 *
 * A zone records a mark (an event of CUDA or HIP, a marker of OpenCL) at each end. It waits for
 * nothing and allocates nothing in this library; the times of marks that the device has reached are
 * read by later zones of the queue. Before a recording ends, the pending times are read, for at
 * most 0.1 s. If the program is more than 2048 zones ahead of the device, further ones have no
 * range on the device, and count as dropped. Without a recording a macro costs one load and one
 * branch.
 *
 * The device's times are converted to the host's clock within a bound that is part of the trace
 * ("clock_error_ns"): docs/reference/devices.md. No range begins before it was enqueued.
 *
 * Threads: one thread at a time uses a queue, in all functions here. The macros are not for signal
 * handlers. libdeepclock_zones has all of this header.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DCK_DEVICE_ZONE_H
#define DCK_DEVICE_ZONE_H

#include "zone.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dck_device_queue dck_device_queue;

/* Wraps a queue of the program, which stays the program's, and must outlive *ret. driver "cuda" or
 * "hip": native is a CUstream, cudaStream_t or hipStream_t, NULL for the default stream, of the
 * context that is current in this thread. "opencl": a cl_command_queue with
 * CL_QUEUE_PROFILING_ENABLE that runs in order. The driver's library is loaded if it is not yet.
 * Waits until the queue is idle, to compare the clocks. *ret is owned, dck_device_queue_close().
 * Errors: E_ABSENT (no such driver, with what to install), E_ARG (the driver's name, no context, a
 * queue without times), E_UNSUP (the queue runs out of order), E_DEVICE, E_NOMEM. @since 0.1 */
DCK_API dck_status dck_device_queue_open(const char *driver, void *native, dck_device_queue **ret,
					 dck_err *err) DCK_MUST_USE;

/* Waits for the queue, records the remaining ranges, and frees *q. NULL is allowed. @since 0.1 */
DCK_API void dck_device_queue_close(dck_device_queue *q);

/* Waits for the queue, records the remaining ranges, and compares the clocks again, so that later
 * times have a small bound: for programs that run for minutes, where they wait for the device
 * anyway. Not while the stream is captured for a graph. Returns the first error of the driver since
 * the queue was opened, after which its zones have no range on the device. NULL is allowed.
 * @since 0.1 */
DCK_API dck_status dck_device_queue_flush(dck_device_queue *q, dck_err *err);

typedef struct dck_device_queue_counts {
	uint64_t ranges;  /* recorded, with start and end */
	uint64_t dropped; /* no mark was free, captured for a graph, or an error of the driver */
	double clock_error_ns; /* bound of the error of the device's times on the host's clock */
} dck_device_queue_counts;

/* Returns the counts since the queue was opened; zeroes for NULL. @since 0.1 */
DCK_API dck_device_queue_counts dck_device_queue_count(dck_device_queue *q);

/* The time of a queue between two points of the program, without a recording: dck_lap_device()
 * measures a lap so. Unlike a zone the end waits for the queue. */
typedef struct dck_device_span dck_device_span;

/* Begins a span at this point of the queue. NULL: q is NULL, or the driver failed. @owned,
 * dck_device_span_end(). @since 0.1 */
DCK_API dck_device_span *dck_device_span_begin(dck_device_queue *q);

/* Ends the span here, waits for the queue, and frees it. Returns the time on the device in ns; NaN:
 * not known, or NULL. @since 0.1 */
DCK_API double dck_device_span_end(dck_device_span *span);

/* Building blocks of the macros below. */
DCK_API void dck_device_zone_push(dck_device_queue *q, dck_zone_site *site);
DCK_API void dck_device_zone_pop(dck_device_queue *q);

#ifdef __cplusplus
}
#endif

#ifdef DCK_ZONES_OFF

#define DCK_DEVICE_OFF_(q, name)   \
	do {                       \
		(void)(q);         \
		DCK_OFF_(name, 0); \
	} while (0)
#define DCK_DEVICE_ZONE(q, name) DCK_DEVICE_OFF_(q, name)
#define DCK_DEVICE_PUSH(q, name) DCK_DEVICE_OFF_(q, name)
#define DCK_DEVICE_POP(q)	 DCK_DEVICE_OFF_(q, "")

#else

#define DCK_DEVICE_PUSH(q, name) DCK_WHEN_ON_(name, dck_device_zone_push((q), &dck_site_))
#define DCK_DEVICE_POP(q)                         \
	do {                                      \
		if (DCK_ON_())                    \
			dck_device_zone_pop((q)); \
	} while (0)

/* The range that DCK_DEVICE_ZONE has opened. */
typedef struct dck_device_entered {
	dck_device_queue *queue;
	int entered;
} dck_device_entered;

DCK_NO_CALL_ static inline dck_device_entered dck_device_zone_enter(dck_device_queue *q,
								    dck_zone_site *site)
{
	const dck_device_entered e = {q, 1};

	dck_device_zone_push(q, site);
	return e;
}

DCK_NO_CALL_ static inline dck_device_entered dck_device_zone_none(void)
{
	const dck_device_entered none = {0, 0};

	return none;
}

DCK_NO_CALL_ static inline void dck_device_zone_leave(const dck_device_entered *e)
{
	if (e->entered)
		dck_device_zone_pop(e->queue);
}

#define DCK_DEVICE_ENTER_(q, name)                                                           \
	(__extension__({                                                                     \
		DCK_SITE_(name);                                                             \
		DCK_ON_() ? dck_device_zone_enter((q), &dck_site_) : dck_device_zone_none(); \
	}))

#ifdef __cplusplus
struct dck_device_zone_scope {
	dck_device_entered entered;

	DCK_NO_CALL_ explicit dck_device_zone_scope(dck_device_entered e) : entered(e)
	{
	}
	DCK_NO_CALL_ ~dck_device_zone_scope()
	{
		dck_device_zone_leave(&entered);
	}
	dck_device_zone_scope(const dck_device_zone_scope &) = delete;
	dck_device_zone_scope &operator=(const dck_device_zone_scope &) = delete;
};
#define DCK_DEVICE_ZONE(q, name)                                \
	const dck_device_zone_scope DCK_JOIN_(dck_device_zone_, \
					      __COUNTER__)(DCK_DEVICE_ENTER_(q, name))
#else
#define DCK_DEVICE_ZONE(q, name)                                                         \
	const dck_device_entered __attribute__((cleanup(dck_device_zone_leave), unused)) \
	DCK_JOIN_(dck_device_zone_, __COUNTER__) = DCK_DEVICE_ENTER_(q, name)
#endif

#endif /* DCK_ZONES_OFF */

#endif
