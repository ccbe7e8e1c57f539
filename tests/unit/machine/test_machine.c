/* Tests of machine/: topology of simulated machines, working sets, results of the loops, location
 * of the cached result. No rate is asserted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"
#include "os/os.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Writes a file with this text, and creates its parent directories. */
static void put(const char *text, const char *fmt, ...)
{
	char path[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof path, fmt, ap);
	va_end(ap);
	scratch_text(path, text);
}

static void put_cache(unsigned cpu, unsigned index, const char *level, const char *type,
		      const char *size, const char *shared)
{
#define DIR "sys/devices/system/cpu/cpu%u/"
	put(level, DIR "cache/index%u/level", cpu, index);
	put(type, DIR "cache/index%u/type", cpu, index);
	put(size, DIR "cache/index%u/size", cpu, index);
	put(shared, DIR "cache/index%u/shared_cpu_list", cpu, index);
	put("64\n", DIR "cache/index%u/coherency_line_size", cpu, index);
}

/* Four cores of two threads each, 0+4, 1+5, 2+6, 3+7; an L3 for each pair of cores. */
static void put_eight(void)
{
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		const unsigned core = cpu % 4;
		char siblings[32];
		const char *l3 = core < 2 ? "0-1,4-5\n" : "2-3,6-7\n";

		snprintf(siblings, sizeof siblings, "%u,%u\n", core, core + 4);
		put(siblings, DIR "topology/thread_siblings_list", cpu);
		put_cache(cpu, 0, "1\n", "Data\n", "48K\n", siblings);
		put_cache(cpu, 1, "1\n", "Instruction\n", "32K\n", siblings);
		put_cache(cpu, 2, "2\n", "Unified\n", "2048K\n", siblings);
		put_cache(cpu, 3, "3\n", "Unified\n", "32M\n", l3);
		put("3000000\n", DIR "cpufreq/cpuinfo_max_freq", cpu);
	}
	put("0-1\n", "sys/devices/system/node/online");
	put("MemTotal: 9 kB\nMemAvailable:    4194304 kB\n", "proc/meminfo");
}

static void eight_processors(void **state)
{
	static const unsigned all[] = {0, 1, 2, 3, 4, 5, 6, 7}, order[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static machine_topology t;

	(void)state;
	put_eight();
	machine_topology_read(".", all, 8, &t);
	assert_int_equal(t.allowed, 8);
	assert_int_equal(t.cores, 4);
	assert_int_equal(t.ncpus, 8);
	assert_memory_equal(t.cpu, order, sizeof order);
	assert_string_equal(t.allowed_list, "0-7");
	assert_int_equal(t.nodes, 2);
	assert_int_equal(t.available_bytes, 4096 * MIB);
	assert_int_equal(t.max_khz, 3000000);
	assert_int_equal(t.min_khz, 0);
	assert_int_equal(t.cache[0].bytes, 48 * KIB);
	assert_int_equal(t.cache[0].shared, 2);
	assert_int_equal(t.cache[0].ours, 1);
	assert_int_equal(t.cache[0].count, 4);
	assert_int_equal(t.cache[0].line_bytes, 64);
	assert_int_equal(t.cache[1].bytes, 2 * MIB);
	assert_int_equal(t.cache[2].bytes, 32 * MIB);
	assert_int_equal(t.cache[2].shared, 4);
	assert_int_equal(t.cache[2].ours, 2);
	assert_int_equal(t.cache[2].count, 2);
	assert_int_equal(machine_l3_total(&t), 64 * MIB);
	/* With SMT siblings an L1 has two users. */
	machine_topology_use(".", &t, 8);
	assert_int_equal(t.cache[0].ours, 2);
	assert_int_equal(t.cache[0].count, 4);
}

/* Only some CPUs are allowed, possibly without the first thread of a core. */
static void some_of_them(void **state)
{
	static const unsigned mine[] = {2, 4, 5, 6}, order[] = {2, 4, 5, 6};
	static machine_topology t;

	(void)state;
	put_eight();
	machine_topology_read(".", mine, 4, &t);
	assert_int_equal(t.cores, 3);
	assert_memory_equal(t.cpu, order, sizeof order);
	assert_string_equal(t.allowed_list, "2,4-6");
	assert_int_equal(t.cache[2].count, 2);
	assert_int_equal(t.cache[2].ours, 1);
}

/* Two efficient cores first, as on many Arm processors, then a fast one of two threads and one of
 * one, whose clock may be a little higher. */
static void the_fastest_kind_of_cores_is_first(void **state)
{
	static const unsigned all[] = {0, 1, 2, 3, 4}, order[] = {2, 4, 0, 1, 3};
	static const char *const capacity[] = {"446\n", "446\n", "1009\n", "1009\n", "1024\n"};
	static machine_topology t;

	(void)state;
	for (unsigned cpu = 0; cpu < 5; cpu++) {
		put(capacity[cpu], DIR "cpu_capacity", cpu);
		put(cpu < 2 ? "1800000\n" : "3000000\n", DIR "cpufreq/cpuinfo_max_freq", cpu);
	}
	put("2-3\n", DIR "topology/thread_siblings_list", 2u);
	put("2-3\n", DIR "topology/thread_siblings_list", 3u);
	machine_topology_read(".", all, 5, &t);
	assert_int_equal(t.cores, 4);
	assert_memory_equal(t.cpu, order, sizeof order);
	assert_true(t.uneven);
	assert_int_equal(t.max_khz, 3000000);
	machine_topology_use(".", &t, 2);
	assert_false(t.uneven);
	machine_topology_read(".", all, 2, &t);
	assert_false(t.uneven);
	assert_int_equal(t.cpu[0], 0);
}

/* Large machines have more than 1,024 CPUs, and a job may get the last ones. */
static void the_last_of_many(void **state)
{
	static const unsigned mine[] = {1534, 1535}, order[] = {1534, 1535};
	static machine_topology t;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		put("1534-1535\n", DIR "topology/thread_siblings_list", mine[i]);
		put_cache(mine[i], 0, "1\n", "Data\n", "48K\n", "1534-1535\n");
	}
	machine_topology_read(".", mine, 2, &t);
	assert_int_equal(t.cores, 1);
	assert_memory_equal(t.cpu, order, sizeof order);
	assert_int_equal(t.cache[0].count, 1);
	assert_int_equal(t.cache[0].shared, 2);
}

