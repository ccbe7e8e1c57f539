/* opencl.h - private header of the OpenCL driver: its objects, shared by opencl.c (library,
 * devices, properties) and opencl_queue.c (queues, marks, memory, kernels).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_OPENCL_H
#define DEVICE_OPENCL_H

#include "device/device.h"
#include "device/opencl_api.h"

#include <pthread.h>

/* Page-locked memory: a buffer that stays mapped. */
typedef struct opencl_pinned {
	struct opencl_pinned *next;
	cl_mem buffer;
	void *bytes;
} opencl_pinned;

typedef struct opencl_device {
	device head;
	cl_device_id id;
	cl_context context;
	cl_command_queue own; /* for mapping and for allocating, under `lock` */
	pthread_mutex_t lock;
	opencl_pinned *pinned; /* under `lock` */
} opencl_device;

dck_status opencl_load(dck_err *err); /* fills `opencl`; E_ABSENT: no library */
/* Sets the error of a call that returned `code`, and returns its status. `what` is the part of the
 * message before ": ". */
dck_status opencl_fail(dck_err *err, const device *d, const char *what, cl_int code);

#define OPENCL_TRY(err, d, what, call)                                   \
	do {                                                             \
		const cl_int code_ = (call);                             \
		if (code_ != OPENCL_SUCCESS)                             \
			return opencl_fail((err), (d), (what), (code_)); \
	} while (0)

/* opencl_queue.c: members of the driver's table. */
dck_status opencl_queue_open(device *d, device_queue **ret, dck_err *err);
void opencl_queue_close(device_queue *q);
/* Wraps the queue, which has times and runs in order, for a device that shares its context. */
dck_status opencl_queue_take(device *d, cl_command_queue queue, device_queue **ret, dck_err *err);
dck_status opencl_flush(device_queue *q, dck_err *err);
dck_status opencl_wait(device_queue *q, device_wait_kind how, dck_err *err);
dck_status opencl_mark_open(device *d, device_mark **ret, dck_err *err);
void opencl_mark_close(device_mark *m);
dck_status opencl_mark_record(device_queue *q, device_mark *m, dck_err *err);
dck_status opencl_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
			       dck_err *err);
dck_status opencl_mark_is_done(const device_mark *m, bool *ret, dck_err *err);
dck_status opencl_memory_open(device *d, uint64_t bytes, device_memory **ret, dck_err *err);
void opencl_memory_close(device_memory *m);
dck_status opencl_host_alloc(device *d, uint64_t bytes, void **ret, dck_err *err);
void opencl_host_free(device *d, void *bytes);
dck_status opencl_copy_host(device_queue *q, device_direction way, device_memory *m, uint64_t at,
			    void *host, uint64_t bytes, dck_err *err);
dck_status opencl_copy(device_queue *q, device_memory *to, uint64_t to_at, device_memory *from,
		       uint64_t from_at, uint64_t bytes, dck_err *err);
dck_status opencl_kernel_open(device *d, const char *source, const char *name, device_kernel **ret,
			      dck_err *err);
void opencl_kernel_close(device_kernel *k);
dck_status opencl_kernel_run(device_queue *q, device_kernel *k, const device_arg *args,
			     size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err);

#endif
