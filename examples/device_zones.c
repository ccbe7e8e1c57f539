/* device_zones.c - zones with the time of a GPU: the time of each phase of a step in the queue of
 * the device, next to the time of enqueueing it on the host.
 *
 *     deepclock trace -o device.pftrace -- ./device_zones [opencl | cuda [STEPS]]
 *
 * Each step copies a buffer to the device and runs kernels, of which "backward" has three times as
 * many as "forward", in a queue of the program; the host waits at the end of every fifth step only.
 * The loop is done long before the device is, so that a clock of the host around the calls shows
 * nothing of the kernels. The zones show both: ui.perfetto.dev draws the queue's ranges on a
 * separate track, with an arrow from the zone that enqueued each.
 *
 * The drivers' libraries are loaded at run time, so that the program is built without their
 * headers; a program of your own includes them, and has its queue already: the lines with dck_ and
 * DCK_ are all that it needs. Exit status 77: there is no such device.
 *
 *     cc -O2 device_zones.c $(pkg-config --cflags --libs deepclock-zones) -ldl -o device_zones
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/device_zone.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 64, GROUP = 64, ITEMS = GROUPS * GROUP, STEPS = 20, SKIPPED = 77 };

/* A queue of a device, and what the steps do in it. Each returns whether it worked. */
typedef struct backend {
	const char *driver;
	unsigned work;	     /* turns of a kernel's loop */
	void *(*open)(void); /* the native queue; NULL: there is no device */
	int (*copy)(const float *from);
	int (*kernel)(unsigned work);
	int (*wait)(void);
} backend;

/* Loads a function; ISO C has no cast from an object to a function. */
static int load(void *library, const char *name, void *ret, size_t bytes)
{
	void *found = library ? dlsym(library, name) : NULL;

	memcpy(ret, &found, bytes);
	return found ? 1 : 0;
}

#define LOAD(library, function, name) load((library), (name), &(function), sizeof(function))

/* --- OpenCL */

static const char opencl_source[] = "kernel void work(global float *x, uint n) {"
				    "  float v = x[get_global_id(0)];"
				    "  for (uint i = 0; i < n; i++) v = fma(v, 0.999f, 0.001f);"
				    "  x[get_global_id(0)] = v; }";

/* Handles of OpenCL are pointers; these are the types of its functions. */
static struct opencl {
	int32_t (*platforms)(uint32_t, void **, uint32_t *);
	int32_t (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
	void *(*context)(const intptr_t *, uint32_t, void *const *, void *, void *, int32_t *);
	void *(*queue)(void *, void *, uint64_t, int32_t *);
	void *(*program)(void *, uint32_t, const char **, const size_t *, int32_t *);
	int32_t (*build)(void *, uint32_t, void *const *, const char *, void *, void *);
	void *(*kernel)(void *, const char *, int32_t *);
	void *(*buffer)(void *, uint64_t, size_t, void *, int32_t *);
	int32_t (*argument)(void *, uint32_t, size_t, const void *);
	int32_t (*run)(void *, void *, uint32_t, const size_t *, const size_t *, const size_t *,
		       uint32_t, void *const *, void **);
	int32_t (*write)(void *, void *, uint32_t, size_t, size_t, const void *, uint32_t,
			 void *const *, void **);
	int32_t (*flush)(void *);
	int32_t (*finish)(void *);
	void *own_queue, *own_kernel, *own_buffer;
} cl;

static void *opencl_open(void)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *platform[8], *device = NULL;
	const char *source = opencl_source;
	uint32_t platforms = 0, n = 0;
	int32_t error = 0;

