/* ort_setup.h - reads the options of the engine 'ort' and applies them to a session.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_SETUP_H
#define ENGINE_ORT_SETUP_H

#include "engine/ort/ort_lib.h"

extern const dck_engine_option ort_engine_options[];

/* All settings, defaults included. Texts are borrowed from the parameters. */
typedef struct ort_setup {
	uint64_t threads, interop_threads;
	bool parallel, flush_denormals;
	const char *opt, *spin, *spin_interop;
	const char *provider;
	unsigned device;	      /* of that provider */
	const char *provider_library; /* NULL: searched */
	bool transfers;		      /* each run copies inputs to the device and outputs back */
} ort_setup;

/* Reads options and device; warns through p->log of more threads than processors. E_ARG. */
dck_status ort_setup_read(const dck_open_params *p, ort_setup *ret, dck_err *err);
/* Sets all options except the provider in *o. */
dck_status ort_setup_apply(const ort_lib *l, const ort_setup *s, const dck_open_params *p,
			   ort_options *o, dck_err *err);

#endif
