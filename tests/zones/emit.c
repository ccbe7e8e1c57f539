/* A program's zones are forwarded to the NVTX tool that the environment names, with and without a
 * recording, and not if it names our own library or one that cannot be loaded. `emit TOOL` runs
 * itself, as NVTX tools start a program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/trace.h>
#include <deepclock/zone.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char want[] = "(step (forward !batch=32 ) <copy:101 !here !loss=0.25 <copy:102 101> "
			   "102> ) ";

static int work(void)
{
	DCK_PUSH("step");
	DCK_PUSH("forward");
	DCK_NUMBER("batch", 32);
	DCK_POP();
	dck_range one = DCK_START("copy");
	DCK_MARK("here");
	DCK_COUNTER("loss", 0.25);
	dck_range two = DCK_START("copy");
	DCK_END(one);
	DCK_END(two);
	DCK_POP();
	return one.id != 0 && two.id != 0;
}

static int fails(const char *what, const char *got)
{
	fprintf(stderr, "%s: %s\n", what, got);
	return 1;
}

/* Runs the checks with a tool loaded. */
static int with_tool(const char *path)
{
	const dck_trace_config c = {0};
	void *tool = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *symbol;
	const char *(*said)(void);
	dck_record *r = NULL;
	size_t n;

	if (tool)
		return fails("loaded before the first zone", path);
	if (!work() || !(tool = dlopen(path, RTLD_NOW | RTLD_NOLOAD)))
		return fails("not loaded", path);
	symbol = dlsym(tool, "tool_said");
	memcpy(&said, &symbol, sizeof said);
	if (strcmp(said(), want) != 0)
		return fails("the tool got", said());
	/* During a recording, and after it. */
	n = strlen(said());
	if (dck_trace_start(&c, NULL) != DCK_OK)
		return fails("recording", "cannot be started");
	work();
	if (dck_trace_stop(&r, NULL) != DCK_OK || !dck_record_table(r, "zones") ||
	    dck_record_table(r, "zones")->nrows != 3)
		return fails("recording", "has other zones");
	dck_record_free(r);
	if (strlen(said()) != 2 * n || strncmp(said() + n, "(step (forward ", 15) != 0)
		return fails("while it records the tool got", said() + n);
	work();
	return strlen(said()) == 3 * n ? 0 : fails("after it the tool got", said() + 2 * n);
}

/* Without a tool: zones are off, after the first at the latest. */
static int without(void)
{
	work();
	return dck_trace_on ? fails("without a tool", "zones are on") : 0;
}

/* Runs this program in that environment; returns its exit status. */
static int again(char *self, char *how, const char *injected)
{
	char *argv[] = {self, how, (char *)(size_t)injected, NULL};
	int status = 0;
	const pid_t pid = fork();

	if (pid == 0) {
		setenv("NVTX_INJECTION64_PATH", injected, 1);
		unsetenv("DEEPCLOCK_TRACE");
		execv(self, argv);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
	static char with[] = "with", alone[] = "without";
	Dl_info ours;

	if (argc == 3)
		return strcmp(argv[1], with) == 0 ? with_tool(argv[2]) : without();
	if (argc != 2 || !dladdr((void *)(size_t)dck_trace_start, &ours))
		return 2;
	int failed = again(argv[0], with, argv[1]);
	failed |= again(argv[0], alone, ours.dli_fname);
	failed |= again(argv[0], alone, "/there/is/no.so");
	failed |= again(argv[0], alone, "libm.so.6"); /* not a tool */
	failed |= again(argv[0], alone, "");
	return failed;
}