	if (!LOAD(library, cl.platforms, "clGetPlatformIDs") ||
	    !LOAD(library, cl.devices, "clGetDeviceIDs") ||
	    !LOAD(library, cl.context, "clCreateContext") ||
	    !LOAD(library, cl.queue, "clCreateCommandQueue") ||
	    !LOAD(library, cl.program, "clCreateProgramWithSource") ||
	    !LOAD(library, cl.build, "clBuildProgram") ||
	    !LOAD(library, cl.kernel, "clCreateKernel") ||
	    !LOAD(library, cl.buffer, "clCreateBuffer") ||
	    !LOAD(library, cl.argument, "clSetKernelArg") ||
	    !LOAD(library, cl.run, "clEnqueueNDRangeKernel") ||
	    !LOAD(library, cl.write, "clEnqueueWriteBuffer") ||
	    !LOAD(library, cl.flush, "clFlush") || !LOAD(library, cl.finish, "clFinish"))
		return NULL;
	if (cl.platforms(8, platform, &platforms) != 0)
		return NULL;
	for (uint32_t i = 0; i < platforms && i < 8 && !device; i++)
		if (cl.devices(platform[i], 0xffffffff, 1, &device, &n) != 0 || n == 0)
			device = NULL;
	if (!device)
		return NULL;
	void *context = cl.context(NULL, 1, &device, NULL, NULL, &error);
	/* 2: CL_QUEUE_PROFILING_ENABLE, without which the queue has no times. */
	cl.own_queue = context ? cl.queue(context, device, 2, &error) : NULL;
	void *program = context ? cl.program(context, 1, &source, NULL, &error) : NULL;
	if (!cl.own_queue || !program || cl.build(program, 1, &device, "", NULL, NULL) != 0)
		return NULL;
	cl.own_kernel = cl.kernel(program, "work", &error);
	cl.own_buffer = cl.buffer(context, 1, ITEMS * sizeof(float), NULL, NULL);
	return cl.own_kernel && cl.own_buffer ? cl.own_queue : NULL;
}

static int opencl_copy(const float *from)
{
	return cl.write(cl.own_queue, cl.own_buffer, 0, 0, ITEMS * sizeof *from, from, 0, NULL,
			NULL) == 0;
}

static int opencl_kernel(unsigned work)
{
	const size_t all = ITEMS, group = GROUP;
	const uint32_t n = work;

	return cl.argument(cl.own_kernel, 0, sizeof cl.own_buffer, &cl.own_buffer) == 0 &&
	       cl.argument(cl.own_kernel, 1, sizeof n, &n) == 0 &&
	       cl.run(cl.own_queue, cl.own_kernel, 1, NULL, &all, &group, 0, NULL, NULL) == 0 &&
	       cl.flush(cl.own_queue) == 0;
}

static int opencl_wait(void)
{
	return cl.finish(cl.own_queue) == 0;
}

/* --- CUDA */

