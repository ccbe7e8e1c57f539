/* ort_lib.c - loads ONNX Runtime with dlopen(), negotiates its C API and opens its environment.
 *
 * library_load() finds the file; ort_load() tries one.
 *
 * The version is read before anything else, since the slots that ort_api.h declares exist from 1.19
 * on. The API version requested is the smaller of the library's minor version and the newest known
 * here; tables of later versions only add slots at their end.
 *
 * Telemetry is switched off before the library is loaded. setenv() does it, so no other thread may
 * read the environment then.
 *
 * ort_lib owns library, environment and memory description; ort_lib_close() releases them in
 * reverse. The allocator is borrowed. Only ort_check() converts an OrtStatus to a dck_err and
 * releases it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_lib.h"

#include "base/err.h"
#include "engine/runtime_model.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- errors */

/* Skips "/some/where/graph.cc:123 Resolve " or "file.cc:9 std::vector<int> f(int, long) " at the
 * beginning: returns what follows, or `text`. */
static const char *skip_source(const char *text)
{
	const char *word_end = text + strcspn(text, " ");
	const char *cc = strstr(text, ".cc:");

	if (!cc)
		cc = strstr(text, ".h:");
	if (!cc || cc > word_end || !isdigit((unsigned char)strchr(cc, ':')[1]))
		return text;
	const char *at = word_end + strspn(word_end, " ");
	/* The function comes next: with its arguments, or its name alone. */
	const char *open = strchr(at, '('), *space = strchr(at, ' ');
	if (!space)
		return at;
	int depth = 0;
	const char *scope = strstr(at, "::");
	for (const char *c = open; scope && scope < open && *c; c++) {
		depth += (*c == '(') - (*c == ')');
		if (depth == 0 && c[1] == ' ')
			return c + 1 + strspn(c + 1, " ");
	}
	return space + 1;
}

/* Skips "[ONNXRuntimeError] : 1 : FAIL : " at the beginning: the code is stored in native_code. */
static const char *skip_code(const char *text)
{
	static const char mark[] = "[ONNXRuntimeError] : ", between[] = " : ";
	const char *at = text;

	if (strncmp(text, mark, sizeof mark - 1) != 0)
		return text;
	for (int i = 0; i < 3; i++) {
		at = strstr(at, between);
		if (!at)
			return text;
		at += sizeof between - 1;
	}
	return at;
}

void ort_sentence(const char *text, char *buf, size_t size)
{
	size_t n = 0;
	bool word = true;

	for (const char *at = text; *at && n + 1 < size;) {
		if (word && *at != ' ') {
			const char *after = skip_code(skip_source(at));
			word = after != at; /* another may follow */
			if (word) {
				at = after;
				continue;
			}
		}
		if (strncmp(at, "Stacktrace:", 11) == 0 || strncmp(at, "\n\n", 2) == 0)
			break;
		char c = isspace((unsigned char)*at) ? ' ' : *at;
		at++;
		if (c == ' ')
			word = true;
		if (c != ' ' || (n > 0 && buf[n - 1] != ' '))
			buf[n++] = c;
	}
	while (n > 0 && (buf[n - 1] == ' ' || buf[n - 1] == '.'))
		n--;
	buf[n] = '\0';
}

/* Returns whether WebGPU reports a buffer that could not be made: when it was used, as the first
 * time in a process, or when it was asked for. */
static bool is_buffer_failure(const char *text)
{
	static const char *const phrases[] = {"[Invalid Buffer",
					      "exceeds the max buffer size limit"};

	for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
		if (strstr(text, phrases[i]))
			return true;
	return false;
}

enum { ORT_NOT_IMPLEMENTED = 9 }; /* of OrtErrorCode: mostly, no kernel for an operator's types */

dck_status ort_check(const ort_lib *l, ort_status *s, dck_err *err, const char *fmt, ...)
{
	char sentence[400], what[RUNTIME_WHAT];
	const char *text;
	va_list ap;

	if (!s)
		return DCK_OK;
	va_start(ap, fmt);
	runtime_what(what, fmt, ap);
	va_end(ap);
	text = l->api.GetErrorMessage(s);
	const int code = l->api.GetErrorCode(s);
	const bool memory = is_buffer_failure(text), no_kernel = code == ORT_NOT_IMPLEMENTED;
	const dck_status status = memory ? DCK_E_NOMEM : no_kernel ? DCK_E_UNSUP : DCK_E_ENGINE;
	ort_sentence(text, sentence, no_kernel ? sizeof sentence / 2 : sizeof sentence);
	err_set(err, status, __FILE__, __LINE__, "%s: %s%s", what,
		memory	    ? "a tensor does not fit the device, which is out of memory or has no "
			      "buffers of this size; give a smaller --batch"
		: *sentence ? sentence
			    : "ONNX Runtime gives no reason",
		no_kernel && !memory
		    ? "; export the model with types or an opset for which it has one, or give "
		      "another --engine"
		    : "");
	err_native(status, code, err);
	l->api.ReleaseStatus(s);
	return status;
}

/* --- loading */

