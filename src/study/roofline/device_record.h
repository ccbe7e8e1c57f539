/* device_record.h - the limits of a device as a record: dck_machine() with a device.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOFLINE_DEVICE_RECORD_H
#define ROOFLINE_DEVICE_RECORD_H

#include "deepclock/machine.h"
#include "device/device.h"

/* Opens c->device and measures it. Errors: of device_open(); E_ARG: the null device; E_CANCEL;
 * E_DEVICE. */
dck_status device_record_make(const dck_machine_config *c, const dck_observer *watch,
			      dck_record **ret, dck_err *err);
/* Measures an open device, by a given clock of the host. */
dck_status device_record_measure(const dck_machine_config *c, device *d, const dck_clock *clock,
				 const dck_observer *watch, dck_record **ret, dck_err *err);

#endif
