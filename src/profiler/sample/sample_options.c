/* SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/sample.h"
#include "base/opt_text.h"

static const char *const sources[] = {[DCK_SAMPLE_AUTO] = "auto",
				      [DCK_SAMPLE_PERF] = "perf",
				      [DCK_SAMPLE_TIMER] = "timer",
				      [DCK_SAMPLE_IN_PROCESS] = "in-process",
				      NULL};

const dck_opt dck_sample_options[] = {
    DCK_OPTION(COUNT, dck_sample_config, rate, "rate", "HZ", "997",
	       "samples of each second of a thread's time", .min = 1, .max = 100000),
    DCK_OPTION(COUNT, dck_sample_config, pid, "pid", "PID", NULL,
	       "a program that runs already, with all its threads", .min = 1, .max = 4194304),
    DCK_OPTION(TIME, dck_sample_config, time_ns, "time", "TIME", NULL,
	       "duration; a started program is then ended by SIGTERM", .min = 1e6, .max = 1e18),
    DCK_FLAG(dck_sample_config, wall, "wall",
	     "also the time in which threads wait, with its stacks"),
    DCK_FLAG(dck_sample_config, threads, "threads", "split the tree by thread"),
    DCK_FLAG(dck_sample_config, interpreter, "interpreter",
	     "of Python programs also the interpreter's own functions"),
    DCK_OPTION(
	CHOICE, dck_sample_config, source, "source", "SOURCE", "auto",
	"sampling source: the kernel (perf), or a signal handler in the program, driven by perf_event (in-process) or by POSIX timers (timer)",
	.choices = sources),
    DCK_OPTION(BYTES, dck_sample_config, stack_bytes, "stack", "SIZE", "32KiB",
	       "bytes copied of each stack, if the kernel takes the samples", .min = 1024,
	       .max = 65000),
    {0},
};

void dck_sample_config_init_sized(dck_sample_config *c, uint32_t struct_size)
{
	const dck_opt *const tables[] = {dck_sample_options, NULL};

	opt_config_init(c, struct_size, sizeof *c, tables);
}
