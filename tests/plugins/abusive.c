/* abusive.c - a plug-in with one fault, selected by the variable ABUSE: an invalid result of a
 * member of the table. "none" has no fault. tests/cli/bad/abuse.sh runs all of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS 16
#define HUGE	 UINT64_C(0xfffffffffffffff0)

struct dck_engine_model {
	void (*log)(void *self, dck_log_level level, const char *text);
	void *log_self;
	uint64_t runs;
};

struct dck_engine_context {
	dck_engine_model *model;
	float result[ELEMENTS + 1];
};

static bool is(const char *what)
{
	const char *abuse = getenv("ABUSE");

	return abuse && strcmp(abuse, what) == 0;
}

/* Failures available in every function with a dck_err: "run-silent", "run-endless", ... */
static dck_status fail(const char *function, dck_err *err)
{
	const char *abuse = getenv("ABUSE");
	const size_t n = strlen(function);

	if (!abuse || strncmp(abuse, function, n) != 0 || abuse[n] != '-')
		return DCK_OK;
	abuse += n + 1;
	if (strcmp(abuse, "silent") == 0)
		return DCK_E_ENGINE;
	if (strcmp(abuse, "endless") == 0) {
		memset(err->msg, 'x', sizeof err->msg);
		err->code = DCK_E_ENGINE;
		return DCK_E_ENGINE;
	}
	if (strcmp(abuse, "status") == 0) {
		strcpy(err->msg, "a status of my own");
		return (dck_status)17;
	}
	if (strcmp(abuse, "below") == 0)
		return (dck_status)-4711;
	if (strcmp(abuse, "other") == 0) { /* the code in err differs from the status */
		err->code = DCK_OK;
		err->file = (const char *)(uintptr_t)16;
		strcpy(err->msg, "the code and the status differ");
		return DCK_E_DEVICE;
	}
	if (strcmp(abuse, "escapes") == 0) {
		strcpy(err->msg, "red \033[31m, \xc2\x9b"
				 "31m, back \xe2\x80\xae, cut \xe2\x82, two\nlines");
		return DCK_E_ENGINE;
	}
	if (strcmp(abuse, "lies") == 0) { /* sets a message but returns success */
		strcpy(err->msg, "all is lost");
		err->code = DCK_E_IO;
	}
	return DCK_OK;
}

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	static char line[100000];

	if (is("open-null"))
		return DCK_OK;
	if (is("open-model-and-failure"))
		*ret = (dck_engine_model *)(uintptr_t)16;
	if (is("open-model-and-failure"))
		return DCK_E_ENGINE;
	if (fail("open", err) != DCK_OK)
		return fail("open", err);
	dck_engine_model *m = calloc(1, sizeof *m);
	if (!m)
		return DCK_E_NOMEM;
	m->log = p->log;
	m->log_self = p->log_self;
	if (p->log && is("log-null"))
		p->log(p->log_self, DCK_LOG_WARN, NULL);
	if (p->log && is("log-level"))
		p->log(p->log_self, (dck_log_level)1000, "a level of my own");
	if (p->log && is("log-long")) {
		memset(line, 'y', sizeof line - 1);
		p->log(p->log_self, DCK_LOG_WARN, line);
	}
	if (p->log && is("log-escapes"))
		p->log(p->log_self, DCK_LOG_WARN, "red \033[31m \xc2\x9b and back \xe2\x80\xae");
	*ret = m;
	return DCK_OK;
}

static void close_it(dck_engine_model *m)
{
	free(m);
}

static void open_times(dck_engine_model *m, dck_open_times *ret)
{
	(void)m;
	if (is("times-huge"))
		*ret = (dck_open_times){.valid = ~0u, .library_ns = HUGE, .session_ns = HUGE};
}