/* A container may have less memory than the machine. */
static void a_limit_on_memory_counts(void **state)
{
	static const unsigned mine[] = {0};
	static machine_topology t;

	(void)state;
	put("MemAvailable:    4194304 kB\n", "proc/meminfo");
	put("0::/job\n", "proc/self/cgroup");
	put("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "proc/self/mountinfo");
	put("1073741824\n", "sys/fs/cgroup/job/memory.max");
	machine_topology_read(".", mine, 1, &t);
	assert_int_equal(t.available_bytes, 1024 * MIB);
	put("max\n", "sys/fs/cgroup/job/memory.max");
	machine_topology_read(".", mine, 1, &t);
	assert_int_equal(t.available_bytes, 4096 * MIB);
}

static void nothing_is_told(void **state)
{
	static const unsigned mine[] = {0, 1};
	static machine_topology t;
	const char *why;

	(void)state;
	machine_topology_read(".", mine, 2, &t);
	assert_int_equal(t.cores, 2);
	assert_int_equal(t.cache[0].bytes, 0);
	assert_int_equal(t.nodes, 0);
	assert_int_equal(t.available_bytes, 0);
	for (int level = MACHINE_L1; level <= MACHINE_L3; level++) {
		why = NULL;
		assert_int_equal(machine_level_bytes(&t, (machine_level)level, 1, false, &why), 0);
		assert_non_null(why);
	}
	assert_int_equal(machine_level_bytes(&t, MACHINE_DRAM, 1, false, &why), 256 * MIB);
}

/* Invalid sizes in files. */
static void strange_files(void **state)
{
	static const unsigned mine[] = {0};
	static machine_topology t;

	(void)state;
	put("x,y-\n", DIR "topology/thread_siblings_list", 0u);
	put_cache(0, 0, "1\n", "Data\n", "99999999999999999999G\n", "0-4294967295\n");
	put_cache(0, 1, "2\n", "Unified\n", "much\n", "\n");
	put("MemAvailable: 99999999999999999999999 kB\n", "proc/meminfo");
	machine_topology_read(".", mine, 1, &t);
	assert_int_equal(t.cores, 1);
	assert_int_equal(t.cache[0].bytes, 0);
	assert_int_equal(t.cache[1].bytes, 0);
}

static void put_device(const char *at, const char *class, const char *vendor, const char *device)
{
	put(class, "sys/bus/pci/devices/%s/class", at);
	put(vendor, "sys/bus/pci/devices/%s/vendor", at);
	put(device, "sys/bus/pci/devices/%s/device", at);
}

static void accelerators_are_found(void **state)
{
	machine_device d[MACHINE_DEVICES_MAX];
	const char *why = NULL;
	char at[16];

	(void)state;
	assert_int_equal(machine_devices_find(".", d, &why), 0);
	assert_string_equal(why, "the system shows no PCI bus");
	put_device("0000:00:01.0", "0x020000\n", "0x8086\n", "0x100e\n");
	assert_int_equal(machine_devices_find(".", d, &why), 0);
	assert_string_equal(why, "there is none on the PCI bus");
	put_device("0000:00:05.0", "0x030200\n", "0x10de\n", "0x2335\n");
	put_device("0000:00:04.0", "0x120000\n", "0x1da3\n", "0x1020\n");
	put_device("0000:00:06.0", "0x038000\n", "0x1002\n", "0x738c\n");
	assert_int_equal(machine_devices_find(".", d, &why), 3);
	assert_string_equal(d[2].text, "AMD, device 0x738c");
	assert_string_equal(d[0].at, "0000:00:04.0");
	assert_string_equal(d[0].text, "vendor 0x1da3, device 0x1020");
	assert_string_equal(d[1].text, "NVIDIA, device 0x2335");
	for (unsigned i = 0; i < MACHINE_DEVICES_MAX; i++) {
		snprintf(at, sizeof at, "0001:00:%02x.0", i);
		put_device(at, "0x030000\n", "0x1002\n", "0x1\n");
	}
	assert_int_equal(machine_devices_find(".", d, &why), MACHINE_DEVICES_MAX);
}

static machine_topology machine(uint64_t l1, uint64_t l2, uint64_t l3, unsigned users,
				uint64_t available)
{
	return (machine_topology){
	    .allowed = users,
	    .cores = users,
	    .ncpus = users,
	    .cache = {{l1, 1, 1, users, 64}, {l2, 1, 1, users, 64}, {l3, users, users, 1, 64}},
	    .available_bytes = available};
}

static void working_sets(void **state)
{
	const machine_topology t = machine(48 * KIB, MIB, 32 * MIB, 2, 24576 * MIB);
	const char *why = NULL;

	(void)state;
	assert_int_equal(machine_level_bytes(&t, MACHINE_L1, 1, false, &why), 24 * KIB);
	assert_int_equal(machine_level_bytes(&t, MACHINE_L2, 1, false, &why), 512 * KIB);
	assert_int_equal(machine_level_bytes(&t, MACHINE_L3, 1, false, &why), 8 * MIB);
	assert_int_equal(machine_level_bytes(&t, MACHINE_L3, 2, false, &why), 8 * MIB);
	assert_int_equal(machine_level_bytes(&t, MACHINE_DRAM, 1, false, &why), 256 * MIB);
	assert_int_equal(machine_level_bytes(&t, MACHINE_DRAM, 1, true, &why), 128 * MIB);
}

static void working_sets_of_many(void **state)
{
	/* 480 MiB of L3, as some virtual machines claim; 64 threads share it. */
	const machine_topology t = machine(48 * KIB, 2 * MIB, 480 * MIB, 64, 262144 * MIB);
	const char *why = NULL;

	(void)state;
	assert_int_equal(machine_level_bytes(&t, MACHINE_L3, 1, false, &why), 16 * MIB);
	/* 2 MiB and half of 7.5 MiB */
	assert_int_equal(machine_level_bytes(&t, MACHINE_L3, 64, false, &why), 5888 * KIB);
	/* Four times the caches would be 1920 MiB, twice is 960. */
	assert_int_equal(machine_level_bytes(&t, MACHINE_DRAM, 1, false, &why), 1024 * MIB);
	/* Memory is scarce: a quarter of it, less than twice the cache. */
	const machine_topology small = machine(48 * KIB, 2 * MIB, 480 * MIB, 64, 1024 * MIB);
	assert_int_equal(machine_level_bytes(&small, MACHINE_DRAM, 1, false, &why), 256 * MIB);
	assert_int_equal(machine_level_bytes(&small, MACHINE_L3, 64, false, &why), 0);
	assert_string_equal(why, "too little memory is free to measure with");
	const machine_topology none = machine(48 * KIB, 2 * MIB, 480 * MIB, 64, 32 * MIB);
	assert_int_equal(machine_level_bytes(&none, MACHINE_DRAM, 1, false, &why), 0);
}

static void levels_that_are_none(void **state)
{
	/* A share of the L3 that is smaller than the L2 adds no level. */
	const machine_topology t = machine(32 * KIB, 2 * MIB, 8 * MIB, 16, 0);
	const machine_topology flat = machine(64 * KIB, 64 * KIB, 0, 1, 0);
	const char *why = NULL;

	(void)state;
	assert_int_equal(machine_level_bytes(&t, MACHINE_L3, 16, false, &why), 0);
	assert_non_null(strstr(why, "hardly larger than its L2"));
	assert_int_equal(machine_level_bytes(&flat, MACHINE_L2, 1, false, &why), 0);
	assert_non_null(strstr(why, "hardly larger than its L1"));
	assert_int_equal(machine_level_bytes(&flat, MACHINE_L3, 1, false, &why), 0);
	assert_non_null(strstr(why, "no L3"));
}

/* Every factor is 1, so the sum of all lanes counts the products: half of the operations. */
static void peaks_count_right(void **state)
{
	const uint32_t isa = machine_isa_find();
	size_t n, tried = 0;
	const machine_peak *all = machine_peaks(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		if (!machine_isa_has(isa, all[i].needs))
			continue;
		tried++;
		for (unsigned k = 0; k < 4; k++) {
			double one = all[i].operations ? all[i].operations / 2.0 : all[i].run(1);
			double got = all[i].run(k);
			if (got != one * k)
				fail_msg("%s %s: %u repetitions make %g, not %g", all[i].isa,
					 machine_type_names[all[i].type], k, got, one * k);
		}
	}
	assert_true(tried > 0 || n == 0);
}

/* The caller of each asserts its row of metrics.def; here: all tags differ. */
static void peaks_are_told_apart(void **state)
{
	size_t n;
	const machine_peak *all = machine_peaks(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(all[i].type == all[k].type && !strcmp(all[i].isa, all[k].isa));
}

enum { DOUBLES = 512, HALF = DOUBLES / 2 };
static _Alignas(64) double a[DOUBLES], b[DOUBLES], c[DOUBLES];

static void arrays_fill(void)
{
	for (int i = 0; i < DOUBLES; i++) {
		a[i] = -1;
		b[i] = i;
		c[i] = 2 * i;
	}
}

/* The value of a[] after a pass over its first half. */
static double expected(machine_stream_kind kind, int i)
{
	return kind == MACHINE_READ || i >= HALF ? -1
	       : kind == MACHINE_COPY		 ? i
	       : kind == MACHINE_TRIAD		 ? 3 * i
						 : 1;
}

static void streams_do_what_they_say(void **state)
{
	const uint32_t isa = machine_isa_find();
	unsigned kinds = 0;
	size_t n;
	const machine_stream *all = machine_streams(&n);

	(void)state;
	for (size_t k = 0; k < n; k++) {
		/* Loops that are skipped for speed must still work. */
		if (!machine_stream_usable(&all[k], isa) && !machine_isa_has(isa, all[k].needs))
			continue;
		kinds |= 1u << all[k].kind;
		for (uint64_t passes = 0; passes < 3; passes++) {
			arrays_fill();
			all[k].run(a, b, c, HALF * sizeof *a, passes);
			for (int i = 0; i < DOUBLES; i++) {
				double want = passes ? expected(all[k].kind, i) : -1;
				if (a[i] != want || b[i] != i || c[i] != 2 * i)
					fail_msg("%s %s: a[%d] is %g, not %g", all[k].isa,
						 machine_stream_names[all[k].kind], i, a[i], want);
			}
		}
	}
	assert_true(kinds & 1u << MACHINE_TRIAD);
	assert_true(HALF * sizeof *a % MACHINE_STREAM_BLOCK == 0);
}

/* A step of the two loops is eight operations. */
static const machine_peak fused[] = {
    {.isa = "fused", .type = MACHINE_FP32, .operations = 32, .steps = 4, .a_cycle = {1, 2}},
    {.isa = "fused", .type = MACHINE_FP64, .operations = 32, .steps = 4, .a_cycle = {1, 2}},
    {.isa = "strange", .type = MACHINE_FP64, .operations = 32},
};

static machine_item *peak_add(machine_result *r, const machine_peak *p, double steps_a_cycle)
{
	machine_item *i = machine_add(r, "peak", 1);

	i->peak = p;
	i->clock_hz = 3e9;
	i->value[0] = steps_a_cycle * 8 * 3e9;
	i->n = 1;
	return i;
}

static void a_peak_is_a_share_of_what_could_be(void **state)
{
	static machine_result r;

	(void)state;
	/* Half the peak of the others: a processor with one unit. */
	const machine_item *one = peak_add(&r, &fused[0], 0.98);
	assert_true(fabs(machine_share(&r, one) - 0.98) < 1e-12);
	/* Another loop of this instruction set shows that the processor has two units. */
	const machine_item *two = peak_add(&r, &fused[1], 1.94);
	assert_true(fabs(machine_share(&r, two) - 0.97) < 1e-12);
	assert_true(fabs(machine_share(&r, one) - 0.49) < 1e-12);
	/* More than any known processor. */
	const machine_item *more = peak_add(&r, &fused[1], 2.2);
	assert_true(fabs(machine_share(&r, more) - 1.1) < 1e-12);
	assert_true(isnan(machine_share(&r, peak_add(&r, &fused[2], 1))));
	r.item[0].clock_hz = 0;
	assert_true(isnan(machine_share(&r, one)));
}

static void chains_are_counted(void **state)
{
	(void)state;
	assert_int_equal(machine_chain(0), 0);
	if (machine_chain(1) > 0)
		assert_int_equal(machine_chain(1000), 16000);
}

static void where_it_is_kept(void **state)
{
	char path[4096], other[4096], few[40];
	dck_err err;

	(void)state;
	setenv("XDG_CACHE_HOME", "/c", 1);
	setenv("HOME", "/h", 1);
	assert_int_equal(machine_keep_path("one", path, sizeof path, &err), DCK_OK);
	assert_string_equal(path, "/c/deepclock/machine-1a08aa1921ca5caf.json");
	assert_int_equal(machine_keep_path("two", other, sizeof other, &err), DCK_OK);
	assert_string_not_equal(path, other);
	assert_int_equal(machine_keep_path("one", few, sizeof few, &err), DCK_E_LIMIT);
	/* The specification ignores relative paths. */
	setenv("XDG_CACHE_HOME", "c", 1);
	assert_int_equal(machine_keep_path("one", path, sizeof path, &err), DCK_OK);
	assert_string_equal(path, "/h/.cache/deepclock/machine-1a08aa1921ca5caf.json");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	assert_int_equal(machine_keep_path("one", path, sizeof path, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "XDG_CACHE_HOME"));
}

static void directories_are_made(void **state)
{
	struct stat st;
	dck_err err;

	(void)state;
	assert_int_equal(os_mkdir_parents("x/y/file", "a test", &err), DCK_OK);
	assert_int_equal(os_mkdir_parents("x/y/file", "a test", &err), DCK_OK);
	assert_int_equal(stat("x/y", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(os_mkdir_parents("/dev/null/x/file", "a test", &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "/dev/null"));
}

int test_machine(void);
int test_machine(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(eight_processors),
	    SCRATCH_TEST(some_of_them),
	    SCRATCH_TEST(the_fastest_kind_of_cores_is_first),
	    SCRATCH_TEST(the_last_of_many),
	    SCRATCH_TEST(a_limit_on_memory_counts),
	    SCRATCH_TEST(nothing_is_told),
	    SCRATCH_TEST(strange_files),
	    SCRATCH_TEST(accelerators_are_found),
	    cmocka_unit_test(working_sets),
	    cmocka_unit_test(working_sets_of_many),
	    cmocka_unit_test(levels_that_are_none),
	    cmocka_unit_test(peaks_count_right),
	    cmocka_unit_test(peaks_are_told_apart),
	    cmocka_unit_test(streams_do_what_they_say),
	    cmocka_unit_test(a_peak_is_a_share_of_what_could_be),
	    cmocka_unit_test(chains_are_counted),
	    cmocka_unit_test(where_it_is_kept),
	    SCRATCH_TEST(directories_are_made),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
