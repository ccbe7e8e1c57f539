/* opencl.c - the OpenCL driver: its library, its devices over all platforms, and their properties.
 *
 * libOpenCL.so.1 is the loader of OpenCL (an ICD loader): it finds the vendors' drivers in
 * /etc/OpenCL/vendors. Devices are numbered in the order of the platforms, then of each platform's
 * devices, as clinfo lists them. Numbers that a driver returns are bounded before use:
 * PLATFORMS_MAX, DEVICES_MAX, TEXT_MAX. A property that a driver does not return stays unknown.
 * Sources: The OpenCL Specification 3.0 (Khronos), chapters 4 and 5; cl_khr_pci_bus_info.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const device_driver device_opencl;

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 256, TEXT_MAX = 1 << 16 };

/* --- which devices there are */

/* Writes at most DEVICES_MAX devices of all platforms. A platform without a device, or one that
 * fails, has none. */
static dck_status devices_list(cl_device_id *ret, unsigned *ret_n, dck_err *err)
{
	cl_platform_id platform[PLATFORMS_MAX];
	cl_uint nplatforms = 0;
	cl_int failed = OPENCL_DEVICE_NOT_FOUND;
	unsigned n = 0;

	DCK_TRY(opencl_load(err));
	OPENCL_TRY(err, NULL, "OpenCL platforms",
		   opencl.GetPlatformIDs(PLATFORMS_MAX, platform, &nplatforms));
	if (nplatforms > PLATFORMS_MAX)
		nplatforms = PLATFORMS_MAX;
	for (cl_uint i = 0; i < nplatforms && n < DEVICES_MAX; i++) {
		const cl_uint room = (cl_uint)DEVICES_MAX - n;
		cl_uint got = 0;
		const cl_int code =
		    opencl.GetDeviceIDs(platform[i], OPENCL_DEVICE_TYPE_ALL, room, ret + n, &got);
		if (code == OPENCL_SUCCESS)
			n += got < room ? got : room;
		else if (code != OPENCL_DEVICE_NOT_FOUND)
			failed = code;
	}
	if (n == 0)
		return opencl_fail(err, NULL, "OpenCL devices", failed);
	*ret_n = n;
	return DCK_OK;
}

static dck_status opencl_count(unsigned *ret, dck_err *err)
{
	cl_device_id id[DEVICES_MAX];

	return devices_list(id, ret, err);
}

/* --- properties */

static uint64_t property_number(cl_device_id id, cl_device_info which, size_t bytes)
{
	union {
		cl_uint u32;
		uint64_t u64;
	} value = {.u64 = 0};

	if (opencl.GetDeviceInfo(id, which, bytes, &value, NULL) != OPENCL_SUCCESS)
		return 0;
	return bytes == sizeof value.u32 ? value.u32 : value.u64;
}

#define PROPERTY_32(id, which) ((unsigned)property_number((id), (which), sizeof(cl_uint)))
#define PROPERTY_64(id, which) property_number((id), (which), sizeof(uint64_t))

/* Returns a text of the device; NULL: unknown, too long, or no memory. */
static char *property_text(cl_device_id id, cl_device_info which)
{
	size_t n = 0;

	if (opencl.GetDeviceInfo(id, which, 0, NULL, &n) != OPENCL_SUCCESS || n == 0 ||
	    n > TEXT_MAX)
		return NULL;
	char *text = mem_zalloc(n + 1, 1);
	if (text && opencl.GetDeviceInfo(id, which, n, text, NULL) != OPENCL_SUCCESS) {
		mem_free(text);
		text = NULL;
	}
	return text;
}

/* Writes the text without blanks around it. */
static void property_copy(cl_device_id id, cl_device_info which, char ret[DEVICE_TEXT])
{
	char *text = property_text(id, which);

	*ret = '\0';
	if (text) {
		const char *from = text + strspn(text, " ");
		size_t n = strlen(from);
		while (n > 0 && from[n - 1] == ' ')
			n--;
		if (n >= DEVICE_TEXT)
			n = utf8_cut(from, DEVICE_TEXT - 1);
		memcpy(ret, from, n);
		ret[n] = '\0';
		utf8_sanitize(ret);
	}
	mem_free(text);
}

