/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "device/gauges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fill(double *to, double from)
{
	if (isnan(*to))
		*to = from;
}

/* Adds the gauges of `from` that `to` lacks. */
static void gauges_fill(device_gauges *to, const device_gauges *from)
{
	fill(&to->power_w, from->power_w);
	fill(&to->energy_j, from->energy_j);
	fill(&to->clock_hz, from->clock_hz);
	fill(&to->celsius, from->celsius);
	fill(&to->busy_ratio, from->busy_ratio);
	fill(&to->free_bytes, from->free_bytes);
	fill(&to->total_bytes, from->total_bytes);
	if (to->throttled < 0) {
		to->throttled = from->throttled;
		memcpy(to->throttled_by, from->throttled_by, sizeof to->throttled_by);
	}
	if (to->others < 0)
		to->others = from->others;
	to->divided |= from->divided;
}

void device_gauges_read(device *d, device_gauges *ret)
{
	device_gauges more = DEVICE_GAUGES_NONE;

	*ret = more;
	if (d->driver->gauges && d->driver->gauges(d, ret, NULL) != DCK_OK)
		*ret = more;
	if (d->info.pci[0] && (nvml_gauges(d->info.pci, &more, NULL) == DCK_OK ||
			       sysfs_gauges("", d->info.pci, &more, NULL) == DCK_OK))
		gauges_fill(ret, &more);
}

dck_status device_gauges_open(const char *text, device **ret, dck_err *err)
{
	static const struct {
		const char *provider, *driver;
	} known[] = {{"cuda", "cuda"},
		     {"tensorrt", "cuda"},
		     {"nvtensorrtrtx", "cuda"},
		     {"rocm", "hip"},
		     {"migraphx", "hip"}};
	const size_t n = strcspn(text, ":");
	char name[32];

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strlen(known[i].provider) != n || strncmp(known[i].provider, text, n) != 0)
			continue;
		snprintf(name, sizeof name, "%s%.20s", known[i].driver, text + n);
		return device_open(name, ret, err);
	}
	DCK_FAIL(err, E_UNSUP, "it is not known which device '%.32s' is", text);
}

bool device_gauges_exist(const char *root)
{
	return nvml_has_device() || sysfs_has_device(root);
}
