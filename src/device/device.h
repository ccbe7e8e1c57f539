/* device.h - devices that run asynchronously: queues, marks, copies, memory, kernels and gauges,
 * through whichever driver the machine has.
 *
 *	device *d;  device_queue *q;  device_mark *begin, *end;  double ns;
 *
 *	DCK_TRY(device_open("opencl:0", &d, err));
 *	q = ..., marks = ... (device_queue_open(), device_mark_open())
 *	DCK_TRY(device_mark_record(q, begin, err));
 *	DCK_TRY(device_copy(q, DEVICE_TO_DEVICE, to, 0, from, 0, bytes, err));
 *	DCK_TRY(device_mark_record(q, end, err));
 *	DCK_TRY(device_wait(q, DEVICE_WAIT_BLOCK, err));
 *	DCK_TRY(device_mark_elapsed(begin, end, &ns, err));
 *
 * A driver is a const table (`device_driver`) over a library that is loaded at run time. A missing
 * library, or one without a device, is E_ABSENT, and the message states what to install. A NULL
 * member of a table is not supported: its function here fails with E_UNSUP.
 *
 * An error of a device is sticky where the driver's is (CUDA's context after a fault): every later
 * call on that device fails with the first message. E_NOMEM: device memory is exhausted, the device
 * stays usable. E_DEVICE: the device was lost, or the driver failed.
 *
 * Threads: each queue is used by one thread at a time; different queues of a device may be used by
 * different threads. Objects are closed before their device. Every close function accepts NULL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "deepclock/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICE_TEXT = 128, DEVICE_KERNEL_ARGS = 8 };

typedef struct device device;
typedef struct device_queue device_queue;   /* commands that run in order */
typedef struct device_mark device_mark;	    /* an event: a point of a queue with a time stamp */
typedef struct device_memory device_memory; /* a buffer of the device */
typedef struct device_kernel device_kernel; /* a compiled kernel */

/* The properties of a device. Unknown: "" and 0, but NaN of real numbers. */
typedef struct device_info {
	char name[DEVICE_TEXT], vendor[DEVICE_TEXT];
	char driver[DEVICE_TEXT];    /* version of the driver and its interface */
	char pci[16];		     /* "0000:41:00.0": how gauges find it */
	bool software;		     /* runs on the host's processor */
	bool fp64, fp16, bf16, int8; /* kernels may compute in these types */
	bool dot8;		     /* by instructions for dot products of four 8-bit integers */
	bool matrix;		     /* it has units for products of matrices, and a warp of 32 */
	unsigned units;		     /* compute units, multiprocessors */
	unsigned group_max;	     /* work items of a work group, threads of a block */
	double clock_hz;	     /* highest */
	double mark_tick_ns;	     /* resolution of marks */
	uint64_t memory_bytes;	     /* of the device */
	uint64_t allocation_bytes;   /* largest single allocation */
	uint64_t cache_bytes;	     /* of the last-level cache */
} device_info;

typedef enum device_direction {
	DEVICE_FROM_HOST, /* host to device */
	DEVICE_TO_HOST,
	DEVICE_TO_DEVICE
} device_direction;

/* How the host waits: spinning has the least latency and occupies a processor; blocking sleeps. */
typedef enum device_wait_kind { DEVICE_WAIT_SPIN, DEVICE_WAIT_BLOCK } device_wait_kind;

/* Instantaneous readings. Absent: NaN, and of `throttled` -1. */
typedef struct device_gauges {
	double power_w;	   /* averaged by the driver over its own window */
	double energy_j;   /* a counter since the driver was loaded */
	double clock_hz;   /* of the compute units, now */
	double celsius;	   /* of the chip */
	double busy_ratio; /* share of time with work on the device, driver's own window */
	double free_bytes, total_bytes;
	int throttled;	       /* 1: the clock is reduced, because of `throttled_by` */
	char throttled_by[64]; /* "power cap", "temperature": "" unless throttled */
	int others;	       /* other processes with memory on the device; -1: unknown */
	bool divided;	       /* the device is a part of a GPU (MIG), whose readings are of all */
} device_gauges;

