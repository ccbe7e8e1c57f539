/* Tests of os/cgroup.c over simulated trees, and of os/cpu.c and os/counters.c on this machine.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/counters/cgroup.h"
#include "os/file/text.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Writes a file with this text below the directory that replaces the system's root. */
static void put(const char *path, const char *text)
{
	char below[512];

	snprintf(below, sizeof below, ".%s", path);
	scratch_text(below, text);
}

#define MOUNT2 "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
#define G      "/sys/fs/cgroup"

static void nothing_to_read(void **state)
{
	(void)state;
	cgroup_limits l = {.cpus = 9};
	cgroup_read("/no/such/root", &l);
	assert_true(l.cpus == 0 && l.memory_bytes == 0 && !l.throttled_known);
	put("/proc/self/cgroup", "garbage\n\n::\n0::\n");
	put("/proc/self/mountinfo", "garbage\n - \n1 2 3\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 0 && l.memory_bytes == 0);
}

/* A parent may be stricter than the group itself. */
static void version_2_takes_the_strictest_on_the_way_up(void **state)
{
	(void)state;
	cgroup_limits l;
	put("/proc/self/cgroup", "0::/user.slice/app\n");
	put("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw\n" MOUNT2);
	put(G "/cpu.stat", "usage_usec 5\n");
	put(G "/user.slice/cpu.max", "150000 100000\n");
	put(G "/user.slice/memory.max", "1073741824\n");
	put(G "/user.slice/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_usec 300\n");
	put(G "/user.slice/app/cpu.max", "max 100000\n");
	put(G "/user.slice/app/memory.max", "max\n");
	put(G "/user.slice/app/cpu.stat", "nr_periods 9\nnr_throttled 1\nthrottled_usec 50\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 1.5);
	assert_int_equal(l.memory_bytes, 1073741824);
	assert_true(l.throttled_known);
	assert_int_equal(l.throttled_ns, 350000);
	assert_int_equal(l.throttled_periods, 3);
	put(G "/user.slice/app/cpu.max", "50000 100000\n");
	put(G "/user.slice/app/memory.max", "4096\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 0.5);
	assert_int_equal(l.memory_bytes, 4096);
	/* What is used counts, at each level, but for page cache that can be dropped. */
	assert_int_equal(l.memory_left, 4096);
	put(G "/user.slice/app/memory.current", "1000\n");
	put(G "/user.slice/memory.current", "1073741000\n");
	put(G "/user.slice/memory.stat", "anon 5\ninactive_file 400\nactive_file 9\n");
	put("/proc/meminfo", "MemAvailable:    4194304 kB\n");
	assert_int_equal(os_memory_available("."), 1073741824 - 1073741000 + 400);
	put(G "/user.slice/app/memory.current", "9000\n");
	assert_int_equal(os_memory_available("."), 1);
	/* OOM events are local to the group: kills in other groups do not count. */
	put(G "/user.slice/memory.events", "low 0\noom 9\noom_kill 9\noom_group_kill 0\n");
	cgroup_read(".", &l);
	assert_true(l.oom_known);
	assert_int_equal(l.oom_kills, 9);
	put(G "/user.slice/app/memory.events", "low 0\noom 3\noom_kill 2\noom_group_kill 0\n");
	cgroup_read(".", &l);
	assert_int_equal(l.oom_kills, 2);
	/* Two points are a climb only as a whole part of the path. */
	put("/proc/self/cgroup", "0::/user.slice/app..2\n");
	put(G "/user.slice/app..2/cpu.max", "25000 100000\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 0.25);
}

/* In a container the mount shows our group as its root, though the path is the full one. */
static void version_2_in_a_container(void **state)
{
	(void)state;
	cgroup_limits l;
	put("/proc/self/mountinfo",
	    "30 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put(G "/cpu.max", "200000 100000\n");
	static const char *const paths[] = {"0::/docker/abc\n", "0::/\n", "0::/../other\n",
					    "0::/somewhere/else\n"};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		put("/proc/self/cgroup", paths[i]);
		cgroup_read(".", &l);
		assert_true(l.cpus == 2);
	}
	/* A group that has been removed: the limits of its parents still apply. */
	put("/proc/self/cgroup", "0::/docker/abc/gone/gone\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 2);
}

static void version_1_has_a_tree_for_each_controller(void **state)
{
	(void)state;
	cgroup_limits l;
	put("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/job\n3:memory:/job\n0::/\n");
	put("/proc/self/mountinfo",
	    "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
	    "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
	    "33 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
	put(G "/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put(G "/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	put(G "/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
	put(G "/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	put(G "/cpu,cpuacct/job/cpu.stat", "nr_periods 5\nnr_throttled 4\nthrottled_time 777\n");
	put(G "/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(G "/memory/job/memory.limit_in_bytes", "536870912\n");
	cgroup_read(".", &l);
	assert_true(l.cpus == 2.5);
	assert_int_equal(l.memory_bytes, 536870912);
	put(G "/memory/job/memory.usage_in_bytes", "36870912\n");
	put(G "/memory/job/memory.stat", "inactive_file 7\ntotal_inactive_file 1000\n");
	cgroup_read(".", &l);
	assert_int_equal(l.memory_left, 500001000);
	assert_int_equal(l.throttled_ns, 777);
	assert_int_equal(l.throttled_periods, 4);
	put(G "/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
	cgroup_read(".", &l);
	assert_int_equal(l.memory_bytes, 0);
	assert_false(l.oom_known);
	uint64_t kills;
	assert_false(os_oom_kills(".", &kills));
	put("/proc/vmstat", "pgfault 7\noom_kill 5\n");
	assert_true(os_oom_kills(".", &kills));
	assert_int_equal(kills, 5);
	put(G "/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
	assert_true(os_oom_kills(".", &kills));
	assert_int_equal(kills, 3);
}

static void small_files(void **state)
{
	(void)state;
	char buf[8];
	uint64_t v = 5;
	put("/n", "12345678901\n");
	assert_true(text_read("n", buf, sizeof buf));
	assert_string_equal(buf, "1234567");
	assert_true(text_read_uint("n", &v));
	assert_int_equal(v, 12345678901);
	put("/n", "max\n");
	assert_false(text_read_uint("n", &v));
	put("/n", "99999999999999999999999\n");
	assert_false(text_read_uint("n", &v));
	put("/n", "");
	assert_true(text_read("n", buf, sizeof buf));
	assert_string_equal(buf, "");
	assert_false(text_read("/no/such/file", buf, sizeof buf));
	assert_true(text_find_uint("ab 1\na 2", "a", &v));
	assert_int_equal(v, 2);
	assert_false(text_find_uint("ab 1\n", "a", &v));
}

static void this_machine(void **state)
{
	(void)state;
	os_host h;
	memset(&h, 0x5a, sizeof h);
	os_host_get(&h);
	assert_true(h.cpus_allowed >= 1);
	assert_int_equal(h.cpus_allowed, os_cpus_allowed());
	assert_true(h.cgroup_cpus >= 0);
	assert_true(h.memory_bytes > 0);
	assert_true(h.turbo >= -1 && h.turbo <= 1);
	assert_true(h.smt >= -1 && h.smt <= 1);
	assert_true(h.max_khz >= h.min_khz);
	assert_true(strlen(h.kernel) > 5);
	const char *const texts[] = {h.cpu, h.kernel, h.os, h.governor, h.hypervisor};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_null(strchr(texts[i], '\n'));
}

static void pinning(void **state)
{
	(void)state;
	static const char *const wrong[] = {"",	 ",",	"0,",  "0-",	   "-1",   "1-0",
					    "a", "0 1", "0x1", "99999999", "0,,1", "0-8191-1"};
	dck_err e;
	unsigned before = os_cpus_allowed();
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(os_pin_cpus(wrong[i], &e), DCK_E_ARG);
	assert_non_null(strstr(e.msg, "is not a list of CPUs: write it as in 0-3,8"));
	assert_int_equal(os_pin_cpus("8000", &e), DCK_E_ARG);
	assert_non_null(strstr(e.msg, "cannot pin this process to CPUs 8000: it may use "));
	assert_int_equal(os_pin_cpus("0,99999", &e), DCK_E_ARG);
	assert_non_null(strstr(e.msg, "cannot pin this process to CPUs 0,99999: it may use "));
	assert_int_equal(os_pin_cpus("0-8000", &e), DCK_E_ARG); /* only some of these CPUs exist */
	assert_int_equal(os_cpus_allowed(), before);		/* the mask is unchanged */
	/* The first allowed CPU, as the kernel prints it. */
	char status[8192], list[32];
	assert_true(text_read("/proc/self/status", status, sizeof status));
	const char *p = strstr(status, "Cpus_allowed_list:\t");
	assert_non_null(p);
	snprintf(list, sizeof(list), "%lu", strtoul(p + 19, NULL, 10));
	assert_int_equal(os_pin_cpus(list, &e), DCK_OK);
	assert_int_equal(os_pin_cpus(list, &e), DCK_OK);
	os_unpin_cpus();
	assert_int_equal(os_cpus_allowed(), 1); /* the first pin is left */
	os_unpin_cpus();
	assert_int_equal(os_cpus_allowed(), before);
	/* A pin to more CPUs, within one. */
	static unsigned cpus[OS_CPUS_MAX];
	char all[4096];
	os_cpu_list_show(cpus, os_cpus_get(cpus, OS_CPUS_MAX), all, sizeof all);
	assert_int_equal(os_pin_cpus(list, &e), DCK_OK);
	assert_int_equal(os_pin_cpus(all, &e), DCK_OK);
	assert_int_equal(os_cpus_allowed(), before);
	os_unpin_cpus();
	assert_int_equal(os_cpus_allowed(), 1);
	os_unpin_cpus();
	assert_int_equal(os_cpus_allowed(), before);
	os_unpin_cpus(); /* nothing happens */
	assert_int_equal(os_cpus_allowed(), before);
}

static void counters_go_up(void **state)
{
	(void)state;
	os_usage a, b;
	memset(&a, 0x5a, sizeof a);
	os_usage_get(&a);
	uint64_t begin = os_process_cpu_ns();
	while (os_process_cpu_ns() - begin < 50000000)
		;
	size_t n = 8 << 20;
	void *p = os_pages_alloc(n);
	usleep(1000);
	os_usage_get(&b);
	assert_true(b.user_ns + b.system_ns >= a.user_ns + a.system_ns + 40000000);
	assert_true(b.voluntary_switches > a.voluntary_switches);
	assert_true(b.minor_faults > a.minor_faults);
	assert_true(b.peak_rss_bytes >= b.rss_bytes);
	assert_true(b.rss_bytes >= a.rss_bytes + n / 2);
	if (b.has_machine)
		assert_true(b.machine_busy_ns > a.machine_busy_ns);
	os_pages_free(p, n);
}

/* Counts the page faults of writing to each page of new memory. */
static uint64_t faults_of_writing(size_t n)
{
	unsigned char *p = os_pages_alloc(n);
	os_usage a, b;

	assert_non_null(p);
	assert_int_equal((uintptr_t)p % 4096, 0);
	for (size_t k = 0; k < n; k += 64)
		assert_int_equal(p[k], 0);
	os_usage_get(&a);
	os_usage_get(&b);
	const uint64_t asking = b.minor_faults - a.minor_faults;
	os_usage_get(&a);
	for (size_t k = 0; k < n; k += 4096)
		p[k] = 1;
	os_usage_get(&b);
	os_pages_free(p, n);
	const uint64_t met = b.minor_faults - a.minor_faults;
	return met > asking ? met - asking : 0;
}

/* The pages come touched. The best of several tries: a kernel that migrates memory between nodes
 * unmaps pages for a moment. */
static void pages(void **state)
{
	(void)state;
	static const size_t sizes[] = {0, 1, 4096, 4097, 5 << 20};
	for (size_t i = 0; i < sizeof(sizes) / sizeof *sizes; i++) {
		uint64_t least = UINT64_MAX;
		for (int tries = 0; tries < 5 && least > 8; tries++) {
			const uint64_t met = faults_of_writing(sizes[i]);
			least = met < least ? met : least;
		}
		assert_true(least <= 8);
	}
	assert_null(os_pages_alloc(SIZE_MAX));
	assert_null(os_pages_alloc(SIZE_MAX / 2));
	os_pages_free(NULL, 0);
}

int test_os_host(void);
int test_os_host(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(nothing_to_read),
	    SCRATCH_TEST(version_2_takes_the_strictest_on_the_way_up),
	    SCRATCH_TEST(version_2_in_a_container),
	    SCRATCH_TEST(version_1_has_a_tree_for_each_controller),
	    SCRATCH_TEST(small_files),
	    cmocka_unit_test(this_machine),
	    cmocka_unit_test(counters_go_up),
	    cmocka_unit_test(pages),
	    cmocka_unit_test(pinning), /* last, because the process stays pinned */
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
