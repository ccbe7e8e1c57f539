/* opencl_queue.c - queues, marks, memory and kernels of the OpenCL driver (opencl.c).
 *
 * Queues run in order and have profiling enabled. A mark is a marker command: it ends when the
 * commands before it have ended, and OPENCL_PROFILING_COMMAND_END of its event is its time. Copies
 * and kernels are flushed when they are enqueued, so that the device begins them as other drivers'
 * do; marks are not, which would cost more than recording them, and every wait flushes.
 *
 * Drivers allocate a buffer at its first use. It is migrated to the device when it is opened, so
 * that exhausted memory is an error there and not in the middle of a measurement. Pinned memory is
 * a buffer with OPENCL_MEM_ALLOC_HOST_PTR that stays mapped: on discrete GPUs drivers allocate it
 * as page-locked memory (OpenCL has no other way to get it). Setting arguments and enqueueing the
 * kernel are one step under the kernel's lock, since arguments belong to the kernel and not to the
 * command.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <string.h>

enum { LOG_MAX = 1 << 20 };

typedef struct opencl_queue {
	device_queue head;
	cl_command_queue queue;
} opencl_queue;

typedef struct opencl_mark {
	device_mark head;
	cl_event event; /* NULL: not recorded */
} opencl_mark;

typedef struct opencl_memory {
	device_memory head;
	cl_mem buffer;
} opencl_memory;

typedef struct opencl_kernel {
	device_kernel head;
	cl_program program;
	cl_kernel kernel;
	pthread_mutex_t lock;
} opencl_kernel;

static opencl_device *self_of(device *d)
{
	return (opencl_device *)d;
}

static cl_command_queue queue_of(device_queue *q)
{
	return ((opencl_queue *)q)->queue;
}

/* --- queues and marks */

dck_status opencl_queue_open(device *d, device_queue **ret, dck_err *err)
{
	cl_int code = OPENCL_SUCCESS;
	opencl_queue *q = mem_zalloc(1, sizeof *q);

	DCK_NEED(q, err, "for a queue");
	q->queue = opencl.CreateCommandQueue(self_of(d)->context, self_of(d)->id,
					     OPENCL_QUEUE_PROFILING_ENABLE, &code);
	if (!q->queue) {
		mem_free(q);
		return opencl_fail(err, d, "opening a queue", code);
	}
	q->head.d = d;
	*ret = &q->head;
	return DCK_OK;
}

dck_status opencl_queue_take(device *d, cl_command_queue queue, device_queue **ret, dck_err *err)
{
	opencl_queue *q = mem_zalloc(1, sizeof *q);

	DCK_NEED(q, err, "for a queue");
	const cl_int code = opencl.RetainCommandQueue(queue);
	if (code != OPENCL_SUCCESS) {
		mem_free(q);
		return opencl_fail(err, d, "a command queue", code);
	}
	*q = (opencl_queue){.head = {d}, .queue = queue};
	*ret = &q->head;
	return DCK_OK;
}

void opencl_queue_close(device_queue *q)
{
	opencl.ReleaseCommandQueue(queue_of(q));
	mem_free(q);
}

/* Returns the execution status of an event's command in *ret: OPENCL_COMPLETE, a positive number
 * before, or the negative error of the command. */
static cl_int event_status(cl_event e, cl_int *ret)
{
	return opencl.GetEventInfo(e, OPENCL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *ret, ret,
				   NULL);
}

static dck_status wait_spinning(device_queue *q, dck_err *err)
{
	cl_event e = NULL;
	cl_int status = 1;

	OPENCL_TRY(err, q->d, "waiting",
		   opencl.EnqueueMarkerWithWaitList(queue_of(q), 0, NULL, &e));
	cl_int code = opencl.Flush(queue_of(q));
	while (code == OPENCL_SUCCESS && (code = event_status(e, &status)) == OPENCL_SUCCESS &&
	       status > OPENCL_COMPLETE)
		if (q->d->info.software) /* the device needs this processor */
			os_thread_yield();
	opencl.ReleaseEvent(e);
	if (code == OPENCL_SUCCESS && status < OPENCL_COMPLETE)
		code = status;
	OPENCL_TRY(err, q->d, "waiting", code);
	return DCK_OK;
}

