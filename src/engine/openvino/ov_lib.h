/* ov_lib.h - loads and checks OpenVINO's library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_OPENVINO_OV_LIB_H
#define ENGINE_OPENVINO_OV_LIB_H

#include "engine/library_find.h"
#include "engine/openvino/ov_api.h"
#include "os/os.h"

typedef struct ov_lib {
	ov_api api;
	os_library *library;
	const char *how; /* source in library_find() */
	char build[64];	 /* "2026.4.0-22959-99c81491cc3-releases/2026/4" */
	char version[24];
	ov_core *core;
} ov_lib;

extern const library_kind openvino_library;

/* Opens the library and a core. asked: a file or directory; NULL: searches. log and log_self
 * receive the files that were skipped. The search allocates in `a`. E_ABSENT, E_VERSION, E_FORMAT,
 * E_ENGINE. */
dck_status ov_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, ov_lib *ret,
		       dck_err *err);
/* The library stays in the process, because its threads do. */
void ov_lib_close(ov_lib *l);

/* Returns DCK_OK for 0, else E_ENGINE with "<fmt>: <the library's message>" and the status as
 * native_code. */
dck_status ov_check(const ov_lib *l, int status, dck_err *err, const char *fmt, ...)
    DCK_PRINTF(4, 5);

/* Copies the library's message without source locations. */
void ov_sentence(const char *text, char *buf, size_t size);

/* Return the type of a number of OpenVINO (DCK_DTYPE_OTHER: the host has none), and the number of a
 * type (0: none). */
dck_dtype ov_dtype_of(int type);
int ov_dtype_number(dck_dtype t);

/* Returns a property of a device in `a`; NULL: it has none. */
const char *ov_device_property(const ov_lib *l, const char *device, const char *key, mem_arena *a);
/* Returns the names of the devices here, separated by ", ", in `a`; NULL: no memory. */
const char *ov_devices_text(const ov_lib *l, mem_arena *a);

#endif
