/* ov_lib.c - loads OpenVINO's C library with dlopen(), looks up its functions and opens a core.
 *
 * library_load() finds the file; ov_load() tries one. The name of the library has its version
 * (libopenvino_c.so.2640), and plug-ins, readers of formats and the thread library are in the same
 * directory, where it finds them itself.
 *
 * Its binary interface has element types as numbers, which older releases count otherwise.
 * types_check() compares the sizes that the library gives for them; a shift by one does not pass.
 *
 * Workers of the thread library may run after a core is freed, so the library is never unloaded. A
 * model has a separate core, since options are set on it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/openvino/ov_lib.h"

#include "base/err.h"
#include "engine/engine.h"
#include "engine/runtime_model.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_OLDEST 2025u

const library_kind openvino_library = {
    .runtime = "OpenVINO",
    .file = "libopenvino_c.so*",
    .package = "openvino/libs/",
    .inside = (const char *const[]){"", "libs/", "lib/", "lib64/", "openvino/libs/",
				    "runtime/lib/intel64/", "runtime/lib/aarch64/", NULL},
    .variables = (const char *const[]){"DEEPCLOCK_OPENVINO", NULL},
    .python = "DEEPCLOCK_PYTHON_OPENVINO",
    .own = "openvino",
    .loader = (const char *const[]){"libopenvino_c.so", NULL},
    .system = (const char *const[]){"usr/local/lib/libopenvino_c.so*", "usr/lib/libopenvino_c.so*",
				    "usr/lib64/libopenvino_c.so*",
				    "usr/lib/*-linux-gnu/libopenvino_c.so*", NULL},
};

/* --- errors */

/* Begins advice for a developer, until the end of the message. */
static const char advice[] = "Please check that model format";

