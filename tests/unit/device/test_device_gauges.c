/* test_device_gauges.c - readings of NVIDIA's library, of which a double is loaded, and of a tree
 * of files like the kernel's.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/gauges.h"
#include "scratch.h"

int test_device_gauges(void);

static int double_load(const char *prefix)
{
	char path[600];

	snprintf(path, sizeof path, "%s/%slibnvidia-ml.so.1",
		 getenv("DOUBLES") ? getenv("DOUBLES") : "", prefix);
	return dlopen(path, RTLD_NOW) ? 0 : -1;
}

static int settings_clear(void **state)
{
	(void)state;
	unsetenv("NVML_DOUBLE_CLOCKS");
	unsetenv("NVML_DOUBLE_THROTTLE");
	unsetenv("NVML_DOUBLE_PIDS");
	unsetenv("NVML_DOUBLE_MIG");
	unsetenv("NVML_DOUBLE_FAIL");
	return 0;
}

static int double_begin(void **state)
{
	settings_clear(state);
	return double_load("");
}

static device_gauges nvml_read(void)
{
	device_gauges g;
	dck_err err = {0};

	if (nvml_gauges("0000:c1:00.0", &g, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return g;
}

static void test_nvml(void **state)
{
	const device_gauges g = nvml_read();

	(void)state;
	assert_true(g.power_w == 250 && g.clock_hz == 1.98e9 && g.celsius == 61 &&
		    fabs(g.busy_ratio - 0.87) < 1e-9);
	assert_true(g.total_bytes == 64 << 20 && g.free_bytes == 60 << 20 && g.energy_j > 0);
	assert_int_equal(g.throttled, 0);
	assert_string_equal(g.throttled_by, "");
	assert_int_equal(g.others, 0);
}

static void test_absent(void **state)
{
	device_gauges g;
	dck_err err = {0};

	(void)state;
	assert_int_equal(nvml_gauges("0000:c9:00.0", &g, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg,
			    "NVIDIA's management library has no device 0000:c9:00.0: error 6");
	/* A device without these readings. */
	setenv(
	    "NVML_DOUBLE_FAIL",
	    "nvmlDeviceGetPowerUsage=3,nvmlDeviceGetTotalEnergyConsumption=3,"
	    "nvmlDeviceGetClockInfo=3,nvmlDeviceGetTemperature=3,nvmlDeviceGetUtilizationRates=3,"
	    "nvmlDeviceGetMemoryInfo=3,nvmlDeviceGetCurrentClocksEventReasons=3,"
	    "nvmlDeviceGetComputeRunningProcesses_v3=3",
	    1);
	g = nvml_read();
	assert_true(isnan(g.power_w) && isnan(g.energy_j) && isnan(g.clock_hz) &&
		    isnan(g.celsius) && isnan(g.busy_ratio) && isnan(g.free_bytes));
	assert_int_equal(g.throttled, -1);
	assert_int_equal(g.others, -1);
}

static void test_throttled(void **state)
{
	static const struct {
		const char *bits, *name;
	} cases[] = {{"0x4", "power cap"},
		     {"0x20", "temperature"},
		     {"0x48", "temperature, by the hardware"},
		     {"0x88", "power supply"},
		     {"0x8", "hardware"},
		     {"0x400", "reliability"}};

	(void)state;
	setenv("NVML_DOUBLE_CLOCKS", "1980,1410", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("NVML_DOUBLE_THROTTLE", cases[i].bits, 1);
		const device_gauges g = nvml_read();
		assert_true(g.clock_hz == 1.41e9);
		assert_int_equal(g.throttled, 1);
		assert_string_equal(g.throttled_by, cases[i].name);
	}
	/* Clocks that were set, and an idle device, are not throttled. */
	setenv("NVML_DOUBLE_THROTTLE", "0x113", 1);
	assert_int_equal(nvml_read().throttled, 0);
}

/* Readings of the whole GPU are not those of an instance. */
static void test_mig(void **state)
{
	(void)state;
	setenv("NVML_DOUBLE_MIG", "1", 1);
	setenv("NVML_DOUBLE_PIDS", "4711,self", 1);
	const device_gauges g = nvml_read();

	assert_true(g.divided);
	assert_true(isnan(g.power_w) && isnan(g.energy_j) && isnan(g.busy_ratio) &&
		    isnan(g.free_bytes) && isnan(g.total_bytes));
	assert_int_equal(g.others, -1);
	assert_true(g.clock_hz == 1.98e9 && g.celsius == 61 && g.throttled == 0);
}

