/* test_os_limits.c - resource limits of a child, set by its parent.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

/* Starts cat, which blocks because its input never arrives. */
static pid_t child_start(int *ret_write)
{
	char name[] = "cat";
	char *argv[] = {name, NULL};
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	const os_spawn_config config = {
	    .argv = argv, .in_fd = ends[0], .out_fd = -1, .err_fd = -1, .keep_fd = -1};
	assert_int_equal(os_spawn(&config, &pid, NULL), DCK_OK);
	close(ends[0]);
	*ret_write = ends[1];
	return pid;
}

static void child_end(pid_t pid, int write_end, int signal)
{
	os_child_usage usage;

	assert_int_equal(os_wait(pid, 0, NULL, NULL, &usage, NULL), DCK_OK);
	assert_int_equal(usage.signal, signal);
	close(write_end);
}

static void test_limits(void **state)
{
	int write_end;
	const pid_t pid = child_start(&write_end);
	struct rlimit now;
	char path[64];
	int score = 0;

	(void)state;
	assert_true(os_child_limit_data(pid, 64 << 20));
	assert_int_equal(prlimit(pid, RLIMIT_DATA, NULL, &now), 0);
	assert_int_equal(now.rlim_cur, 64 << 20);
	assert_int_equal(now.rlim_max, 64 << 20);
	os_child_oom_first(pid);
	snprintf(path, sizeof path, "/proc/%ld/oom_score_adj", (long)pid);
	FILE *f = fopen(path, "r");
	if (f) {
		assert_int_equal(fscanf(f, "%d", &score), 1);
		fclose(f);
		assert_int_equal(score, 1000);
	}
	/* The child may not have executed cat yet. */
	for (int i = 0; i < 10000 && os_child_rss(pid) <= 4096; i++)
		usleep(1000);
	assert_true(os_child_rss(pid) > 4096);
	os_child_kill(pid);
	child_end(pid, write_end, SIGKILL);
}

/* A process that has exited. */
static void test_gone(void **state)
{
	int write_end;
	const pid_t pid = child_start(&write_end);

	(void)state;
	os_child_kill(pid);
	child_end(pid, write_end, SIGKILL);
	assert_false(os_child_limit_data(pid, 1 << 20));
	os_child_oom_first(pid);
	assert_int_equal(os_child_rss(pid), 0);
}

static void test_available(void **state)
{
	const uint64_t bytes = os_memory_available("");
	os_host host;

	(void)state;
	os_host_get(&host);
	assert_true(bytes > 1 << 20);
	if (host.memory_bytes > 0)
		assert_true(bytes <= host.memory_bytes);
	if (host.cgroup_memory_bytes > 0)
		assert_true(bytes <= (uint64_t)host.cgroup_memory_bytes);
}

int test_os_limits(void);
int test_os_limits(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_gone),
	    cmocka_unit_test(test_available),
	};

	return cmocka_run_group_tests_name("os_limits", tests, NULL, NULL);
}
