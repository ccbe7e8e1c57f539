/* gauges.h - where the readings of a device come from: its driver, NVIDIA's management library, or
 * files of /sys. device_gauges_read() (device.h) combines them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_GAUGES_H
#define DEVICE_GAUGES_H

#include "device/device.h"

#include <math.h>

/* Gauges of which all are absent. */
#define DEVICE_GAUGES_NONE                   \
	((device_gauges){.power_w = NAN,     \
			 .energy_j = NAN,    \
			 .clock_hz = NAN,    \
			 .celsius = NAN,     \
			 .busy_ratio = NAN,  \
			 .free_bytes = NAN,  \
			 .total_bytes = NAN, \
			 .throttled = -1,    \
			 .others = -1})

/* Reads the gauges of the GPU with that PCI address, "0000:41:00.0". E_ABSENT: no library or no
 * such device. Single readings that the device does not have are absent. */
dck_status nvml_gauges(const char *pci, device_gauges *ret, dck_err *err);
/* The same of the kernel's files, of AMD's and Intel's drivers, below `root`, "" of this machine.
 */
dck_status sysfs_gauges(const char *root, const char *pci, device_gauges *ret, dck_err *err);

/* Opens the device that an engine uses, with a name as for --device: "cuda:1" of the providers of
 * CUDA and ROCm. It allocates no device memory. E_UNSUP: the provider does not report its device.
 * The caller closes it. */
dck_status device_gauges_open(const char *text, device **ret, dck_err *err);

/* Return whether there is a GPU with such gauges, whichever it is. */
bool nvml_has_device(void);
bool sysfs_has_device(const char *root);
/* Returns whether there is one with gauges of either. */
bool device_gauges_exist(const char *root);

#endif