static void test_others(void **state)
{
	(void)state;
	setenv("NVML_DOUBLE_PIDS", "self", 1);
	assert_int_equal(nvml_read().others, 0);
	setenv("NVML_DOUBLE_PIDS", "4711,self,4712", 1);
	assert_int_equal(nvml_read().others, 2);
	/* In a container, this process may be any of them. */
	setenv("NVML_DOUBLE_PIDS", "4711", 1);
	assert_int_equal(nvml_read().others, -1);
	setenv("NVML_DOUBLE_PIDS", "4711,4712", 1);
	assert_int_equal(nvml_read().others, 1);
}

/* In a separate process, because the library stays loaded. */
static void child_run(bool (*f)(void))
{
	int status = -1;
	const pid_t child = fork();

	if (child == 0)
		_exit(!f());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static bool old_reads(void)
{
	device_gauges g;

	return double_load("old-") == 0 && setenv("NVML_DOUBLE_CLOCKS", "1980,1410", 1) == 0 &&
	       setenv("NVML_DOUBLE_THROTTLE", "0x4", 1) == 0 &&
	       nvml_gauges("0000:c0:00.0", &g, NULL) == DCK_OK && g.throttled == 0 &&
	       nvml_gauges("0000:c0:00.0", &g, NULL) == DCK_OK && g.throttled == 1 &&
	       strcmp(g.throttled_by, "power cap") == 0;
}

static bool refused(void)
{
	device_gauges g;
	dck_err err = {0};

	return double_load("") == 0 && setenv("NVML_DOUBLE_FAIL", "nvmlInit_v2=9", 1) == 0 &&
	       nvml_gauges("0000:c0:00.0", &g, &err) == DCK_E_ABSENT &&
	       strcmp(err.msg, "'libnvidia-ml.so.1' cannot be used: error 9") == 0;
}

/* An old release has the reasons of a clock under the old name. */
static void test_old(void **state)
{
	(void)state;
	child_run(old_reads);
	child_run(refused);
}

static void file(const char *path, const char *text)
{
	char command[600];

	snprintf(command, sizeof command, "mkdir -p $(dirname %s) && echo %s > %s", path, text,
		 path);
	assert_int_equal(system(command), 0);
}

static void test_sysfs(void **state)
{
	device_gauges g;
	dck_err err = {0};

	(void)state;
	file("sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3/power1_average", "212000000");
	file("sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3/temp1_input", "58500");
	file("sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon3/freq1_input", "2304000000");
	file("sys/bus/pci/devices/0000:03:00.0/gpu_busy_percent", "97");
	file("sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "16000000000");
	file("sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used", "6000000000");
	assert_int_equal(sysfs_gauges(".", "0000:03:00.0", &g, &err), DCK_OK);
	assert_true(g.power_w == 212 && g.celsius == 58.5 && g.clock_hz == 2.304e9);
	assert_true(fabs(g.busy_ratio - 0.97) < 1e-9 && g.total_bytes == 16e9 &&
		    g.free_bytes == 10e9 && isnan(g.energy_j));
	assert_int_equal(g.throttled, -1);
	assert_int_equal(g.others, -1);
	/* A driver with an energy counter. */
	file("sys/bus/pci/devices/0000:04:00.0/hwmon/hwmon4/energy1_input", "1500000");
	assert_int_equal(sysfs_gauges(".", "0000:04:00.0", &g, &err), DCK_OK);
	assert_true(g.energy_j == 1.5 && isnan(g.power_w) && isnan(g.free_bytes));
	file("sys/bus/pci/devices/0000:05:00.0/class", "0x030000");
	assert_int_equal(sysfs_gauges(".", "0000:05:00.0", &g, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg, "the kernel has no sensors of the device 0000:05:00.0");
}

static dck_status own_gauges(device *d, device_gauges *ret, dck_err *err)
{
	(void)d;
	(void)err;
	ret->clock_hz = 5e8;
	return DCK_OK;
}

/* What the driver reads stays; the library adds the rest. */
static void test_combined(void **state)
{
	const device_driver driver = {.name = "own", .gauges = own_gauges}, none = {.name = "none"};
	device d = {.driver = &driver, .info = {.pci = "0000:c0:00.0"}};
	device_gauges g;

	(void)state;
	device_gauges_read(&d, &g);
	assert_true(g.clock_hz == 5e8 && g.power_w == 250);
	assert_int_equal(g.throttled, 0);
	d = (device){.driver = &none};
	device_gauges_read(&d, &g);
	assert_true(isnan(g.clock_hz) && isnan(g.power_w));
	assert_int_equal(g.throttled, -1);
}

#define CASE(f) cmocka_unit_test_setup(f, double_begin)

int test_device_gauges(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_old, settings_clear), /* before a library is loaded */
	    CASE(test_nvml),
	    CASE(test_absent),
	    CASE(test_throttled),
	    CASE(test_mig),
	    CASE(test_others),
	    CASE(test_sysfs),
	    CASE(test_combined),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
