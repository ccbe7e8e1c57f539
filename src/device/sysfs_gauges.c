/* sysfs_gauges.c - gauges from the files of the kernel's drivers of AMD's and Intel's GPUs: hwmon
 * (power in uW, energy in uJ, temperature in mC, frequency in Hz), and amdgpu's own.
 *
 * No file here gives the reason for a reduced clock or the processes that use the device.
 *
 * Source: Linux, Documentation/hwmon/sysfs-interface.rst and gpu/amdgpu/thermal.rst.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "device/gauges.h"
#include "os/file/text.h"
#include "os/os.h"

#include <math.h>
#include <stdio.h>

/* Reads a number times `unit` if the gauge is still absent. */
static void number_read(const char *directory, const char *file, double unit, double *ret)
{
	char path[600];
	uint64_t value;

	snprintf(path, sizeof path, "%.500s/%s", directory, file);
	if (isnan(*ret) && text_read_uint(path, &value))
		*ret = (double)value * unit;
}

static void hwmon_read(void *self, const char *directory)
{
	device_gauges *g = self;

	number_read(directory, "power1_average", 1e-6, &g->power_w);
	number_read(directory, "power1_input", 1e-6, &g->power_w);
	number_read(directory, "energy1_input", 1e-6, &g->energy_j);
	number_read(directory, "temp1_input", 1e-3, &g->celsius);
	number_read(directory, "freq1_input", 1, &g->clock_hz);
}

dck_status sysfs_gauges(const char *root, const char *pci, device_gauges *ret, dck_err *err)
{
	device_gauges g = DEVICE_GAUGES_NONE;
	double used = NAN;
	char directory[400], hwmon[420];

	snprintf(directory, sizeof directory, "%.300s/sys/bus/pci/devices/%.32s", root, pci);
	snprintf(hwmon, sizeof hwmon, "%s/hwmon", directory);
	if (os_path_kind(hwmon, NULL) != OS_DIRECTORY)
		DCK_FAIL(err, E_ABSENT, "the kernel has no sensors of the device %s", pci);
	os_glob_each(hwmon, "hwmon*", hwmon_read, &g);
	number_read(directory, "gpu_busy_percent", 0.01, &g.busy_ratio);
	number_read(directory, "mem_info_vram_total", 1, &g.total_bytes);
	number_read(directory, "mem_info_vram_used", 1, &used);
	if (g.total_bytes >= used)
		g.free_bytes = g.total_bytes - used;
	*ret = g;
	return DCK_OK;
}

static void sensors_find(void *self, const char *directory)
{
	char path[600];
	uint64_t n;

	snprintf(path, sizeof path, "%.500s/mem_info_vram_total", directory);
	if (text_read_uint(path, &n))
		*(bool *)self = true;
}

bool sysfs_has_device(const char *root)
{
	char directory[400];
	bool found = false;

	snprintf(directory, sizeof directory, "%.300s/sys/bus/pci/devices", root);
	os_glob_each(directory, "*", sensors_find, &found);
	return found;
}