const library_kind ort_library = {
    .runtime = "ONNX Runtime",
    .file = "libonnxruntime.so*",
    .package = "onnxruntime/capi/",
    .inside = (const char *const[]){"", "lib/", "lib64/", "capi/", "onnxruntime/capi/", NULL},
    .variables = (const char *const[]){"DEEPCLOCK_ORT", "ORT_DYLIB_PATH", NULL},
    .python = "DEEPCLOCK_PYTHON_ORT",
    .own = "ort",
    .loader = (const char *const[]){"libonnxruntime.so.1", "libonnxruntime.so", NULL},
    /* A distribution's file may carry the minor version in its name and nothing shorter. */
    .system =
	(const char *const[]){"usr/local/lib/libonnxruntime.so.1*",
			      "usr/local/lib64/libonnxruntime.so.1*",
			      "usr/lib/libonnxruntime.so.1*", "usr/lib64/libonnxruntime.so.1*",
			      "usr/lib/*-linux-gnu/libonnxruntime.so.1*",
			      "opt/onnxruntime/lib/libonnxruntime.so.1*", NULL},
    .module = "onnxruntime_pybind11_state",
    .module_fault = "1.19 or newer is needed",
    .module_remedy = "pip install -U onnxruntime brings 1.19 or newer, which has it",
};

static dck_status version_read(const char *text, const char *path, unsigned *ret, dck_err *err)
{
	unsigned major, minor;

	if (!text || sscanf(text, "%u.%u", &major, &minor) != 2)
		DCK_FAIL(err, E_FORMAT, "'%s' gives '%s' as ONNX Runtime's version", path,
			 text ? text : "nothing");
	if (major != 1)
		DCK_FAIL(err, E_VERSION,
			 "'%s' is ONNX Runtime %s, and only 1.%u and newer 1.x are known here",
			 path, text, ORT_MINOR_OLDEST);
	if (minor < ORT_MINOR_OLDEST)
		DCK_FAIL(err, E_VERSION,
			 "'%s' is ONNX Runtime %s, which is too old: 1.%u or newer is needed", path,
			 text, ORT_MINOR_OLDEST);
	*ret = minor;
	return DCK_OK;
}

static dck_status ort_table_get(ort_lib *l, dck_err *err)
{
	const ort_api_base *(*get)(void);
	const char *path = os_library_path(l->library);

	if (!os_library_function(l->library, "OrtGetApiBase", &get))
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is not ONNX Runtime: it does not export OrtGetApiBase()", path);
	const ort_api_base *base = get();
	if (!base || !base->get_version || !base->get_api)
		DCK_FAIL(err, E_FORMAT, "'%s' is not ONNX Runtime: OrtGetApiBase() gives nothing",
			 path);
	const char *version = base->get_version();
	DCK_TRY(version_read(version, path, &l->minor, err));
	snprintf(l->version, sizeof l->version, "%s", version);
	const unsigned asked = l->minor < ORT_MINOR_KNOWN ? l->minor : ORT_MINOR_KNOWN;
	const ort_slot *table = base->get_api(asked);
	if (!table)
		DCK_FAIL(err, E_VERSION, "'%s' (ONNX Runtime %s) offers no API of version %u", path,
			 version, asked);
	ort_api_fill(&l->api, table, asked);
	return DCK_OK;
}

/* ONNX Runtime 1.31 has telemetry: it starts threads, writes files below HOME and TMPDIR and uses
 * the network, inside the process that is measured. It reads this variable only before its
 * environment is created. A value that the user has set is replaced, since telemetry was not
 * requested here. */
static void telemetry_off(void)
{
	static const char variable[] = "ORT_DISABLE_TELEMETRY";
	const char *now = secure_getenv(variable);

	if (!now || strcmp(now, "1") != 0)
		(void)setenv(variable, "1", 1);
}

static dck_status ort_load(void *self, const library_place *p, dck_err *err)
{
	ort_lib *l = self;

	*l = (ort_lib){.how = p->how};
	telemetry_off();
	DCK_TRY(os_library_open(p->path, &l->library, err));
	dck_status status = ort_table_get(l, err);
	if (status != DCK_OK) {
		os_library_close(l->library);
		l->library = NULL;
	}
	return status;
}

/* Drops the messages of the environment, which outlives each session and is shared by the whole
 * process, so that they have no receiver. The messages of a session go to its own function, and the
 * text of an error is in its status. */
void ort_log_drop(void *self, int severity, const char *category, const char *id,
		  const char *location, const char *text)
{
	(void)self, (void)severity, (void)category, (void)id, (void)location, (void)text;
}

static dck_status environment_open(ort_lib *l, dck_err *err)
{
	const ort_api *api = &l->api;

	DCK_TRY(ort_check(l,
			  api->CreateEnvWithCustomLogger(ort_log_drop, NULL, ORT_LOG_WARNING,
							 "deepclock", &l->env),
			  err, "cannot open ONNX Runtime's environment"));
	ort_status *refused = api->DisableTelemetryEvents(l->env);
	if (refused) /* a library without telemetry */
		api->ReleaseStatus(refused);
	DCK_TRY(ort_check(l, api->GetAllocatorWithDefaultOptions(&l->allocator), err,
			  "cannot get ONNX Runtime's allocator"));
	return ort_check(l,
			 api->CreateCpuMemoryInfo(ORT_ALLOCATOR_ARENA, ORT_MEMORY_DEFAULT, &l->cpu),
			 err, "cannot describe the host's memory to ONNX Runtime");
}

dck_status ort_lib_open(const char *asked, mem_arena *a, const dck_open_params *log, ort_lib *ret,
			dck_err *err)
{
	ort_lib l;

	DCK_TRY(library_load(&ort_library, asked, a, log, ort_load, &l, err));
	dck_status status = environment_open(&l, err);
	if (status == DCK_OK)
		*ret = l;
	else
		ort_lib_close(&l);
	return status;
}

void ort_lib_close(ort_lib *l)
{
	if (!l->library)
		return;
	if (l->cpu)
		l->api.ReleaseMemoryInfo(l->cpu);
	if (l->env)
		l->api.ReleaseEnv(l->env);
	os_library_close(l->library);
	*l = (ort_lib){0};
}