dck_status opencl_flush(device_queue *q, dck_err *err)
{
	OPENCL_TRY(err, q->d, "submitting commands", opencl.Flush(queue_of(q)));
	return DCK_OK;
}

dck_status opencl_wait(device_queue *q, device_wait_kind how, dck_err *err)
{
	if (how == DEVICE_WAIT_SPIN)
		return wait_spinning(q, err);
	OPENCL_TRY(err, q->d, "waiting", opencl.Finish(queue_of(q)));
	return DCK_OK;
}

dck_status opencl_mark_open(device *d, device_mark **ret, dck_err *err)
{
	opencl_mark *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "for a mark");
	m->head.d = d;
	*ret = &m->head;
	return DCK_OK;
}

void opencl_mark_close(device_mark *m)
{
	opencl_mark *self = (opencl_mark *)m;

	if (self->event)
		opencl.ReleaseEvent(self->event);
	mem_free(self);
}

dck_status opencl_mark_record(device_queue *q, device_mark *m, dck_err *err)
{
	opencl_mark *self = (opencl_mark *)m;
	cl_event event = NULL;

	OPENCL_TRY(err, q->d, "recording a mark",
		   opencl.EnqueueMarkerWithWaitList(queue_of(q), 0, NULL, &event));
	if (self->event)
		opencl.ReleaseEvent(self->event);
	self->event = event;
	return DCK_OK;
}

dck_status opencl_mark_is_done(const device_mark *m, bool *ret, dck_err *err)
{
	const cl_event e = ((const opencl_mark *)m)->event;
	cl_int status = 1;

	if (!e)
		DCK_FAIL(err, E_ARG, "a mark was not recorded");
	OPENCL_TRY(err, m->d, "a mark", event_status(e, &status));
	if (status < OPENCL_COMPLETE)
		return opencl_fail(err, m->d, "a mark", status);
	*ret = status == OPENCL_COMPLETE;
	return DCK_OK;
}

static dck_status mark_time(const device_mark *m, uint64_t *ret_ns, dck_err *err)
{
	const cl_event e = ((const opencl_mark *)m)->event;
	bool done = false;

	DCK_TRY(opencl_mark_is_done(m, &done, err));
	if (!done)
		DCK_FAIL(err, E_ARG, "a mark was not waited for");
	OPENCL_TRY(err, m->d, "the time of a mark",
		   opencl.GetEventProfilingInfo(e, OPENCL_PROFILING_COMMAND_END, sizeof *ret_ns,
						ret_ns, NULL));
	return DCK_OK;
}

dck_status opencl_mark_elapsed(const device_mark *from, const device_mark *to, double *ret_ns,
			       dck_err *err)
{
	uint64_t begin = 0, end = 0;

	DCK_TRY(mark_time(from, &begin, err));
	DCK_TRY(mark_time(to, &end, err));
	*ret_ns = end >= begin ? (double)(end - begin) : -(double)(begin - end);
	return DCK_OK;
}

/* --- memory */

/* Makes the driver allocate the buffer now. */
static cl_int buffer_allocate(opencl_device *d, cl_mem buffer)
{
	pthread_mutex_lock(&d->lock);
	cl_int code = opencl.EnqueueMigrateMemObjects(
	    d->own, 1, &buffer, OPENCL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, NULL);
	if (code == OPENCL_SUCCESS)
		code = opencl.Finish(d->own);
	pthread_mutex_unlock(&d->lock);
	/* Here some drivers report exhausted memory as exhausted resources. */
	return code == OPENCL_OUT_OF_RESOURCES ? OPENCL_MEM_OBJECT_ALLOCATION_FAILURE : code;
}