static dck_status describe(dck_engine_model *m, const dck_tensor_info **ret_in, size_t *ret_nin,
			   const dck_tensor_info **ret_out, size_t *ret_nout, dck_err *err)
{
	static dck_tensor_info in[2], out[1];
	static char endless[200000];

	(void)m;
	if (fail("describe", err) != DCK_OK)
		return fail("describe", err);
	in[0] = (dck_tensor_info){
	    .name = "input", .dtype = {DCK_DTYPE_FLOAT, 32, 1}, .rank = 2, .dim = {1, 784}};
	in[1] = out[0] = in[0];
	out[0].name = "y";
	*ret_in = is("inputs-null") ? NULL : in;
	*ret_nin = is("inputs-many") ? SIZE_MAX : is("inputs-twice") ? 2 : 1;
	*ret_out = is("outputs-null") ? NULL : out;
	*ret_nout = is("outputs-many") ? SIZE_MAX / 2 : 1;
	memset(endless, 'z', sizeof endless);
	if (is("input-nameless"))
		in[0].name = NULL;
	if (is("input-endless"))
		in[0].name = endless;
	if (is("input-escapes"))
		in[0].name = "x\033[31m\xc2\x9b\xe2\x80\xae";
	if (is("input-rank"))
		in[0].rank = DCK_RANK_MAX + 1;
	if (is("input-rank-huge"))
		in[0].rank = INT32_MAX;
	if (is("input-rank-unknown"))
		in[0].rank = INT32_MIN;
	if (is("input-dim"))
		in[0].dim[1] = -2;
	if (is("input-dim-open"))
		in[0].dim[1] = -1;
	if (is("input-overflow"))
		in[0].dim[0] = in[0].dim[1] = INT64_MAX;
	if (is("input-large"))
		in[0].dim[0] = INT64_C(1) << 50;
	if (is("input-type"))
		in[0].dtype = (dck_dtype){77, 3, 9};
	if (is("input-bits"))
		in[0].dtype.bits = 0;
	if (is("input-lanes"))
		in[0].dtype.lanes = 65535;
	if (is("symbol-endless")) {
		in[0].dim[1] = -1;
		in[0].symbol[1] = endless;
	}
	if (is("output-nameless"))
		out[0].name = NULL;
	if (is("output-rank-16"))
		out[0].rank = 1000000;
	return DCK_OK;
}

static dck_status facts(dck_engine_model *m, const dck_kv **ret, size_t *ret_n, dck_err *err)
{
	static dck_kv pair;

	(void)m;
	if (fail("facts", err) != DCK_OK)
		return fail("facts", err);
	pair = (dck_kv){"threads", "1"};
	if (is("fact-nameless"))
		pair.key = NULL;
	if (is("fact-empty"))
		pair.key = "";
	if (is("fact-valueless"))
		pair.value = NULL;
	if (is("fact-escapes"))
		pair.value = "\033[31m\xc2\x9b\xe2\x80\xae\xff";
	*ret = is("facts-null") ? NULL : &pair;
	*ret_n = is("facts-many") ? SIZE_MAX : 1;
	return DCK_OK;
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	if (is("context_new-null"))
		return DCK_OK;
	if (fail("context_new", err) != DCK_OK)
		return fail("context_new", err);
	dck_engine_context *c = calloc(1, sizeof *c);
	if (!c)
		return DCK_E_NOMEM;
	c->model = m;
	*ret = c;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	free(c);
}

static dck_status bind_input(dck_engine_context *c, size_t index, const dck_tensor *t, dck_err *err)
{
	(void)c, (void)index, (void)t;
	return fail("bind_input", err);
}

static dck_status prepare(dck_engine_context *c, dck_err *err)
{
	(void)c;
	return fail("prepare", err);
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	c->model->runs++;
	if (is("run-late") && c->model->runs > 3)
		return DCK_E_ENGINE;
	return fail("run", err);
}

static dck_status output(dck_engine_context *c, size_t index, dck_tensor *ret, dck_err *err)
{
	(void)index;
	if (fail("output", err) != DCK_OK)
		return fail("output", err);
	if (is("output-nothing"))
		return DCK_OK;
	*ret = (dck_tensor){.data = c->result,
			    .dtype = {DCK_DTYPE_FLOAT, 32, 1},
			    .rank = 2,
			    .dim = {1, ELEMENTS},
			    .bytes = ELEMENTS * sizeof *c->result};
	if (is("output-null"))
		ret->data = NULL;
	if (is("output-rank"))
		ret->rank = 1000;
	if (is("output-rank-below"))
		ret->rank = -1;
	if (is("output-dim"))
		ret->dim[0] = -ELEMENTS;
	if (is("output-short"))
		ret->bytes = 4;
	if (is("output-long"))
		ret->bytes = HUGE;
	if (is("output-more"))
		ret->dim[1] = 1000000;
	if (is("output-overflow"))
		ret->dim[0] = ret->dim[1] = INT64_C(1) << 40;
	if (is("output-type"))
		ret->dtype = (dck_dtype){99, 255, 0};
	if (is("output-misaligned"))
		ret->data = (char *)c->result + 1;
	return DCK_OK;
}

static dck_status usage(dck_engine_context *c, dck_usage *ret, dck_err *err)
{
	(void)c;
	if (fail("usage", err) != DCK_OK)
		return fail("usage", err);
	*ret = (dck_usage){.user_ns = is("usage-huge") ? HUGE : 1};
	return DCK_OK;
}