static const char cuda_source[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry work(.param .u64 out, .param .u32 steps)\n{\n"
    ".reg .pred p;\n.reg .b32 r<6>;\n.reg .b64 d<3>;\n.reg .f32 f1;\n"
    "ld.param.u64 d1,[out];\nld.param.u32 r1,[steps];\ncvta.to.global.u64 d1,d1;\n"
    "mov.u32 r2,%ctaid.x;\nmov.u32 r3,%ntid.x;\nmov.u32 r4,%tid.x;\nmad.lo.u32 r2,r2,r3,r4;\n"
    "mul.wide.u32 d2,r2,4;\nadd.u64 d1,d1,d2;\nld.global.f32 f1,[d1];\nmov.u32 r5,0;\n"
    "turn:\nfma.rn.f32 f1,f1,0f3F7FBE77,0f3A83126F;\nadd.u32 r5,r5,1;\n"
    "setp.lt.u32 p,r5,r1;\n@p bra turn;\nst.global.f32 [d1],f1;\nret;\n}\n";

static struct cuda {
	int (*init)(unsigned);
	int (*device)(int *, int);
	int (*retain)(void **, int);
	int (*current)(void *);
	int (*stream)(void **, unsigned);
	int (*module)(void **, const void *, unsigned, int *, void **);
	int (*function)(void **, void *, const char *);
	int (*allocate)(unsigned long long *, size_t);
	int (*copy)(unsigned long long, const void *, size_t, void *);
	int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		      void *, void **, void **);
	int (*wait)(void *);
	void *own_stream, *own_function;
	unsigned long long own_buffer;
} cu;

static void *cuda_open(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL, *module = NULL;
	int device = 0;

	if (!LOAD(library, cu.init, "cuInit") || !LOAD(library, cu.device, "cuDeviceGet") ||
	    !LOAD(library, cu.retain, "cuDevicePrimaryCtxRetain") ||
	    !LOAD(library, cu.current, "cuCtxSetCurrent") ||
	    !LOAD(library, cu.stream, "cuStreamCreate") ||
	    !LOAD(library, cu.module, "cuModuleLoadDataEx") ||
	    !LOAD(library, cu.function, "cuModuleGetFunction") ||
	    !LOAD(library, cu.allocate, "cuMemAlloc_v2") ||
	    !LOAD(library, cu.copy, "cuMemcpyHtoDAsync_v2") ||
	    !LOAD(library, cu.launch, "cuLaunchKernel") ||
	    !LOAD(library, cu.wait, "cuStreamSynchronize"))
		return NULL;
	if (cu.init(0) != 0 || cu.device(&device, 0) != 0 || cu.retain(&context, device) != 0 ||
	    cu.current(context) != 0 || cu.stream(&cu.own_stream, 1) != 0 ||
	    cu.module(&module, cuda_source, 0, NULL, NULL) != 0 ||
	    cu.function(&cu.own_function, module, "work") != 0 ||
	    cu.allocate(&cu.own_buffer, ITEMS * sizeof(float)) != 0)
		return NULL;
	return cu.own_stream;
}

static int cuda_copy(const float *from)
{
	return cu.copy(cu.own_buffer, from, ITEMS * sizeof *from, cu.own_stream) == 0;
}

static int cuda_kernel(unsigned work)
{
	void *arguments[] = {&cu.own_buffer, &work};

	return cu.launch(cu.own_function, GROUPS, 1, 1, GROUP, 1, 1, 0, cu.own_stream, arguments,
			 NULL) == 0;
}

static int cuda_wait(void)
{
	return cu.wait(cu.own_stream) == 0;
}

static const backend backends[] = {
    {"opencl", 2000, opencl_open, opencl_copy, opencl_kernel, opencl_wait},
    {"cuda", 40000, cuda_open, cuda_copy, cuda_kernel, cuda_wait},
};

/* --- the program */

static int step(const backend *b, dck_device_queue *q, const float *data, int waits)
{
	int works = 1;

	DCK_ZONE("step");
	{
		DCK_DEVICE_ZONE(q, "copy");
		works = works && b->copy(data);
	}
	{
		DCK_DEVICE_ZONE(q, "forward");
		works = works && b->kernel(b->work);
	}
	DCK_DEVICE_PUSH(q, "backward");
	for (int i = 0; i < 3; i++)
		works = works && b->kernel(b->work);
	DCK_DEVICE_POP(q);
	return works && (!waits || b->wait());
}

static int train(const backend *b, dck_device_queue *q, int steps)
{
	static float data[ITEMS];
	dck_device_queue_counts counts;
	dck_err err;
	int works = 1;

	for (int i = 0; i < ITEMS; i++)
		data[i] = (float)i / ITEMS;
	for (int i = 1; i <= steps && works; i++)
		works = step(b, q, data, i % 5 == 0);
	if (!works || dck_device_queue_flush(q, &err) != DCK_OK) {
		fprintf(stderr, "device_zones: %s\n", works ? err.msg : "the device failed");
		return EXIT_FAILURE;
	}
	counts = dck_device_queue_count(q);
	printf("%d steps: %llu ranges of the device, %llu dropped; times known to %.1f us\n", steps,
	       (unsigned long long)counts.ranges, (unsigned long long)counts.dropped,
	       1e-3 * counts.clock_error_ns);
	if (counts.ranges == 0)
		puts("nothing was recorded: deepclock trace -- ./device_zones");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "opencl";
	const int steps = argc > 2 ? atoi(argv[2]) : STEPS;
	const backend *b = NULL;
	dck_device_queue *q;
	dck_err err;
	int status;

	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (strcmp(backends[i].driver, name) == 0)
			b = &backends[i];
	if (!b) {
		fprintf(stderr, "usage: device_zones [opencl | cuda [STEPS]]\n");
		return EXIT_FAILURE;
	}
	void *native = b->open();
	if (!native) {
		fprintf(stderr, "device_zones: there is no device of %s\n", name);
		return SKIPPED;
	}
	if (dck_device_queue_open(b->driver, native, &q, &err) != DCK_OK) {
		fprintf(stderr, "device_zones: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	status = train(b, q, steps);
	dck_device_queue_close(q);
	return status;
}
