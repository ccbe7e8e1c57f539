/* The OpenCL driver: its declarations are those of Khronos' headers, and numbers and texts of a
 * driver are bounded.
 *
 * Where CL/cl.h is installed it is included first. A type, function or constant that opencl_api.h
 * declares otherwise than Khronos then does not compile.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#if __has_include(<CL/cl_ext.h>)
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <CL/cl.h>
#include <CL/cl_ext.h>
#pragma GCC diagnostic pop
#define HAS_HEADERS 1
_Static_assert(sizeof(cl_device_pci_bus_info_khr) == 4 * sizeof(cl_uint), "read as four numbers");
#else
#define HAS_HEADERS 0
#endif

#include "device/opencl_api.h"
#if HAS_HEADERS
#define X(name, value) _Static_assert(OPENCL_##name == CL_##name, #name);
OPENCL_CONSTANTS(X)
X(DEVICE_TYPE_ALL, 0)
#undef X
#endif
#include "device_case.h"
#include "scratch.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void declarations_are_those_of_the_headers(void **state)
{
	(void)state;
	if (!HAS_HEADERS) {
		print_message("skipped: no CL/cl.h: apt-get install opencl-c-headers\n");
		skip();
	}
}

static struct opencl_functions real;

/* Loads the library, and keeps its functions. */
static void begin(void)
{
	device *d = case_open("opencl");

	if (!d)
		skip();
	device_close(d);
	real = opencl;
}

static int end(void **state)
{
	(void)state;
	if (real.GetDeviceInfo)
		opencl = real;
	return 0;
}

/* More platforms and devices than fit. */
static cl_int many_platforms(cl_uint cap, cl_platform_id *ret, cl_uint *ret_n)
{
	cl_platform_id one = NULL;

	real.GetPlatformIDs(1, &one, NULL);
	for (cl_uint i = 0; i < cap; i++)
		ret[i] = one;
	*ret_n = UINT32_MAX;
	return OPENCL_SUCCESS;
}

static cl_int many_devices(cl_platform_id p, cl_device_type type, cl_uint cap, cl_device_id *ret,
			   cl_uint *ret_n)
{
	cl_device_id one = NULL;

	real.GetDeviceIDs(p, type, 1, &one, NULL);
	for (cl_uint i = 0; i < cap && i < 100; i++)
		ret[i] = one;
	*ret_n = cap < 100 ? UINT32_MAX : 100;
	return OPENCL_SUCCESS;
}