dck_status opencl_memory_open(device *d, uint64_t bytes, device_memory **ret, dck_err *err)
{
	cl_int code = OPENCL_SUCCESS;
	opencl_memory *m = mem_zalloc(1, sizeof *m);

	DCK_NEED(m, err, "for a buffer");
	/* The memory of a processor is the host's. With this flag PoCL allocates it here; without,
	 * at its first use, where exhausted memory is a failed assertion and ends the process.
	 */
	const cl_mem_flags flags =
	    OPENCL_MEM_READ_WRITE | (d->info.software ? OPENCL_MEM_ALLOC_HOST_PTR : 0);
	m->buffer = opencl.CreateBuffer(self_of(d)->context, flags, (size_t)bytes, NULL, &code);
	if (m->buffer && !d->info.software)
		code = buffer_allocate(self_of(d), m->buffer);
	if (!m->buffer || code != OPENCL_SUCCESS) {
		opencl_memory_close(&m->head);
		return opencl_fail(err, d, "allocating device memory", code);
	}
	m->head = (device_memory){d, bytes};
	*ret = &m->head;
	return DCK_OK;
}

void opencl_memory_close(device_memory *m)
{
	opencl_memory *self = (opencl_memory *)m;

	if (self->buffer)
		opencl.ReleaseMemObject(self->buffer);
	mem_free(self);
}

dck_status opencl_host_alloc(device *d, uint64_t bytes, void **ret, dck_err *err)
{
	opencl_device *self = self_of(d);
	cl_int code = OPENCL_SUCCESS;
	opencl_pinned *p = mem_zalloc(1, sizeof *p);

	DCK_NEED(p, err, "for pinned memory");
	p->buffer =
	    opencl.CreateBuffer(self->context, OPENCL_MEM_READ_WRITE | OPENCL_MEM_ALLOC_HOST_PTR,
				(size_t)bytes, NULL, &code);
	if (p->buffer) {
		pthread_mutex_lock(&self->lock);
		p->bytes = opencl.EnqueueMapBuffer(self->own, p->buffer, OPENCL_TRUE,
						   OPENCL_MAP_READ | OPENCL_MAP_WRITE, 0,
						   (size_t)bytes, 0, NULL, NULL, &code);
		if (p->bytes) {
			p->next = self->pinned;
			self->pinned = p;
		}
		pthread_mutex_unlock(&self->lock);
	}
	if (!p->bytes) {
		if (p->buffer)
			opencl.ReleaseMemObject(p->buffer);
		mem_free(p);
		return opencl_fail(err, d, "allocating pinned memory", code);
	}
	*ret = p->bytes;
	return DCK_OK;
}

void opencl_host_free(device *d, void *bytes)
{
	opencl_device *self = self_of(d);
	opencl_pinned *found = NULL;

	pthread_mutex_lock(&self->lock);
	for (opencl_pinned **p = &self->pinned; *p; p = &(*p)->next)
		if ((*p)->bytes == bytes) {
			found = *p;
			*p = found->next;
			break;
		}
	if (found) {
		opencl.EnqueueUnmapMemObject(self->own, found->buffer, bytes, 0, NULL, NULL);
		opencl.Finish(self->own);
		opencl.ReleaseMemObject(found->buffer);
	}
	pthread_mutex_unlock(&self->lock);
	mem_free(found);
}

/* --- copies and kernels */

/* Submits the enqueued commands. */
static dck_status queue_flush(device_queue *q, const char *what, cl_int code, dck_err *err)
{
	OPENCL_TRY(err, q->d, what, code);
	OPENCL_TRY(err, q->d, what, opencl.Flush(queue_of(q)));
	return DCK_OK;
}

dck_status opencl_copy_host(device_queue *q, device_direction way, device_memory *m, uint64_t at,
			    void *host, uint64_t bytes, dck_err *err)
{
	const cl_mem buffer = ((opencl_memory *)m)->buffer;

	return queue_flush(
	    q, "copying",
	    way == DEVICE_FROM_HOST
		? opencl.EnqueueWriteBuffer(queue_of(q), buffer, OPENCL_FALSE, (size_t)at,
					    (size_t)bytes, host, 0, NULL, NULL)
		: opencl.EnqueueReadBuffer(queue_of(q), buffer, OPENCL_FALSE, (size_t)at,
					   (size_t)bytes, host, 0, NULL, NULL),
	    err);
}

dck_status opencl_copy(device_queue *q, device_memory *to, uint64_t to_at, device_memory *from,
		       uint64_t from_at, uint64_t bytes, dck_err *err)
{
	return queue_flush(q, "copying",
			   opencl.EnqueueCopyBuffer(queue_of(q), ((opencl_memory *)from)->buffer,
						    ((opencl_memory *)to)->buffer, (size_t)from_at,
						    (size_t)to_at, (size_t)bytes, 0, NULL, NULL),
			   err);
}

