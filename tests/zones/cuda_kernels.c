/* cuda_kernels.c - a program with kernels and copies of CUDA in zones, for `deepclock trace --cuda`
 * on the double of the driver (tests/doubles/cuda.c), whose commands take known times:
 *
 *   step 1: copies 100,000 bytes to the device (12 us), and launches a kernel of 3 ms
 *   step 2: launches two kernels of 1 ms, in two streams, and copies 100,000 bytes back
 *
 * "exit": it leaves by _exit() half a second later; "fork": it forks half a second later; "killed":
 * it kills itself half a second later; "outside": it launches a kernel of 2 ms in no zone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/zone.h>

#include "device/cuda_api.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 100000 };

static struct {
#define X(member, cuda, hip, parameters) api_result(*member) parameters;
	CUDA_API(X)
#undef X
	void (*call)(const char *function, _Bool begins); /* of the double */
} cuda;

static int functions_find(void)
{
	static const struct {
		const char *name;
		size_t at;
	} members[] = {
#define X(member, symbol, hip, parameters) {#symbol, offsetof(__typeof__(cuda), member)},
	    CUDA_API(X)
#undef X
		{"cuda_double_call", offsetof(__typeof__(cuda), call)},
	};
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof members / sizeof members[0]; i++) {
		void *found = dlsym(library, members[i].name);

		if (!found)
			return -1;
		memcpy((char *)&cuda + members[i].at, &found, sizeof found);
	}
	return library ? 0 : -1;
}

/* Launches it as the runtime does, which calls the driver. */
static api_result launch(api_function function, api_address buffer, unsigned n, api_stream stream)
{
	void *args[] = {&buffer, &n};

	cuda.call("cudaLaunchKernel", 1);
	const api_result result = cuda.launch(function, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
	cuda.call("cudaLaunchKernel", 0);
	return result;
}

int main(int argc, char *argv[])
{
	static const char ptx[] = ".version 6.0 .entry work(.param .u64 a, .param .u32 b)";
	static char host[BYTES];
	const char *how = argc > 1 ? argv[1] : "";
	api_context context;
	api_stream streams[2];
	api_event event;
	api_module module;
	api_function work, plain;
	api_address buffer;
	api_result failed = 0;

	if (functions_find() != 0 || cuda.init(0) != 0) {
		puts("no CUDA");
		return 2;
	}
	failed |= cuda.context_retain(&context, 0);
	failed |= cuda.context_set(context);
	for (int i = 0; i < 2; i++)
		failed |= cuda.stream_create(&streams[i], API_STREAM_NON_BLOCKING);
	failed |= cuda.event_create(&event, API_EVENT_NO_TIMING);
	failed |= cuda.memory_alloc(&buffer, BYTES);
	failed |= cuda.module_load(&module, ptx, 0, NULL, NULL);
	failed |= cuda.module_function(&work, module, "_Z4workIfEvPT_i");
	failed |= cuda.module_function(&plain, module, "work");
	if (failed) {
		puts("failed");
		return 2;
	}
	{
		DCK_ZONE("step 1");
		failed |= cuda.copy_to_device(buffer, host, BYTES, streams[0]);
		failed |= launch(work, buffer, 3000000 - 2000, streams[0]);
		failed |= cuda.event_record(event, streams[0]);
		failed |= cuda.event_synchronize(event);
	}
	{
		DCK_ZONE("step 2");
		{
			DCK_ZONE("forward");
			failed |= launch(plain, buffer, 1000000 - 2000, streams[0]);
			failed |= launch(plain, buffer, 1000000 - 2000, streams[1]);
		}
		failed |= cuda.event_record(event, streams[1]);
		failed |= cuda.event_synchronize(event);
		failed |= cuda.copy_to_host(host, buffer, BYTES, streams[0]);
	}
	if (strcmp(how, "outside") == 0) {
		failed |= launch(plain, buffer, 2000000 - 2000, streams[0]);
		failed |= cuda.event_record(event, streams[0]);
		failed |= cuda.event_synchronize(event);
	}
	failed |= cuda.memory_free(buffer);
	if (strcmp(how, "killed") == 0) {
		usleep(500000);
		raise(SIGKILL);
	}
	if (strcmp(how, "exit") == 0) {
		usleep(500000);
		_exit(failed ? 2 : 0);
	}
	if (strcmp(how, "fork") == 0) {
		usleep(500000); /* the records are there */
		const pid_t child = fork();

		if (child == 0) {
			DCK_ZONE("child");
			return 0;
		}
		waitpid(child, NULL, 0);
	}
	return failed ? 2 : 0;
}