static void counts_are_bounded(void **state)
{
	device *d = NULL;
	unsigned n = 0;
	dck_err err;

	(void)state;
	begin();
	opencl.GetPlatformIDs = many_platforms;
	opencl.GetDeviceIDs = many_devices;
	assert_int_equal(device_driver_find("opencl", 6)->count(&n, NULL), DCK_OK);
	assert_int_equal(n, 256);
	assert_int_equal(device_open("opencl:255", &d, NULL), DCK_OK);
	assert_int_equal(d->index, 255);
	device_close(d);
	assert_int_equal(device_open("opencl:256", &d, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg,
			    "there is no opencl:256: opencl has 256 devices, from opencl:0");
}

static int hostile_case;

static cl_int text_put(const char *text, size_t size, void *to, size_t *ret)
{
	const size_t n = strlen(text) + 1;

	if (ret)
		*ret = n;
	if (to)
		memcpy(to, text, n < size ? n : size);
	return OPENCL_SUCCESS;
}

/* Texts without an end, too long, with control characters; numbers at their limits. */
static cl_int hostile_info(cl_device_id id, cl_device_info which, size_t size, void *to,
			   size_t *ret)
{
	static const cl_uint bus[4] = {0x10000, 1, 2, 3}, good[4] = {0, 0x41, 0x1f, 7};
	const bool pci = which == OPENCL_DEVICE_PCI_BUS_INFO_KHR;
	(void)id;

	if (pci) {
		memcpy(to, hostile_case == 0 ? bus : good, sizeof bus);
		return OPENCL_SUCCESS;
	}
	if (size > 0 && size <= 8) {
		memset(to, hostile_case == 2 ? 0 : 0xff, size);
		return OPENCL_SUCCESS;
	}
	if (which == OPENCL_DEVICE_EXTENSIONS)
		return text_put(
		    hostile_case == 0
			? "cl_khr_fp16x xcl_khr_fp64 cl_khr_pci_bus_info"
			: "cl_khr_fp64 cl_khr_pci_bus_info cl_khr_integer_dot_product cl_khr_fp16",
		    size, to, ret);
	if (hostile_case == 2)
		return OPENCL_INVALID_VALUE;
	if (which == OPENCL_DEVICE_VENDOR) {
		if (ret)
			*ret = SIZE_MAX;
		return OPENCL_SUCCESS;
	}
	if (!to) { /* a length without a NUL */
		*ret = 5000;
		return OPENCL_SUCCESS;
	}
	memset(to, 'x', size);
	memcpy(to, "  a\033[2J\xff b", 10);
	return OPENCL_SUCCESS;
}

static void properties_are_bounded(void **state)
{
	device *d = NULL;

	(void)state;
	begin();
	opencl.GetDeviceInfo = hostile_info;
	hostile_case = 0;
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	assert_int_equal(strlen(d->info.name), DEVICE_TEXT - 1);
	assert_memory_equal(d->info.name, "a [2J? bxxx", 11);
	assert_string_equal(d->info.vendor, "");
	assert_true(strlen(d->info.driver) < DEVICE_TEXT);
	assert_false(d->info.fp16 || d->info.fp64 || d->info.dot8 || d->info.bf16);
	assert_string_equal(d->info.pci, "");
	assert_int_equal(d->info.group_max, UINT32_MAX);
	assert_true(isnan(d->info.mark_tick_ns));
	device_close(d);
	hostile_case = 1;
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	assert_true(d->info.fp16 && d->info.fp64 && d->info.dot8 && d->info.int8);
	assert_string_equal(d->info.pci, "0000:41:1f.7");
	device_close(d);
	hostile_case = 2;
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	assert_string_equal(d->info.name, "");
	assert_string_equal(d->info.driver, "");
	assert_true(isnan(d->info.clock_hz) && isnan(d->info.mark_tick_ns));
	assert_int_equal(d->info.units, 0);
	device_close(d);
}

static size_t log_bytes;

static cl_int hostile_log(cl_program p, cl_device_id id, cl_program_build_info which, size_t size,
			  void *to, size_t *ret)
{
	(void)p, (void)id, (void)which;
	if (ret)
		*ret = log_bytes;
	if (to)
		memset(to, '!', size);
	return OPENCL_SUCCESS;
}

static void logs_are_bounded(void **state)
{
	device_kernel *k = NULL;
	device *d = NULL;
	dck_err err;

	(void)state;
	begin();
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	opencl.GetProgramBuildInfo = hostile_log;
	log_bytes = SIZE_MAX;
	assert_int_equal(device_kernel_open(d, "not C", "work", &k, &err), DCK_E_FORMAT);
	assert_string_equal(err.msg, "the kernel does not compile: the compiler gives no reason");
	log_bytes = 100000;
	assert_int_equal(device_kernel_open(d, "not C", "work", &k, &err), DCK_E_FORMAT);
	assert_ptr_equal(strstr(err.msg, "the kernel does not compile: !!!!"), err.msg);
	device_close(d);
}

static cl_int command_failed(cl_event e, cl_event_info which, size_t size, void *to, size_t *ret)
{
	const cl_int code = OPENCL_OUT_OF_RESOURCES;

	(void)e, (void)which, (void)size, (void)ret;
	memcpy(to, &code, sizeof code);
	return OPENCL_SUCCESS;
}

/* A command that fails on the device is an error of the wait, with OpenCL's number. */
static void a_command_fails(void **state)
{
	device_mark *from = NULL, *to = NULL;
	device_queue *q = NULL;
	device *d = NULL;
	double ns = -1;
	dck_err err;

	(void)state;
	begin();
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	assert_int_equal(device_queue_open(d, &q, NULL), DCK_OK);
	assert_int_equal(device_mark_open(d, &from, NULL), DCK_OK);
	assert_int_equal(device_mark_open(d, &to, NULL), DCK_OK);
	assert_int_equal(device_mark_record(q, from, NULL), DCK_OK);
	assert_int_equal(device_mark_record(q, to, NULL), DCK_OK);
	opencl.GetEventInfo = command_failed;
	assert_int_equal(device_wait(q, DEVICE_WAIT_SPIN, &err), DCK_E_DEVICE);
	assert_string_equal(err.msg, "opencl:0, waiting: the device is out of resources, or a "
				     "command failed (OpenCL error -5)");
	assert_int_equal(err.native_code, -5);
	assert_int_equal(device_mark_elapsed(from, to, &ns, NULL), DCK_E_DEVICE);
	opencl = real;
	assert_int_equal(device_wait(q, DEVICE_WAIT_SPIN, NULL), DCK_OK);
	assert_int_equal(device_mark_elapsed(from, to, &ns, NULL), DCK_OK);
	device_mark_close(from);
	device_mark_close(to);
	device_queue_close(q);
	device_close(d);
}

/* Returns whether "gpu" is absent; false: another driver has one. It may not be OpenCL's. */
static bool no_gpu(dck_err *err)
{
	device *d = NULL;
	const dck_status status = device_open("gpu", &d, err);

	if (status == DCK_OK)
		assert_string_not_equal(d->driver->name, "opencl");
	else
		assert_int_equal(status, DCK_E_ABSENT);
	device_close(d);
	return status != DCK_OK;
}

static cl_int no_platform(cl_uint cap, cl_platform_id *ret, cl_uint *ret_n)
{
	(void)cap, (void)ret, (void)ret_n;
	return OPENCL_PLATFORM_NOT_FOUND_KHR;
}

static void no_driver_is_installed(void **state)
{
	device *d = NULL;
	dck_err err;

	(void)state;
	begin();
	opencl.GetPlatformIDs = no_platform;
	assert_int_equal(device_open("opencl", &d, &err), DCK_E_ABSENT);
	assert_ptr_equal(strstr(err.msg,
				"there is no opencl device: OpenCL platforms: no driver is "
				"installed (OpenCL error -1001); install the OpenCL driver"),
			 err.msg);
	if (no_gpu(&err)) {
		assert_ptr_equal(strstr(err.msg, "there is no GPU; "), err.msg);
		assert_non_null(
		    strstr(err.msg, "opencl: OpenCL platforms: no driver is installed"));
	}
}

/* Devices have the kind that the driver reports: processors, which are not GPUs, or GPUs. */
static cl_device_type device_type;

static cl_int type_info(cl_device_id id, cl_device_info which, size_t size, void *to, size_t *ret)
{
	if (which != OPENCL_DEVICE_TYPE)
		return real.GetDeviceInfo(id, which, size, to, ret);
	memcpy(to, &device_type, sizeof device_type);
	return OPENCL_SUCCESS;
}

static void the_first_gpu(void **state)
{
	device *d = NULL;
	dck_err err;

	(void)state;
	begin();
	opencl.GetDeviceInfo = type_info;
	device_type = OPENCL_DEVICE_TYPE_CPU;
	if (no_gpu(&err))
		assert_non_null(strstr(err.msg, "; opencl:0 is a processor: "));
	device_type = 1 << 2;
	assert_int_equal(device_open("gpu", &d, &err), DCK_OK);
	assert_false(d->info.software);
	device_close(d);
}

/* --- objects: PoCL and LLVM keep memory until the process ends (tests/lsan.supp), which would hide
 * an object that is not released here. */

enum { CONTEXTS, QUEUES, BUFFERS, MAPS, EVENTS, PROGRAMS, KERNELS, OBJECTS };
static int live[OBJECTS], made[OBJECTS];

static void live_add(int object, bool is)
{
	live[object] += is;
	made[object] += is;
}

static cl_context context_new(const cl_context_properties *p, cl_uint n, const cl_device_id *id,
			      void (*f)(const char *, const void *, size_t, void *), void *self,
			      cl_int *code)
{
	const cl_context c = real.CreateContext(p, n, id, f, self, code);

	live_add(CONTEXTS, c);
	return c;
}

static cl_command_queue queue_new(cl_context c, cl_device_id id, cl_command_queue_properties p,
				  cl_int *code)
{
	const cl_command_queue q = real.CreateCommandQueue(c, id, p, code);

	live_add(QUEUES, q);
	return q;
}

static cl_mem buffer_new(cl_context c, cl_mem_flags flags, size_t n, void *host, cl_int *code)
{
	const cl_mem m = real.CreateBuffer(c, flags, n, host, code);

	live_add(BUFFERS, m);
	return m;
}

static void *map_new(cl_command_queue q, cl_mem m, cl_bool wait, cl_map_flags flags, size_t at,
		     size_t n, cl_uint nwait, const cl_event *w, cl_event *e, cl_int *code)
{
	void *p = real.EnqueueMapBuffer(q, m, wait, flags, at, n, nwait, w, e, code);

	live_add(MAPS, p);
	return p;
}

static cl_int event_new(cl_command_queue q, cl_uint n, const cl_event *w, cl_event *e)
{
	const cl_int code = real.EnqueueMarkerWithWaitList(q, n, w, e);

	live_add(EVENTS, *e);
	return code;
}

static cl_program program_new(cl_context c, cl_uint n, const char **text, const size_t *length,
			      cl_int *code)
{
	const cl_program p = real.CreateProgramWithSource(c, n, text, length, code);

	live_add(PROGRAMS, p);
	return p;
}

static cl_kernel kernel_new(cl_program p, const char *name, cl_int *code)
{
	const cl_kernel k = real.CreateKernel(p, name, code);

	live_add(KERNELS, k);
	return k;
}

#define RELEASE(name, type, function, object) \
	static cl_int name(type x)            \
	{                                     \
		live[object]--;               \
		return real.function(x);      \
	}
RELEASE(context_free, cl_context, ReleaseContext, CONTEXTS)
RELEASE(queue_free, cl_command_queue, ReleaseCommandQueue, QUEUES)
RELEASE(buffer_free, cl_mem, ReleaseMemObject, BUFFERS)
RELEASE(event_free, cl_event, ReleaseEvent, EVENTS)
RELEASE(program_free, cl_program, ReleaseProgram, PROGRAMS)
RELEASE(kernel_free, cl_kernel, ReleaseKernel, KERNELS)

static cl_int map_free(cl_command_queue q, cl_mem m, void *p, cl_uint n, const cl_event *w,
		       cl_event *e)
{
	live[MAPS]--;
	return real.EnqueueUnmapMemObject(q, m, p, n, w, e);
}

static void every_object_is_released(void **state)
{
	enum { LANGUAGE = 0 }; /* OpenCL C */
	device_memory *m = NULL;
	device_kernel *k = NULL;
	device_queue *q = NULL;
	device_mark *mark = NULL;
	device *d = NULL;
	void *pinned[2] = {NULL};

	(void)state;
	begin();
	opencl.CreateContext = context_new;
	opencl.ReleaseContext = context_free;
	opencl.CreateCommandQueue = queue_new;
	opencl.ReleaseCommandQueue = queue_free;
	opencl.CreateBuffer = buffer_new;
	opencl.ReleaseMemObject = buffer_free;
	opencl.EnqueueMapBuffer = map_new;
	opencl.EnqueueUnmapMemObject = map_free;
	opencl.EnqueueMarkerWithWaitList = event_new;
	opencl.ReleaseEvent = event_free;
	opencl.CreateProgramWithSource = program_new;
	opencl.ReleaseProgram = program_free;
	opencl.CreateKernel = kernel_new;
	opencl.ReleaseKernel = kernel_free;
	assert_int_equal(device_open("opencl", &d, NULL), DCK_OK);
	assert_int_equal(device_queue_open(d, &q, NULL), DCK_OK);
	assert_int_equal(device_mark_open(d, &mark, NULL), DCK_OK);
	assert_int_equal(device_memory_open(d, 4096, &m, NULL), DCK_OK);
	/* One of the two is left to device_close(). */
	assert_int_equal(device_host_alloc(d, 4096, &pinned[0], NULL), DCK_OK);
	assert_int_equal(device_host_alloc(d, 4096, &pinned[1], NULL), DCK_OK);
	assert_int_equal(device_kernel_open(d, case_kernels[LANGUAGE].wrong, "work", &k, NULL),
			 DCK_E_FORMAT);
	assert_int_equal(device_kernel_open(d, case_kernels[LANGUAGE].work, "none", &k, NULL),
			 DCK_E_ARG);
	assert_int_equal(device_kernel_open(d, case_kernels[LANGUAGE].work, "work", &k, NULL),
			 DCK_OK);
	for (int i = 0; i < 5; i++) {
		const device_arg args[] = {{.memory = m}, {.word = 1}};
		assert_int_equal(device_kernel_run(q, k, args, 2, 1, 1, NULL), DCK_OK);
		assert_int_equal(device_copy_host(q, DEVICE_TO_HOST, m, 0, pinned[0], 4096, NULL),
				 DCK_OK);
		assert_int_equal(device_mark_record(q, mark, NULL), DCK_OK);
		assert_int_equal(device_wait(q, DEVICE_WAIT_SPIN, NULL), DCK_OK);
	}
	device_kernel_close(k);
	device_mark_close(mark);
	device_memory_close(m);
	device_host_free(d, pinned[0]);
	device_queue_close(q);
	device_close(d);
	for (int i = 0; i < OBJECTS; i++) {
		assert_true(made[i] > 0);
		assert_int_equal(live[i], 0);
	}
}

int test_opencl(void);
int test_opencl(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(declarations_are_those_of_the_headers),
	    cmocka_unit_test_teardown(counts_are_bounded, end),
	    cmocka_unit_test_teardown(properties_are_bounded, end),
	    cmocka_unit_test_teardown(logs_are_bounded, end),
	    cmocka_unit_test_teardown(a_command_fails, end),
	    cmocka_unit_test_teardown(no_driver_is_installed, end),
	    cmocka_unit_test_teardown(the_first_gpu, end),
	    cmocka_unit_test_teardown(every_object_is_released, end),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