/* Returns whether a list of words separated by blanks has that word. */
static bool extension_is_listed(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static void extensions_read(cl_device_id id, device_info *ret)
{
	char *list = property_text(id, OPENCL_DEVICE_EXTENSIONS);
	cl_uint bus[4]; /* domain, bus, device, function */

	ret->int8 = true;
	if (!list)
		return;
	ret->dot8 = extension_is_listed(list, "cl_khr_integer_dot_product");
	ret->fp16 = extension_is_listed(list, "cl_khr_fp16");
	ret->fp64 = extension_is_listed(list, "cl_khr_fp64");
	if (extension_is_listed(list, "cl_khr_pci_bus_info") &&
	    opencl.GetDeviceInfo(id, OPENCL_DEVICE_PCI_BUS_INFO_KHR, sizeof bus, bus, NULL) ==
		OPENCL_SUCCESS &&
	    bus[0] <= 0xffff && bus[1] <= 0xff && bus[2] <= 0x1f && bus[3] <= 7)
		snprintf(ret->pci, sizeof ret->pci, "%04x:%02x:%02x.%x", bus[0] & 0xffff,
			 bus[1] & 0xff, bus[2] & 0x1f, bus[3] & 7);
	mem_free(list);
}

static void properties_read(cl_device_id id, device_info *ret)
{
	char driver[DEVICE_TEXT], version[DEVICE_TEXT];
	const unsigned mhz = PROPERTY_32(id, OPENCL_DEVICE_MAX_CLOCK_FREQUENCY);
	const uint64_t group =
	    property_number(id, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));

	property_copy(id, OPENCL_DEVICE_NAME, ret->name);
	property_copy(id, OPENCL_DEVICE_VENDOR, ret->vendor);
	property_copy(id, OPENCL_DRIVER_VERSION, driver);
	property_copy(id, OPENCL_DEVICE_VERSION, version);
	snprintf(ret->driver, sizeof ret->driver, "%.60s%s%.60s", driver,
		 *driver && *version ? ", " : "", version);
	utf8_sanitize(ret->driver); /* a character may have been cut */
	ret->software = PROPERTY_64(id, OPENCL_DEVICE_TYPE) & OPENCL_DEVICE_TYPE_CPU;
	ret->units = PROPERTY_32(id, OPENCL_DEVICE_MAX_COMPUTE_UNITS);
	ret->group_max = group < UINT32_MAX ? (unsigned)group : UINT32_MAX;
	ret->clock_hz = mhz > 0 ? mhz * 1e6 : (double)NAN;
	/* A tick of a second or more cannot be right. */
	const uint64_t tick_ns = PROPERTY_64(id, OPENCL_DEVICE_PROFILING_TIMER_RESOLUTION);
	ret->mark_tick_ns = tick_ns > 0 && tick_ns < 1000000000 ? (double)tick_ns : (double)NAN;
	ret->memory_bytes = PROPERTY_64(id, OPENCL_DEVICE_GLOBAL_MEM_SIZE);
	ret->allocation_bytes = PROPERTY_64(id, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE);
	ret->cache_bytes = PROPERTY_64(id, OPENCL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
	extensions_read(id, ret);
}

/* --- opening */

static void opencl_close(device *d)
{
	opencl_device *self = (opencl_device *)d;

	while (self->pinned)
		opencl_host_free(d, self->pinned->bytes);
	if (self->own)
		opencl.ReleaseCommandQueue(self->own);
	if (self->context)
		opencl.ReleaseContext(self->context);
	pthread_mutex_destroy(&self->lock);
	mem_free(self);
}

static dck_status opencl_begin(opencl_device *d, dck_err *err)
{
	cl_int code = OPENCL_SUCCESS;

	d->context = opencl.CreateContext(NULL, 1, &d->id, NULL, NULL, &code);
	if (!d->context)
		return opencl_fail(err, &d->head, "opening it", code);
	d->own = opencl.CreateCommandQueue(d->context, d->id, 0, &code);
	if (!d->own)
		return opencl_fail(err, &d->head, "opening a queue", code);
	return DCK_OK;
}

static dck_status opencl_open(unsigned index, device **ret, dck_err *err)
{
	cl_device_id id[DEVICES_MAX];
	unsigned n = 0;

	DCK_TRY(devices_list(id, &n, err));
	if (index >= n)
		DCK_FAIL(err, E_ABSENT, "there is no opencl:%u: OpenCL has %u device%s", index, n,
			 n == 1 ? "" : "s");
	opencl_device *d = mem_zalloc(1, sizeof *d);
	DCK_NEED(d, err, "for opencl:%u", index);
	pthread_mutex_init(&d->lock, NULL);
	d->head.index = index;
	d->id = id[index];
	properties_read(d->id, &d->head.info);
	const dck_status status = opencl_begin(d, err);
	if (status == DCK_OK)
		*ret = &d->head;
	else
		opencl_close(&d->head);
	return status;
}

/* --- queues of the program */

/* Reads the queue's device and context, and refuses a queue whose marks would not be its times. */
static dck_status wrapped_queue_read(cl_command_queue queue, cl_device_id *ret_id,
				     cl_context *ret_context, dck_err *err)
{
	cl_command_queue_properties how = 0;

	OPENCL_TRY(
	    err, NULL, "a command queue",
	    opencl.GetCommandQueueInfo(queue, OPENCL_QUEUE_PROPERTIES, sizeof how, &how, NULL));
	if (!(how & OPENCL_QUEUE_PROFILING_ENABLE))
		DCK_FAIL(
		    err, E_ARG,
		    "the command queue has no times: create it with CL_QUEUE_PROFILING_ENABLE");
	if (how & OPENCL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
		DCK_FAIL(
		    err, E_UNSUP,
		    "the command queue runs out of order, so that a mark in it is not a time of "
		    "the commands around it: create it without "
		    "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
	OPENCL_TRY(
	    err, NULL, "a command queue",
	    opencl.GetCommandQueueInfo(queue, OPENCL_QUEUE_DEVICE, sizeof *ret_id, ret_id, NULL));
	OPENCL_TRY(err, NULL, "a command queue",
		   opencl.GetCommandQueueInfo(queue, OPENCL_QUEUE_CONTEXT, sizeof *ret_context,
					      ret_context, NULL));
	return DCK_OK;
}

static dck_status opencl_queue_wrap(void *native, device **ret_device, device_queue **ret,
				    dck_err *err)
{
	cl_device_id id[DEVICES_MAX], of = NULL;
	cl_context context = NULL;
	unsigned n = 0, index = 0;

	if (!native)
		DCK_FAIL(err, E_ARG, "OpenCL has no default queue: give a cl_command_queue");
	DCK_TRY(devices_list(id, &n, err));
	DCK_TRY(wrapped_queue_read(native, &of, &context, err));
	while (index < n && id[index] != of) /* a sub-device is not in the list */
		index++;
	opencl_device *d = mem_zalloc(1, sizeof *d);
	DCK_NEED(d, err, "for a device");
	pthread_mutex_init(&d->lock, NULL);
	d->head.driver = &device_opencl;
	d->head.index = index < n ? index : 0;
	d->id = of;
	properties_read(of, &d->head.info);
	cl_int code = opencl.RetainContext(context);
	if (code == OPENCL_SUCCESS)
		d->context = context;
	const dck_status status = code == OPENCL_SUCCESS
				      ? opencl_queue_take(&d->head, native, ret, err)
				      : opencl_fail(err, &d->head, "its context", code);
	if (status == DCK_OK)
		*ret_device = &d->head;
	else
		opencl_close(&d->head);
	return status;
}

const device_driver device_opencl = {
    .name = "opencl",
    .remedy = "install the OpenCL driver of the device's vendor and ocl-icd-libopencl1; for this "
	      "machine's processor: apt-get install pocl-opencl-icd",
    .kernel_language = "OpenCL C",
    .count = opencl_count,
    .open = opencl_open,
    .close = opencl_close,
    DEVICE_WORK_MEMBERS(opencl),
    .queue_wrap = opencl_queue_wrap,
    .flush = opencl_flush,
    .copy = opencl_copy,
    .kernel_open = opencl_kernel_open,
    .kernel_close = opencl_kernel_close,
    .kernel_run = opencl_kernel_run,
};