/* One value of a kernel's arguments: a buffer or 32 bits. */
typedef struct device_arg {
	device_memory *memory; /* NULL: `word` */
	uint32_t word;
} device_arg;

/* --- a driver. Arguments as of the functions below. */
typedef struct device_driver {
	const char *name;   /* "opencl", "cuda" */
	const char *remedy; /* what brings the library and a device: a phrase with a command */
	const char *kernel_language; /* "OpenCL C", "PTX" */
	/* Loads the library once and counts its devices; 0 is E_ABSENT. */
	dck_status (*count)(unsigned *ret, dck_err *err);
	dck_status (*open)(unsigned index, device **ret, dck_err *err);
	void (*close)(device *d);
	dck_status (*queue_open)(device *d, device_queue **ret, dck_err *err);
	void (*queue_close)(device_queue *q);
	/* native: CUstream, hipStream_t, cl_command_queue. */
	dck_status (*queue_wrap)(void *native, device **ret_device, device_queue **ret,
				 dck_err *err);
	dck_status (*flush)(device_queue *q,
			    dck_err *err); /* NULL: commands are submitted at once */
	dck_status (*wait)(device_queue *q, device_wait_kind how, dck_err *err);
	dck_status (*mark_open)(device *d, device_mark **ret, dck_err *err);
	void (*mark_close)(device_mark *m);
	dck_status (*mark_record)(device_queue *q, device_mark *m, dck_err *err);
	dck_status (*mark_elapsed)(const device_mark *from, const device_mark *to, double *ret_ns,
				   dck_err *err);
	dck_status (*mark_is_done)(const device_mark *m, bool *ret, dck_err *err);
	dck_status (*memory_open)(device *d, uint64_t bytes, device_memory **ret, dck_err *err);
	void (*memory_close)(device_memory *m);
	dck_status (*host_alloc)(device *d, uint64_t bytes, void **ret, dck_err *err); /* pinned */
	void (*host_free)(device *d, void *bytes);
	dck_status (*copy_host)(device_queue *q, device_direction way, device_memory *m,
				uint64_t at, void *host, uint64_t bytes, dck_err *err);
	dck_status (*copy)(device_queue *q, device_memory *to, uint64_t to_at, device_memory *from,
			   uint64_t from_at, uint64_t bytes, dck_err *err);
	dck_status (*memory_free)(device *d, uint64_t *ret_free, uint64_t *ret_total, dck_err *err);
	dck_status (*kernel_open)(device *d, const char *source, const char *name,
				  device_kernel **ret, dck_err *err);
	void (*kernel_close)(device_kernel *k);
	dck_status (*kernel_run)(device_queue *q, device_kernel *k, const device_arg *args,
				 size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err);
	/* Readings of the device; members that the driver does not have stay absent. */
	dck_status (*gauges)(device *d, device_gauges *ret, dck_err *err);
} device_driver;

/* The members of queues, marks and memory that every driver has, by the names of its functions. */
#define DEVICE_WORK_MEMBERS(of)                                                            \
	.queue_open = of##_queue_open, .queue_close = of##_queue_close, .wait = of##_wait, \
	.mark_open = of##_mark_open, .mark_close = of##_mark_close,                        \
	.mark_record = of##_mark_record, .mark_elapsed = of##_mark_elapsed,                \
	.mark_is_done = of##_mark_is_done, .memory_open = of##_memory_open,                \
	.memory_close = of##_memory_close, .host_alloc = of##_host_alloc,                  \
	.host_free = of##_host_free, .copy_host = of##_copy_host

/* Every object's struct starts with its head. */
struct device {
	const device_driver *driver;
	unsigned index;
	device_info info;
};
struct device_queue {
	device *d;
};
struct device_mark {
	device *d;
};
struct device_memory {
	device *d;
	uint64_t bytes;
};
struct device_kernel {
	device *d;
};

/* The drivers in the order in which "gpu" tries them; `null` is last and is not tried. NULL: past
 * the end. */
