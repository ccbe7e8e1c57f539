/* device.c - lists GPUs and other accelerators on the PCI bus with their vendors. Their performance
 * is not measured.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "os/os.h"
#include "os/file/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI Code and ID Assignment Specification: base class and subclass. */
static bool is_accelerator(unsigned long class)
{
	/* Display controllers: VGA, 3D, others, as AMD's and Intel's without an output for a
	 * screen; processing accelerators. */
	static const unsigned long known[] = {0x0300, 0x0302, 0x0380, 0x1200};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (class >> 8 == known[i])
			return true;
	return false;
}

static const char *vendor_name(unsigned long vendor)
{
	static const struct {
		unsigned long id;
		const char *name;
	} known[] = {{0x10de, "NVIDIA"}, {0x1002, "AMD"}, {0x8086, "Intel"}, {0x1ae0, "Google"}};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].id == vendor)
			return known[i].name;
	return NULL;
}

static unsigned long device_number(const char *device, const char *file)
{
	char path[512], text[32];

	snprintf(path, sizeof path, "%.400s/%s", device, file);
	return text_read(path, text, sizeof text) ? strtoul(text, NULL, 16) : 0;
}

typedef struct device_list {
	machine_device *device;
	unsigned n;
} device_list;

static void device_append(void *self, const char *path)
{
	device_list *l = self;

	if (l->n == MACHINE_DEVICES_MAX || !is_accelerator(device_number(path, "class")))
		return;
	const unsigned long vendor = device_number(path, "vendor"),
			    device = device_number(path, "device");
	const char *name = vendor_name(vendor);
	machine_device *d = &l->device[l->n++];
	snprintf(d->at, sizeof d->at, "%.31s", strrchr(path, '/') + 1);
	if (name)
		snprintf(d->text, sizeof d->text, "%s, device 0x%04lx", name, device);
	else
		snprintf(d->text, sizeof d->text, "vendor 0x%04lx, device 0x%04lx", vendor, device);
}

unsigned machine_devices_find(const char *root, machine_device ret[MACHINE_DEVICES_MAX],
			      const char **ret_why)
{
	device_list l = {.device = ret};
	char directory[320];

	snprintf(directory, sizeof directory, "%.200s/sys/bus/pci/devices", root);
	os_glob_each(directory, "*", device_append, &l);
	*ret_why = os_path_kind(directory, NULL) == OS_DIRECTORY ? "there is none on the PCI bus"
								 : "the system shows no PCI bus";
	return l.n;
}
