/* cpu.c - describes the machine: processor, kernel, hypervisor, limits, frequency governor.
 *
 * os_host_get() reads one source after another: /proc/cpuinfo, cpuid, os-release(5), uname(2), the
 * control group's limits (cgroup.c), cpufreq and SMT in /sys. The sources are independent: one that
 * is missing or unreadable leaves its field "", 0 or -1, which means not known, and nothing fails.
 * The name of a processor without a number in it is completed by family, model and stepping.
 *
 * Texts are read into fixed buffers on the stack and cut; nothing is allocated. It reads a file for
 * each processor and may trap into the hypervisor, so it is never called while a clock runs.
 *
 * Sources: proc_cpuinfo(5); Documentation/ABI/testing/sysfs-devices-system-cpu and
 * Documentation/arch/x86/xstate.rst of Linux; the hypervisor's range of cpuid is from 0x40000000 on
 * by convention.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include "os/counters/cgroup.h"
#include "os/file/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* --- the processor's name */

/* Copies the value after "key : " in /proc/cpuinfo; "" when it is missing. */
static void cpuinfo_field(const char *text, const char *key, char *ret, size_t size)
{
	size_t n = strlen(key);
	ret[0] = '\0';
	for (const char *p = text; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		if (strncmp(p, key, n))
			continue;
		const char *v = p + n + strspn(p + n, " \t");
		if (*v != ':')
			continue;
		v += 1 + strspn(v + 1, " \t");
		size_t len = strcspn(v, "\n");
		snprintf(ret, size, "%.*s", (int)(len < size ? len : size - 1), v);
		return;
	}
}

/* Copies the processor's name. A virtual machine often shows a family's name only ("Intel Xeon
 * Processor"); the numbers after it still show the generation. */
static void cpu_name(const char *cpuinfo, char *ret, size_t size)
{
	static const struct {
		const char *key, *word;
	} parts[] = {
	    {"vendor_id", ""},
	    {"cpu family", "family "},
	    {"model", "model "},
	    {"stepping", "stepping "},
	    {"CPU implementer", "implementer "},
	    {"CPU part", "part "},
	    {"CPU revision", "revision "},
	};
	char name[96], detail[160] = "", value[48];
	size_t at = 0;
	cpuinfo_field(cpuinfo, "model name", name, sizeof name);
	if (strpbrk(name, "0123456789")) {
		text_copy(ret, size, name);
		return;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof *parts; i++) {
		cpuinfo_field(cpuinfo, parts[i].key, value, sizeof value);
		if (!*value || at >= sizeof detail - 1)
			continue;
		int n = snprintf(detail + at, sizeof detail - at, "%s%s%s", at ? " " : "",
				 parts[i].word, value);
		at += n > 0 ? (size_t)n : 0;
	}
	if (*name && *detail)
		snprintf(ret, size, "%.60s (%.60s)", name, detail);
	else
		text_copy(ret, size, *name ? name : detail);
}

/* --- the rest of the machine */

static void os_name(char *ret, size_t size)
{
	char buf[4096], *at = buf, *line;
	if (!text_read("/etc/os-release", buf, sizeof buf) &&
	    !text_read("/usr/lib/os-release", buf, sizeof buf))
		return;
	while ((line = text_line(&at))) {
		if (strncmp(line, "PRETTY_NAME=", 12))
			continue;
		char *v = line + 12;
		size_t n = strlen(v);
		if (n >= 2 && (*v == '"' || *v == '\'') && v[n - 1] == *v) {
			v[n - 1] = '\0';
			v++;
		}
		text_copy(ret, size, v);
		return;
	}
}

/* Reads the signature that every hypervisor leaves in cpuid leaf 0x40000000. */
static void hypervisor_signature(char ret[13])
{
	unsigned a = 0, part[3] = {0};

	ret[0] = '\0';
#if defined(__x86_64__)
	__cpuid(0x40000000, a, part[0], part[1], part[2]);
#endif
	if (a >= 0x40000000) {
		memcpy(ret, part, 12);
		ret[12] = '\0';
	}
}

