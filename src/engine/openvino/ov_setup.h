/* ov_setup.h - options of the engine 'openvino'.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_OPENVINO_OV_SETUP_H
#define ENGINE_OPENVINO_OV_SETUP_H

#include "engine/openvino/ov_lib.h"

extern const dck_engine_option ov_engine_options[]; /* ended by key NULL */

typedef struct ov_setup {
	const char *device; /* by OpenVINO's name: "CPU", "AUTO:GPU,CPU"; in the arena */
	uint64_t threads;
	bool open_shapes; /* compile for any size of open dimensions */
} ov_setup;

/* Reads p->device and p->options, whose keys are checked already. E_ARG. */
dck_status ov_setup_read(const dck_open_params *p, mem_arena *a, ov_setup *ret, dck_err *err);
/* Sets the options as properties of the device. E_ABSENT: the device is not here. */
dck_status ov_setup_apply(const ov_lib *l, const ov_setup *s, const dck_open_params *p,
			  mem_arena *a, dck_err *err);

#endif