static dck_status profile(dck_engine_model *m, dck_profile *ret, dck_err *err)
{
	static dck_op_event events[2];
	static uint64_t ns[4096];
	static char endless[200000];

	if (fail("profile", err) != DCK_OK)
		return fail("profile", err);
	memset(endless, 'z', sizeof endless);
	for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
		ns[i] = 1000;
	events[0] = (dck_op_event){.name = "a", .type = "Relu", .duration_ns = 100};
	events[1] = (dck_op_event){.name = "b", .type = "Relu", .run = 1, .duration_ns = 100};
	*ret = (dck_profile){.events = events, .nevents = 2, .run_ns = ns, .nruns = m->runs};
	if (is("events-null"))
		ret->events = NULL;
	if (is("events-many"))
		ret->nevents = SIZE_MAX;
	if (is("runs-null"))
		ret->run_ns = NULL;
	if (is("runs-many"))
		ret->nruns = SIZE_MAX / 8;
	if (is("runs-none"))
		ret->nruns = 0;
	if (is("event-nameless"))
		events[0].name = NULL;
	if (is("event-typeless"))
		events[1].type = NULL;
	if (is("event-endless"))
		events[1].provider = endless;
	if (is("event-run"))
		events[1].run = 1000000;
	if (is("event-order"))
		events[0].run = 3;
	if (is("event-begin"))
		events[1].begin_ns = HUGE;
	if (is("event-duration"))
		events[0].duration_ns = HUGE;
	if (is("event-depth"))
		events[0].depth = events[1].depth = UINT32_MAX;
	if (is("run-duration"))
		ns[0] = HUGE;
	if (is("graph-missing"))
		ret->model_path = "/there/is/no/such.onnx";
	return DCK_OK;
}

static dck_status memory(dck_engine_model *m, dck_memory *ret, dck_err *err)
{
	(void)m;
	if (fail("memory", err) != DCK_OK)
		return fail("memory", err);
	*ret = (dck_memory){.valid = DCK_MEMORY_RUN | DCK_MEMORY_PEAK,
			    .peak_bytes = 1000,
			    .run_peak_bytes = is("memory-huge") ? HUGE : 1000};
	return DCK_OK;
}

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	static dck_engine e;
	static dck_engine_option options[300];
	static char names[300][8], endless[200000];

	e = (dck_engine){.struct_size = sizeof(dck_engine),
			 .abi_major = host_abi_major,
			 .abi_minor = DCK_ABI_MINOR,
			 .caps = DCK_CAP_NO_MODEL,
			 .name = "abusive",
			 .version = "1",
			 .help = "does one thing wrongly",
			 .options = options,
			 .open = open_it,
			 .close = close_it,
			 .describe = describe,
			 .facts = facts,
			 .open_times = open_times,
			 .context_new = context_new,
			 .context_free = context_free,
			 .bind_input = bind_input,
			 .prepare = prepare,
			 .run = run,
			 .output = output,
			 .usage = usage,
			 .profile = profile,
			 .memory = memory};
	memset(endless, 'z', sizeof endless);
	options[0] = (dck_engine_option){"key", "0|1", "an option"};
	if (is("table-none"))
		return NULL;
	if (is("table-size"))
		e.struct_size = 8;
	if (is("table-size-huge"))
		e.struct_size = UINT32_MAX;
	if (is("table-major"))
		e.abi_major = UINT32_MAX;
	if (is("table-nameless"))
		e.name = NULL;
	if (is("table-name-endless"))
		e.name = endless;
	if (is("table-name-escapes"))
		e.name = "\033[31m";
	if (is("table-help-endless"))
		e.help = endless;
	if (is("table-versionless"))
		e.version = NULL;
	if (is("table-no-run"))
		e.run = NULL;
	if (is("table-no-close"))
		e.close = NULL;
	if (is("table-no-describe"))
		e.describe = NULL;
	if (is("table-no-usage")) {
		e.caps |= DCK_CAP_COMMAND;
		e.usage = NULL;
	}
	if (is("table-caps"))
		e.caps = ~0u;
	if (is("table-no-output"))
		e.output = NULL;
	if (is("usage-huge") || is("usage-silent"))
		e.caps |= DCK_CAP_COMMAND;
	if (is("option-helpless"))
		options[0].help = NULL;
	if (is("option-nameless"))
		options[0].key = "";
	if (is("option-twice"))
		options[1] = options[0];
	for (size_t i = 0; is("options-endless") && i < 300; i++) {
		names[i][0] = (char)('a' + i % 26);
		names[i][1] = (char)('a' + i / 26);
		options[i] = (dck_engine_option){names[i], "0|1", "one of many"};
	}
	return &e;
}
