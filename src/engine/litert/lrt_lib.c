/* lrt_lib.c - loads LiteRT's library with dlopen(), looks up its functions and opens an environment
 * whose log is silent.
 *
 * library_load() finds the file; lrt_load() tries one. The library exports no version: that of its
 * Python package is taken (library_version()). A library of before 2.1.6 has functions of the same
 * names with other parameters, and is recognised by one that it lacks.
 *
 * The library is never unloaded: XNNPACK keeps state for the process.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/litert/lrt_lib.h"

#include "base/err.h"
#include "engine/engine.h"
#include "engine/runtime_model.h"

#include <stdarg.h>
#include <stdio.h>

#define VERSION_OLDEST "2.1.6"

static const library_kind litert_library = {
    .runtime = "LiteRT",
    .file = "libLiteRt.so",
    .package = "ai_edge_litert/",
    .inside = (const char *const[]){"", "ai_edge_litert/", "lib/", "lib64/", NULL},
    .variables = (const char *const[]){"DEEPCLOCK_LITERT", NULL},
    .python = "DEEPCLOCK_PYTHON_LITERT",
    .own = "litert",
    .loader = (const char *const[]){"libLiteRt.so", NULL},
    .system =
	(const char *const[]){"usr/local/lib/libLiteRt.so", "usr/lib/libLiteRt.so",
			      "usr/lib64/libLiteRt.so", "usr/lib/*-linux-gnu/libLiteRt.so", NULL},
};

/* --- errors: the library has numbers alone */

static const struct {
	int status;
	const char *means;
} lrt_statuses[] = {
    {1, "an argument is invalid"},
    {2, "out of memory"},
    {3, "the runtime failed"},
    {4, "an input is missing"},
    {5, "it does not support that"},
    {6, "something was not found"},
    {7, "its time ran out"},
    {8, "a wrong version"},
    {500, "the file cannot be read"},
    {501, "it is not a valid TensorFlow Lite model"},
    {502, "a library cannot be loaded"},
    {504, "it cannot be compiled"},
    {1000, "an index is out of range"},
    {1001, "a type is invalid"},
    {1002, "the graph is invalid"},
    {5000, "an operator's shape cannot be inferred"},
    {5001, "a shape cannot be inferred"},
};

dck_status lrt_check(int status, dck_err *err, const char *fmt, ...)
{
	const char *means = "no reason is given";
	char what[RUNTIME_WHAT];
	va_list ap;

	if (status == 0)
		return DCK_OK;
	va_start(ap, fmt);
	runtime_what(what, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < sizeof lrt_statuses / sizeof *lrt_statuses; i++)
		if (lrt_statuses[i].status == status)
			means = lrt_statuses[i].means;
	ERR_SET(err, E_ENGINE, "%s: %s (LiteRT's status %d)", what, means, status);
	return err_native(DCK_E_ENGINE, status, err);
}

/* --- types */

static const engine_type lrt_types[] = {
    {1, {DCK_DTYPE_FLOAT, 32, 1}},   {2, {DCK_DTYPE_INT, 32, 1}},    {3, {DCK_DTYPE_UINT, 8, 1}},
    {4, {DCK_DTYPE_INT, 64, 1}},     {6, {DCK_DTYPE_BOOL, 8, 1}},    {7, {DCK_DTYPE_INT, 16, 1}},
    {9, {DCK_DTYPE_INT, 8, 1}},	     {10, {DCK_DTYPE_FLOAT, 16, 1}}, {11, {DCK_DTYPE_FLOAT, 64, 1}},
    {13, {DCK_DTYPE_UINT, 64, 1}},   {16, {DCK_DTYPE_UINT, 32, 1}},  {17, {DCK_DTYPE_UINT, 16, 1}},
    {19, {DCK_DTYPE_BFLOAT, 16, 1}},
};
#define LRT_TYPES (sizeof lrt_types / sizeof *lrt_types)

dck_dtype lrt_dtype_of(int element)
{
	return engine_type_of(lrt_types, LRT_TYPES, element);
}

int lrt_dtype_number(dck_dtype t)
{
	return engine_type_number(lrt_types, LRT_TYPES, t);
}

/* --- loading */

static dck_status lrt_functions_find(lrt_lib *l, dck_err *err)
{
#define X(name, result, parameters)                                         \
	if (!os_library_function(l->library, "LiteRt" #name, &l->api.name)) \
		DCK_FAIL(err, E_VERSION,                                    \
			 "'%s' is not LiteRT " VERSION_OLDEST               \
			 " or newer: it does not export LiteRt" #name "()", \
			 os_library_path(l->library));
	LRT_FUNCTIONS(X)
#undef X
	return DCK_OK;
}

static dck_status lrt_environment_open(lrt_lib *l, dck_err *err)
{
	const lrt_environment_option options[] = {
	    {LRT_TAG_LOG_SEVERITY, {LRT_ANY_INT, LRT_LOG_SILENT}},
	    {LRT_TAG_ACCELERATORS, {LRT_ANY_INT, LRT_ACCELERATOR_CPU}},
	};

	return lrt_check(
	    l->api.CreateEnvironment(sizeof options / sizeof *options, options, &l->environment),
	    err, "cannot open LiteRT's environment");
}

static dck_status lrt_load(void *self, const library_place *p, dck_err *err)
{
	lrt_lib *l = self;

	*l = (lrt_lib){.how = p->how};
	DCK_TRY(os_library_open(p->path, &l->library, err));
	dck_status status = lrt_functions_find(l, err);
	if (status == DCK_OK) {
		os_library_keep(l->library);
		status = lrt_environment_open(l, err);
	}
	if (status != DCK_OK) {
		os_library_close(l->library);
		*l = (lrt_lib){0};
	}
	return status;
}

dck_status lrt_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, lrt_lib *ret,
			dck_err *err)
{
	lrt_lib l;

	DCK_TRY(library_load(&litert_library, asked, a, log, lrt_load, &l, err));
	l.version = library_version(a, os_library_path(l.library), "ai_edge_litert");
	*ret = l;
	return DCK_OK;
}

void lrt_lib_close(lrt_lib *l)
{
	if (!l->library)
		return;
	l->api.DestroyEnvironment(l->environment);
	os_library_close(l->library);
	*l = (lrt_lib){0};
}
