/* oga_lib.c - loads ONNX Runtime GenAI with dlopen() and looks up its functions.
 *
 * The library searches ONNX Runtime by its bare name while it is loaded, and terminates the process
 * if that fails or is too old. So ONNX Runtime is loaded before, by its path, and every file is
 * loaded in a child process first. Its telemetry is off: by the variable that ort_lib.c sets for
 * both libraries before either is loaded, and by its own function.
 *
 * The library is never unloaded: it keeps ONNX Runtime's environment until the process exits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/genai/oga_lib.h"

#include "base/err.h"
#include "base/sink.h"

#define TIMEOUT_NS (60 * 1000000000ull)

static const library_kind genai_library = {
    .runtime = "ONNX Runtime GenAI",
    .file = "libonnxruntime-genai.so",
    .package = "onnxruntime_genai/",
    .inside = (const char *const[]){"", "onnxruntime_genai/", "lib/", "lib64/", NULL},
    .variables = (const char *const[]){"DEEPCLOCK_GENAI", NULL},
    .python = "DEEPCLOCK_PYTHON_GENAI",
    .own = "genai",
    .loader = (const char *const[]){"libonnxruntime-genai.so", NULL},
    .system = (const char *const[]){"usr/local/lib/libonnxruntime-genai.so",
				    "usr/lib/libonnxruntime-genai.so",
				    "usr/lib64/libonnxruntime-genai.so",
				    "usr/lib/*-linux-gnu/libonnxruntime-genai.so", NULL},
};

dck_status oga_check(const oga_lib *l, oga_result *r, const char *what, dck_err *err)
{
	char sentence[400];

	if (!r)
		return DCK_OK;
	ort_sentence(l->api.ResultGetError(r), sentence, sizeof sentence);
	l->api.DestroyResult(r);
	DCK_FAIL(err, E_ENGINE, "%s: %s", what,
		 *sentence ? sentence : "ONNX Runtime GenAI gives no reason");
}

static dck_status oga_functions_find(oga_lib *l, dck_err *err)
{
#define X(name, result, parameters)                                                    \
	if (!os_library_function(l->library, "Oga" #name, &l->api.name))               \
		DCK_FAIL(err, E_VERSION,                                               \
			 "'%s' is not ONNX Runtime GenAI, or an old one: it does not " \
			 "export Oga" #name "()",                                      \
			 os_library_path(l->library));
	OGA_FUNCTIONS(X)
#undef X
	return DCK_OK;
}

/* Loads the library, in a child process: self is its path. */
static void oga_child(void *self, dck_sink *out)
{
	os_library *library;
	dck_err err;

	sink_text(out, os_library_open(self, &library, &err) == DCK_OK ? "+" : err.msg);
}

static dck_status oga_try(const oga_lib *l, const char *path, dck_err *err)
{
	dck_buffer answer = {0};
	dck_err why = {0};
	dck_status status = os_in_child(oga_child, (void *)(uintptr_t)path, TIMEOUT_NS,
					sizeof why.msg, &answer, &why);

	if (status != DCK_OK && status != DCK_E_NOMEM)
		status = ERR_SET(err, E_VERSION,
				 "'%s' ends the process when it is loaded with ONNX Runtime %s of "
				 "'%s': pip install onnxruntime-genai brings a pair that fits",
				 path, l->ort.version, os_library_path(l->ort.library));
	else if (status != DCK_OK)
		status = ERR_NO_MEMORY(err, "to load '%s'", path);
	else if (answer.n != 1 || *answer.data != '+')
		status =
		    ERR_SET(err, E_ABSENT, "%.*s", (int)answer.n, answer.n > 0 ? answer.data : "");
	dck_buffer_done(&answer);
	return status;
}

static dck_status oga_load(void *self, const library_place *p, dck_err *err)
{
	oga_lib *l = self;
	dck_status status;

	l->how = p->how;
	DCK_TRY(oga_try(l, p->path, err));
	DCK_TRY(os_library_open(p->path, &l->library, err));
	status = oga_functions_find(l, err);
	if (status == DCK_OK) {
		os_library_keep(l->library);
		l->api.SetTelemetryEnabled(false);
		return DCK_OK;
	}
	os_library_close(l->library);
	l->library = NULL;
	return status;
}

dck_status oga_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, oga_lib *ret,
			dck_err *err)
{
	oga_lib l = {0};
	dck_status status;

	DCK_TRY(ort_lib_open(NULL, a, log, &l.ort, err));
	status = library_load(&genai_library, asked, a, log, oga_load, &l, err);
	if (status != DCK_OK) {
		ort_lib_close(&l.ort);
		return status;
	}
	l.version = library_version(a, os_library_path(l.library), "onnxruntime_genai");
	*ret = l;
	return DCK_OK;
}

void oga_lib_close(oga_lib *l)
{
	if (!l->library)
		return;
	os_library_close(l->library);
	ort_lib_close(&l->ort);
	*l = (oga_lib){0};
}
