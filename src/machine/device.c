/* device.c - GPUs and other accelerators on the PCI bus: that they are there, and whose they are.
 * What they can do is not measured.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "os/text.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PCI Code and ID Assignment Specification: base class and subclass. */
static bool is_accelerator(unsigned long class)
{
	static const unsigned long known[] = {0x0300 /* VGA */, 0x0302 /* 3D */, 0x1200};

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

static unsigned long number(const char *folder, const char *device, const char *file)
{
	char path[512], text[32];

	snprintf(path, sizeof path, "%.300s/%.60s/%s", folder, device, file);
	return text_read(path, text, sizeof text) ? strtoul(text, NULL, 16) : 0;
}

unsigned machine_devices_find(const char *root, machine_device ret[MACHINE_DEVICES_MAX],
			      const char **ret_why)
{
	char folder[320];
	struct dirent **names;
	unsigned n = 0;

	snprintf(folder, sizeof folder, "%.200s/sys/bus/pci/devices", root);
	int found = scandir(folder, &names, NULL, alphasort);
	if (found < 0) {
		*ret_why = "the system shows no PCI bus";
		return 0;
	}
	for (int i = 0; i < found; i++) {
		const char *at = names[i]->d_name;
		if (at[0] != '.' && n < MACHINE_DEVICES_MAX &&
		    is_accelerator(number(folder, at, "class"))) {
			const unsigned long vendor = number(folder, at, "vendor");
			const unsigned long device = number(folder, at, "device");
			const char *name = vendor_name(vendor);
			snprintf(ret[n].at, sizeof ret[n].at, "%.31s", at);
			if (name)
				snprintf(ret[n].text, sizeof ret[n].text, "%s, device 0x%04lx",
					 name, device);
			else
				snprintf(ret[n].text, sizeof ret[n].text,
					 "vendor 0x%04lx, device 0x%04lx", vendor, device);
			n++;
		}
		free(names[i]);
	}
	free(names);
	*ret_why = "there is none on the PCI bus";
	return n;
}