/* "Check 'f(x)' failed at src/core/src/model.cpp:12:" and "Exception from src/x.cpp:7:" */
static bool line_is_source(const char *line, size_t n)
{
	static const char *const begins[] = {"Exception from ", "Check '", "FrontEnd API failed"};

	for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
		if (n > strlen(begins[i]) && line[n - 1] == ':' &&
		    strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

void ov_sentence(const char *text, char *buf, size_t size)
{
	size_t used = 0;

	for (const char *line = text; *line;) {
		const size_t n = strcspn(line, "\n");
		const char *cut = memmem(line, n, advice, sizeof advice - 1);
		size_t end = cut ? (size_t)(cut - line) : n;

		while (end > 0 && isspace((unsigned char)line[end - 1]))
			end--;
		if (end > 0 && !line_is_source(line, end)) {
			for (size_t i = 0; i < end && used + 2 < size; i++) {
				const char c = isspace((unsigned char)line[i]) ? ' ' : line[i];
				if (i == 0 && used > 0)
					buf[used++] = ' ';
				if (used + 1 < size &&
				    (c != ' ' || (used > 0 && buf[used - 1] != ' ')))
					buf[used++] = c;
			}
		}
		line += n + (line[n] == '\n');
	}
	while (used > 0 && (buf[used - 1] == ' ' || buf[used - 1] == '.'))
		used--;
	buf[used] = '\0';
}

dck_status ov_check(const ov_lib *l, int status, dck_err *err, const char *fmt, ...)
{
	char sentence[300], what[RUNTIME_WHAT];
	const char *text;
	va_list ap;

	if (status == 0)
		return DCK_OK;
	va_start(ap, fmt);
	runtime_what(what, fmt, ap);
	va_end(ap);
	text = l->api.get_last_err_msg();
	ov_sentence(text ? text : "", sentence, sizeof sentence);
	l->api.free(text);
	ERR_SET(err, E_ENGINE, "%s: %s", what, *sentence ? sentence : "OpenVINO gives no reason");
	return err_native(DCK_E_ENGINE, status, err);
}

/* --- types */

static const engine_type ov_types[] = {
    {OV_BOOLEAN, {DCK_DTYPE_BOOL, 8, 1}}, {OV_BF16, {DCK_DTYPE_BFLOAT, 16, 1}},
    {OV_F16, {DCK_DTYPE_FLOAT, 16, 1}},	  {OV_F32, {DCK_DTYPE_FLOAT, 32, 1}},
    {OV_F64, {DCK_DTYPE_FLOAT, 64, 1}},	  {OV_I8, {DCK_DTYPE_INT, 8, 1}},
    {OV_I16, {DCK_DTYPE_INT, 16, 1}},	  {OV_I32, {DCK_DTYPE_INT, 32, 1}},
    {OV_I64, {DCK_DTYPE_INT, 64, 1}},	  {OV_U8, {DCK_DTYPE_UINT, 8, 1}},
    {OV_U16, {DCK_DTYPE_UINT, 16, 1}},	  {OV_U32, {DCK_DTYPE_UINT, 32, 1}},
    {OV_U64, {DCK_DTYPE_UINT, 64, 1}},
};
#define TYPES (sizeof ov_types / sizeof *ov_types)

dck_dtype ov_dtype_of(int type)
{
	return engine_type_of(ov_types, TYPES, type);
}

int ov_dtype_number(dck_dtype t)
{
	return engine_type_number(ov_types, TYPES, t);
}

static dck_status types_check(const ov_lib *l, dck_err *err)
{
	int64_t dim[1] = {1};

	for (size_t i = 0; i < TYPES; i++) {
		ov_tensor *t = NULL;
		size_t bytes = 0;

		if (l->api.tensor_create(ov_types[i].number, (ov_shape){1, dim}, &t) == 0) {
			if (l->api.tensor_get_byte_size(t, &bytes) != 0)
				bytes = 0;
			l->api.tensor_free(t);
		}
		if (bytes != dck_dtype_bytes(ov_types[i].type))
			DCK_FAIL(err, E_VERSION,
				 "'%s' (OpenVINO %s) numbers element types otherwise than 2025.4 "
				 "to 2026.4, which are known here",
				 os_library_path(l->library), l->version);
	}
	return DCK_OK;
}

/* --- loading */

static dck_status ov_functions_find(ov_lib *l, dck_err *err)
{
#define X(name, result, parameters)                                                 \
	if (!os_library_function(l->library, "ov_" #name, &l->api.name))            \
		DCK_FAIL(err, E_FORMAT,                                             \
			 "'%s' is not OpenVINO of %u or newer: it does not export " \
			 "ov_" #name "()",                                          \
			 os_library_path(l->library), YEAR_OLDEST);
	OV_FUNCTIONS(X)
#undef X
	return DCK_OK;
}

static dck_status ov_version_read(ov_lib *l, dck_err *err)
{
	ov_version v = {NULL, NULL};
	unsigned year = 0;

	DCK_TRY(ov_check(l, l->api.get_openvino_version(&v), err,
			 "cannot read the version of OpenVINO"));
	snprintf(l->build, sizeof l->build, "%s", v.build ? v.build : "");
	l->api.version_free(&v);
	snprintf(l->version, sizeof l->version, "%.*s", (int)strcspn(l->build, "-"), l->build);
	if (sscanf(l->version, "%u.", &year) != 1)
		DCK_FAIL(err, E_FORMAT, "'%s' gives '%s' as OpenVINO's version",
			 os_library_path(l->library), l->build);
	if (year < YEAR_OLDEST)
		DCK_FAIL(err, E_VERSION,
			 "'%s' is OpenVINO %s, which is too old: %u or newer is needed",
			 os_library_path(l->library), l->version, YEAR_OLDEST);
	return DCK_OK;
}

/* Drops the messages of the library: the text of an error comes with its status. */
static void ov_log_drop(const char *text)
{
	(void)text;
}

static dck_status ov_load(void *self, const library_place *p, dck_err *err)
{
	ov_lib *l = self;

	*l = (ov_lib){.how = p->how};
	/* Its thread library loads others with RTLD_DEEPBIND, at which a sanitizer ends the
	 * process, unless this is set. */
	if (os_sanitizer_name())
		(void)setenv("TBB_ENABLE_SANITIZERS", "1", 1);
	DCK_TRY(os_library_open(p->path, &l->library, err));
	dck_status status = ov_functions_find(l, err);
	if (status == DCK_OK) {
		os_library_keep(l->library);
		l->api.util_set_log_callback(ov_log_drop);
		status = ov_version_read(l, err);
	}
	DCK_NEXT(status, types_check(l, err));
	DCK_NEXT(status,
		 ov_check(l, l->api.core_create(&l->core), err, "cannot open OpenVINO's core"));
	if (status != DCK_OK) {
		os_library_close(l->library);
		*l = (ov_lib){0};
	}
	return status;
}

dck_status ov_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, ov_lib *ret,
		       dck_err *err)
{
	ov_lib l;

	DCK_TRY(library_load(&openvino_library, asked, a, log, ov_load, &l, err));
	*ret = l;
	return DCK_OK;
}

void ov_lib_close(ov_lib *l)
{
	if (!l->library)
		return;
	if (l->core)
		l->api.core_free(l->core);
	os_library_close(l->library);
	*l = (ov_lib){0};
}

/* --- devices */

const char *ov_device_property(const ov_lib *l, const char *device, const char *key, mem_arena *a)
{
	char *text = NULL;

	if (l->api.core_get_property(l->core, device, key, &text) != 0)
		return NULL;
	const char *copy = mem_arena_dup(a, text);
	l->api.free(text);
	return copy && *copy ? copy : NULL;
}

const char *ov_devices_text(const ov_lib *l, mem_arena *a)
{
	ov_devices d = {NULL, 0};
	const char *text = "";

	if (l->api.core_get_available_devices(l->core, &d) != 0)
		return "no device";
	for (size_t i = 0; i < d.n && text; i++)
		text = mem_arena_fmt(a, "%s%s%s", text, *text ? ", " : "", d.name[i]);
	l->api.available_devices_free(&d);
	return text && !*text ? "no device" : text;
}