const device_driver *device_driver_at(size_t i);
/* NULL: unknown. `n`: characters of the name. */
const device_driver *device_driver_find(const char *name, size_t n);

/* Opens "DRIVER" or "DRIVER:N", or "gpu": the first device that is not the host's processor.
 * E_ARG: the text; E_ABSENT: no such device. */
dck_status device_open(const char *text, device **ret, dck_err *err);
void device_close(device *d);

dck_status device_queue_open(device *d, device_queue **ret, dck_err *err);
void device_queue_close(device_queue *q);
/* Wraps a queue that belongs to the program, for marks and waits alone: a CUstream or hipStream_t
 * (NULL: the default stream) of the context that is current in this thread, or a cl_command_queue.
 * Calls leave the thread's current context as it was. *ret_device is the queue's, and closed after
 * it. E_ARG: no context, or a queue without times; E_UNSUP: it runs out of order. */
dck_status device_queue_wrap(const char *driver, void *native, device **ret_device,
			     device_queue **ret, dck_err *err);
/* Submits the enqueued commands, without waiting. */
dck_status device_flush(device_queue *q, dck_err *err);
/* Waits until all commands of the queue have run. */
dck_status device_wait(device_queue *q, device_wait_kind how, dck_err *err);
/* Spinning for waits that are expected to be short, otherwise blocking: the wake-up of a blocked
 * thread would be a large share of a short wait. NaN: unknown, blocks. */
device_wait_kind device_wait_choose(double expected_ns);
const char *device_wait_name(device_wait_kind how); /* "spin", "block" */

/* Marks are created beforehand: recording one allocates nothing in this library. */
dck_status device_mark_open(device *d, device_mark **ret, dck_err *err);
void device_mark_close(device_mark *m);
/* Enqueues the mark. A mark that is recorded again has the new time. E_UNSUP: the program captures
 * the wrapped queue's commands for a graph, which do not run now. */
dck_status device_mark_record(device_queue *q, device_mark *m, dck_err *err);
/* Returns without waiting whether the device has reached the mark. E_ARG: it was not recorded. */
dck_status device_mark_is_done(const device_mark *m, bool *ret, dck_err *err);
/* Returns device time between two marks that the host has waited for. E_ARG: one was not recorded,
 * or not waited for. */
dck_status device_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
			       dck_err *err);

dck_status device_memory_open(device *d, uint64_t bytes, device_memory **ret, dck_err *err);
void device_memory_close(device_memory *m);
/* Page-locked memory of the host, which the device accesses directly. */
dck_status device_host_alloc(device *d, uint64_t bytes, void **ret, dck_err *err);
void device_host_free(device *d, void *bytes);
/* Enqueues a copy between the host's memory, pinned or pageable, and [at, at + bytes) of a buffer.
 * The host's memory stays valid until the queue was waited for. E_ARG: out of range. */
dck_status device_copy_host(device_queue *q, device_direction way, device_memory *m, uint64_t at,
			    void *host, uint64_t bytes, dck_err *err);
/* Enqueues a copy between buffers. E_ARG: out of range. */
dck_status device_copy(device_queue *q, device_memory *to, uint64_t to_at, device_memory *from,
		       uint64_t from_at, uint64_t bytes, dck_err *err);
dck_status device_memory_free(device *d, uint64_t *ret_free, uint64_t *ret_total, dck_err *err);

/* Compiles a kernel of the driver's language. E_FORMAT: it does not compile; the message has the
 * compiler's first line. */
dck_status device_kernel_open(device *d, const char *source, const char *name, device_kernel **ret,
			      dck_err *err);
void device_kernel_close(device_kernel *k);
/* Enqueues groups * group_size work items. */
dck_status device_kernel_run(device_queue *q, device_kernel *k, const device_arg *args,
			     size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err);

/* Reads the gauges of the driver and of the management library that knows the device's PCI
 * address. Absent ones are NaN; never fails for lack of one. */
void device_gauges_read(device *d, device_gauges *ret);

#endif