void opencl_kernel_close(device_kernel *k)
{
	opencl_kernel *self = (opencl_kernel *)k;

	if (self->kernel)
		opencl.ReleaseKernel(self->kernel);
	if (self->program)
		opencl.ReleaseProgram(self->program);
	pthread_mutex_destroy(&self->lock);
	mem_free(self);
}

/* Sets the error of a source that does not compile: the first line of the compiler's log that is
 * not blank. */
static dck_status kernel_log_fail(opencl_kernel *k, dck_err *err)
{
	const cl_device_id id = self_of(k->head.d)->id;
	size_t n = 0;
	char *log = NULL;

	if (opencl.GetProgramBuildInfo(k->program, id, OPENCL_PROGRAM_BUILD_LOG, 0, NULL, &n) ==
		OPENCL_SUCCESS &&
	    n <= LOG_MAX)
		log = mem_zalloc(n + 1, 1);
	if (log && opencl.GetProgramBuildInfo(k->program, id, OPENCL_PROGRAM_BUILD_LOG, n, log,
					      NULL) != OPENCL_SUCCESS)
		*log = '\0';
	const char *line = log ? log + strspn(log, " \t\r\n") : "";
	ERR_SET(err, E_FORMAT, "the kernel does not compile: %.*s",
		*line ? (int)strcspn(line, "\r\n") : 29,
		*line ? line : "the compiler gives no reason");
	mem_free(log);
	return DCK_E_FORMAT;
}

static dck_status kernel_build(opencl_kernel *k, const char *source, const char *name, dck_err *err)
{
	device *d = k->head.d;
	cl_int code = OPENCL_SUCCESS;

	k->program = opencl.CreateProgramWithSource(self_of(d)->context, 1, &source, NULL, &code);
	if (!k->program)
		return opencl_fail(err, d, "a program", code);
	code = opencl.BuildProgram(k->program, 1, &self_of(d)->id, "", NULL, NULL);
	if (code == OPENCL_BUILD_PROGRAM_FAILURE)
		return kernel_log_fail(k, err);
	OPENCL_TRY(err, d, "compiling a kernel", code);
	k->kernel = opencl.CreateKernel(k->program, name, &code);
	if (!k->kernel)
		return opencl_fail(err, d, name, code);
	return DCK_OK;
}

dck_status opencl_kernel_open(device *d, const char *source, const char *name, device_kernel **ret,
			      dck_err *err)
{
	opencl_kernel *k = mem_zalloc(1, sizeof *k);

	DCK_NEED(k, err, "for a kernel");
	pthread_mutex_init(&k->lock, NULL);
	k->head.d = d;
	const dck_status status = kernel_build(k, source, name, err);
	if (status != DCK_OK)
		opencl_kernel_close(&k->head);
	else
		*ret = &k->head;
	return status;
}

static cl_int args_set(cl_kernel k, const device_arg *args, size_t nargs)
{
	cl_int code = OPENCL_SUCCESS;

	for (size_t i = 0; i < nargs && code == OPENCL_SUCCESS; i++) {
		const opencl_memory *m = (const opencl_memory *)args[i].memory;
		code = m ? opencl.SetKernelArg(k, (cl_uint)i, sizeof m->buffer, &m->buffer)
			 : opencl.SetKernelArg(k, (cl_uint)i, sizeof args[i].word, &args[i].word);
	}
	return code;
}

dck_status opencl_kernel_run(device_queue *q, device_kernel *k, const device_arg *args,
			     size_t nargs, uint32_t groups, uint32_t group_size, dck_err *err)
{
	opencl_kernel *self = (opencl_kernel *)k;
	const size_t all = (size_t)groups * group_size, group = group_size;

	pthread_mutex_lock(&self->lock);
	cl_int code = args_set(self->kernel, args, nargs);
	if (code == OPENCL_SUCCESS)
		code = opencl.EnqueueNDRangeKernel(queue_of(q), self->kernel, 1, NULL, &all, &group,
						   0, NULL, NULL);
	pthread_mutex_unlock(&self->lock);
	return queue_flush(q, "running a kernel", code, err);
}