static void hypervisor_name(const char *cpuinfo, char *ret, size_t size)
{
	static const struct {
		const char *signature, *name;
	} known[] = {
	    {"KVMKVMKVM", "KVM"},	   {"Microsoft Hv", "Hyper-V"},
	    {"VMwareVMware", "VMware"},	   {"XenVMMXenVMM", "Xen"},
	    {"bhyve bhyve ", "bhyve"},	   {"TCGTCGTCGTCG", "QEMU"},
	    {" lrpepyh  vr", "Parallels"}, {"VBoxVBoxVBox", "VirtualBox"},
	    {"ACRNACRNACRN", "ACRN"},
	};
	char flags[4096], signature[13];
	if (text_read("/sys/hypervisor/type", ret, size) && *ret && strcmp(ret, "none"))
		return;
	ret[0] = '\0';
	cpuinfo_field(cpuinfo, "flags", flags, sizeof flags);
	if (!strstr(flags, " hypervisor"))
		return;
	hypervisor_signature(signature);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (!strcmp(known[i].signature, signature)) {
			text_copy(ret, size, known[i].name);
			return;
		}
	}
	if (!text_read("/sys/class/dmi/id/sys_vendor", ret, size) || !*ret)
		text_copy(ret, size, "unknown");
}

/* Copies the governor of the CPUs we may use; "mixed" when they differ. */
static void governor_name(char *ret, size_t size)
{
	unsigned cpu[OS_CPUS_MAX];
	const unsigned n = os_cpus_get(cpu, OS_CPUS_MAX);
	for (unsigned i = 0; i < n; i++) {
		char path[96], one[32];
		snprintf(path, sizeof path, OS_CPU_DIR "%u/cpufreq/scaling_governor", cpu[i]);
		if (!text_read(path, one, sizeof one))
			return;
		if (*ret && strcmp(ret, one)) {
			text_copy(ret, size, "mixed");
			return;
		}
		text_copy(ret, size, one);
	}
}

static int read_switch(const char *path, bool inverted)
{
	uint64_t v;
	if (!text_read_uint(path, &v) || v > 1)
		return -1;
	return inverted ? v == 0 : v == 1;
}

void os_host_get(os_host *ret)
{
	os_host h = {0};
	char cpuinfo[16384] = "";
	struct utsname u;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	cgroup_limits limits;

	text_read("/proc/cpuinfo", cpuinfo, sizeof cpuinfo);
	cpu_name(cpuinfo, h.cpu, sizeof h.cpu);
	hypervisor_name(cpuinfo, h.hypervisor, sizeof h.hypervisor);
	os_name(h.os, sizeof h.os);
	if (uname(&u) == 0)
		snprintf(h.kernel, sizeof h.kernel, "%.30s %.40s %.20s", u.sysname, u.release,
			 u.machine);
	h.cpus_online = n > 0 ? (unsigned)n : 0;
	h.cpus_allowed = os_cpus_allowed();
	cgroup_read("", &limits);
	h.cgroup_cpus = limits.cpus;
	h.cgroup_memory_bytes = limits.memory_bytes;
	governor_name(h.governor, sizeof h.governor);
	h.turbo = read_switch("/sys/devices/system/cpu/intel_pstate/no_turbo", true);
	if (h.turbo < 0)
		h.turbo = read_switch("/sys/devices/system/cpu/cpufreq/boost", false);
	h.smt = read_switch("/sys/devices/system/cpu/smt/active", false);
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	if (pages > 0 && page > 0)
		h.memory_bytes = (uint64_t)pages * (uint64_t)page;
	text_read_uint(OS_CPU_DIR "0/cpufreq/cpuinfo_min_freq", &h.min_khz);
	text_read_uint(OS_CPU_DIR "0/cpufreq/cpuinfo_max_freq", &h.max_khz);
	*ret = h;
}

bool os_amx_allow(void)
{
#if defined(__x86_64__)
	/* Linux grants tile data (feature 18) to processes that request it:
	 * Documentation/arch/x86/xstate.rst. */
	enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
	return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
	return false;
#endif
}

unsigned long os_hwcap(bool second)
{
	return getauxval(second ? AT_HWCAP2 : AT_HWCAP);
}

void os_boot_id(char ret[40])
{
	if (!text_read("/proc/sys/kernel/random/boot_id", ret, 40))
		ret[0] = '\0';
}

void os_machine_name(char *ret, size_t size)
{
	if (size == 0)
		return;
	if (gethostname(ret, size) != 0 || ret[0] == '\0')
		snprintf(ret, size, "localhost");
	ret[size - 1] = '\0';
	for (char *p = ret; *p; p++)
		*p = *p == '/' ? '-' : *p;
}
