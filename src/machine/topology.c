/* topology.c - the processors this process may use, and their caches, as Linux reports in
 * /sys/devices/system/cpu (Documentation/ABI/testing/sysfs-devices-system-cpu).
 *
 * Cores are of different kinds if their capacity, or without it their highest clock, differs by a
 * fifth or more; the fastest kind is pinned first.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "os/os.h"
#include "os/file/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 512, LIST_BYTES = 4096 };

static bool cpu_list(const char *root, unsigned cpu, const char *file, bool *ret_in)
{
	char path[PATH_BYTES], list[LIST_BYTES];

	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/%s", root, cpu, file);
	return text_read(path, list, sizeof list) &&
	       os_cpu_list_read(list, ret_in, MACHINE_CPUS_MAX) > 0;
}

/* --- caches */

/* The directory of the cache of that level that holds data; false: none. */
static bool cache_find(const char *root, unsigned cpu, unsigned level, char *ret_file)
{
	char path[PATH_BYTES], type[32];

	for (unsigned i = 0; i < 16; i++) {
		uint64_t v;

		snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/cache/index%u/level", root, cpu,
			 i);
		if (!text_read_uint(path, &v))
			return false;
		snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/cache/index%u/type", root, cpu,
			 i);
		if (v != level || !text_read(path, type, sizeof type) ||
		    strcmp(type, "Instruction") == 0)
			continue;
		snprintf(ret_file, 64, "cache/index%u", i);
		return true;
	}
	return false;
}

/* "48K", "32M", "512" */
static uint64_t size_read(const char *path)
{
	char text[32], *end;

	if (!text_read(path, text, sizeof text))
		return 0;
	uint64_t v = strtoull(text, &end, 10);
	unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	return v > UINT64_MAX >> shift ? 0 : v << shift;
}

static void cache_read(const char *root, machine_topology *t, unsigned n, unsigned level)
{
	machine_cache *c = &t->cache[level - 1];
	bool counted[MACHINE_CPUS_MAX] = {false}, shared[MACHINE_CPUS_MAX];
	char directory[64], file[96], path[PATH_BYTES];
	uint64_t line;

	*c = (machine_cache){0};
	if (n == 0 || !cache_find(root, t->cpu[0], level, directory))
		return;
	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/%s/size", root, t->cpu[0], directory);
	c->bytes = size_read(path);
	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/%s/coherency_line_size", root,
		 t->cpu[0], directory);
	if (text_read_uint(path, &line) && line < 65536)
		c->line_bytes = (unsigned)line;
	for (unsigned i = 0; i < n; i++) {
		if (counted[t->cpu[i]])
			continue;
		c->count++;
		counted[t->cpu[i]] = true;
		if (!cache_find(root, t->cpu[i], level, directory))
			continue;
		snprintf(file, sizeof file, "%s/shared_cpu_list", directory);
		if (!cpu_list(root, t->cpu[i], file, shared))
			continue;
		for (unsigned k = 0; k < MACHINE_CPUS_MAX; k++) {
			counted[k] = counted[k] || shared[k];
			c->shared += i == 0 && shared[k];
		}
		for (unsigned k = 0; i == 0 && k < n; k++)
			c->ours += shared[t->cpu[k]];
	}
	c->ours = c->ours > 0 ? c->ours : 1;
	c->shared = c->shared > 0 ? c->shared : 1;
}

/* --- kinds of cores */

/* Cores that differ by less have the same design, and some are permitted a higher clock. */
#define KINDS_APART 1.2

/* Returns how fast a core is by what the system reports of it, as a number to compare; 0: unknown.
 */
static uint64_t speed_read(const char *root, unsigned cpu, const char *file)
{
	char path[PATH_BYTES];
	uint64_t v = 0;

	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/%s", root, cpu, file);
	return text_read_uint(path, &v) ? v : 0;
}

/* Returns whether the first n of cpu[] are of different kinds. ret_speed: of each of them. */
static bool speeds_differ(const char *root, const machine_topology *t, unsigned n, const char *file,
			  uint64_t *ret_speed)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned i = 0; i < n; i++) {
		ret_speed[i] = speed_read(root, t->cpu[i], file);
		least = ret_speed[i] < least ? ret_speed[i] : least;
		most = ret_speed[i] > most ? ret_speed[i] : most;
	}
	return n > 0 && least > 0 && (double)most >= KINDS_APART * (double)least;
}

/* Puts the fastest kind of cores first, if there are several, and keeps the order of each. */
static void kinds_sort(const char *root, machine_topology *t)
{
	static const char *const files[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq"};
	uint64_t speed[MACHINE_CPUS_MAX];

	for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
		if (!speeds_differ(root, t, t->cores, files[f], speed))
			continue;
		for (unsigned i = 1; i < t->cores; i++) {
			const unsigned cpu = t->cpu[i];
			const uint64_t v = speed[i];
			unsigned k = i;

			for (; k > 0 && (double)v >= KINDS_APART * (double)speed[k - 1]; k--) {
				t->cpu[k] = t->cpu[k - 1];
				speed[k] = speed[k - 1];
			}
			t->cpu[k] = cpu;
			speed[k] = v;
		}
		return;
	}
}

static bool kinds_differ(const char *root, const machine_topology *t, unsigned n)
{
	uint64_t speed[MACHINE_CPUS_MAX];

	return speeds_differ(root, t, n, "cpu_capacity", speed) ||
	       speeds_differ(root, t, n, "cpufreq/cpuinfo_max_freq", speed);
}

/* --- the rest */

void machine_topology_use(const char *root, machine_topology *t, unsigned n)
{
	n = n < t->ncpus ? n : t->ncpus;
	for (unsigned level = 1; level <= MACHINE_CACHES; level++)
		cache_read(root, t, n, level);
	t->uneven = kinds_differ(root, t, n);
}

static unsigned nodes_count(const char *root)
{
	char path[PATH_BYTES], list[LIST_BYTES];
	bool in[MACHINE_CPUS_MAX] = {false};
	unsigned n = 0;

	snprintf(path, sizeof path, "%.200s/sys/devices/system/node/online", root);
	if (!text_read(path, list, sizeof list))
		return 0;
	os_cpu_list_read(list, in, MACHINE_CPUS_MAX);
	for (unsigned i = 0; i < MACHINE_CPUS_MAX; i++)
		n += in[i];
	return n;
}

void machine_topology_read(const char *root, const unsigned *allowed, unsigned nallowed,
			   machine_topology *ret)
{
	char path[PATH_BYTES];

	*ret = (machine_topology){.allowed = nallowed};
	os_cpu_list_show(allowed, nallowed, ret->allowed_list, sizeof ret->allowed_list);
	ret->ncpus = nallowed;
	ret->cores = os_cores_first(root, allowed, nallowed, ret->cpu);
	kinds_sort(root, ret);
	machine_topology_use(root, ret, ret->cores);
	ret->nodes = nodes_count(root);
	ret->available_bytes = os_memory_available(root);
	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/cpufreq/cpuinfo_min_freq", root,
		 ret->cpu[0]);
	text_read_uint(path, &ret->min_khz);
	snprintf(path, sizeof path, "%.200s" OS_CPU_DIR "%u/cpufreq/cpuinfo_max_freq", root,
		 ret->cpu[0]);
	text_read_uint(path, &ret->max_khz);
}

void machine_topology_find(machine_topology *ret)
{
	unsigned cpu[MACHINE_CPUS_MAX] = {0}, n = os_cpus_get(cpu, MACHINE_CPUS_MAX);

	machine_topology_read("", cpu, n > 0 ? n : 1, ret);
}
