/* cuda_inject.c - the library that `deepclock trace --cuda` injects into a program: CUDA's driver
 * loads the library that CUDA_INJECTION64_PATH names, when the program initialises CUDA (cuInit()),
 * and calls its InitializeInjection(). A program without CUDA loads nothing.
 *
 * It subscribes to calls (cuda_calls.c) and requests records of what the devices executed
 * (cuda_records.c). A record is delivered when its buffer is full or flushed: a thread flushes
 * every FLUSH_NS, so that a killed program loses no more, and the last flush is at exit, after
 * which CUPTI is not called again. After fork() a child has neither CUDA nor that thread.
 *
 * CUPTI has one subscriber at a time: after another one (Nsight, torch.profiler) nothing is
 * recorded here, and after this one the other fails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cuda_calls.h"
#include "cuda_clock.h"
#include "cuda_records.h"

#include "profiler/trace/result/device_report.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS 200000000L

static cupti_functions cupti;
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;
static bool ended;
static pid_t owner; /* not of a child of fork() */

static bool cuda_flush(bool last)
{
	pthread_mutex_lock(&flushing);
	const bool live = !ended;
	ended = last;
	if (live)
		cupti.flush(last ? CUPTI_API_FLUSH_FORCED : 0);
	pthread_mutex_unlock(&flushing);
	return live && !last;
}

static void *flush_thread(void *unused)
{
	const struct timespec time = {.tv_nsec = FLUSH_NS};

	pthread_setname_np(pthread_self(), "deepclock cuda");
	dck_device_report_thread();
	do
		nanosleep(&time, NULL);
	while (cuda_flush(false));
	return unused;
}

static void process_ends(void)
{
	if (getpid() != owner)
		return;
	cuda_flush(true);
	cuda_records_end();
}

/* The program's signals are for its own threads. */
static bool flush_thread_start(void)
{
	sigset_t all, mask;
	pthread_t thread;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &mask))
		return false;
	const bool made = !pthread_create(&thread, NULL, flush_thread, NULL);
	if (made)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return made;
}

/* Returns why nothing is recorded; NULL: it is. */
static const char *begin(void)
{
	static const cupti_kind kinds[] = {CUPTI_API_KERNEL, CUPTI_API_COPY, CUPTI_API_COPY_PEER,
					   CUPTI_API_SET};
	cupti_subscriber subscriber;
	const char *why;

	if (!cupti_load(&cupti, &why))
		return why;
	cupti_result result = cupti.subscribe(&subscriber, cuda_calls_callback, NULL);
	if (result != CUPTI_API_SUCCESS)
		return cupti_failed(&cupti, "cuptiSubscribe()", result);
	/* Before any kind is enabled, so that all records have these times. */
	const bool common_clock = cupti.register_timestamp &&
				  cupti.register_timestamp(cuda_clock_now) == CUPTI_API_SUCCESS;
	if (!cuda_calls_init() || !cuda_records_init(&cupti, !common_clock))
		return "there was no memory for the records of CUDA";
	result = cupti.register_buffers(cuda_records_requested, cuda_records_completed);
	if (result != CUPTI_API_SUCCESS)
		return cupti_failed(&cupti, "cuptiActivityRegisterCallbacks()", result);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && result == CUPTI_API_SUCCESS; i++)
		result = cupti.enable(kinds[i]);
	if (result != CUPTI_API_SUCCESS)
		return cupti_failed(&cupti, "cuptiActivityEnable()", result);
	cuda_calls_enable(&cupti, subscriber);
	return NULL;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static char source[32];
	uint32_t version = 0;

	if (owner)
		return 1;
	owner = getpid();
	const char *why = begin();
	if (why) {
		dck_device_report_absent(why);
		return 1;
	}
	cupti.version(&version);
	/* 18 is CUPTI 11.8's, 26 is 12.8's; 130000 that of 13.0. */
	if (version >= 100000)
		snprintf(source, sizeof source, "CUPTI %u.%u", version / 10000,
			 version / 100 % 100);
	else
		snprintf(source, sizeof source, "CUPTI, API %u", version);
	dck_device_report_source(source);
	atexit(process_ends);
	flush_thread_start();
	return 1;
}
