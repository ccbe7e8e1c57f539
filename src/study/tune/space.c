/* space.c - the space of configurations: usual options, --only, --skip, --space, and what engines
 * offer.
 *
 * A row of usual_rows is an option with a function or a list of its values. An option of
 * dck_model_options reaches an engine under a key of its own (key); an engine without that key does
 * not have the option. Requests in flight are an option of the load (deepclock/load.h), for every
 * engine. Engines come from engine_table: those that open models and are usable, by a
 * probe in a child process, beside the subject's own. A value that equals the subject's own is left
 * out, since it would be the default again.
 *
 * Invariants: dimension 0 is the engine or there is none; every dimension has 2 to RACE_VALUES_MAX
 * values and applies to an engine at least; the arms with one value changed fit into
 * RACE_SINGLES_MAX. Each value of a model option is parsed here once, so that a mistyped one is
 * refused before anything is measured; values of engine options are checked by their engines, and a
 * wrong one is a configuration that fails.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/tune/space.h"
#include "base/commas.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "base/sink.h"
#include "base/units.h"
#include "deepclock/unstable.h"
#include "engine/engine.h"
#include "measure/subject/shape_resolve.h"
#include "measure/subject/target.h"
#include "model/onnx/summary.h"
#include "os/os.h"
#include <string.h>

#define SPACE_BYTES_MAX ((size_t)64 << 10)
#define IN_FLIGHT_USUAL 32
#define IN_FLIGHT_MAX	256 /* streams of a load */

typedef struct space_row {
	const char *name;
	const char *key; /* what an engine calls a model option; NULL: all have it */
	space_of of;
	int goal;	    /* only for this index of dck_tune_goals; -1: for all */
	const char *values; /* "a,b", or: */
	const char *(*make)(mem_arena *a);
} space_row;

/* Powers of two below the number of cores, and one less than all: the default uses all. */
static const char *threads_values(mem_arena *a)
{
	const unsigned cores = (unsigned)engine_threads_default();
	const char *list = cores > 1 ? "1" : "";

	for (unsigned n = 2; list && n < cores; n *= 2)
		list = mem_arena_fmt(a, "%s,%u", list, n);
	/* 3 of 4, 5 of 6, 7 of 8: one core is left to others. */
	if (list && cores > 3 && ((cores - 1) & (cores - 2)) != 0)
		list = mem_arena_fmt(a, "%s,%u", list, cores - 1);
	return list;
}

static const char *parallel_values(mem_arena *a)
{
	const unsigned cores = (unsigned)engine_threads_default();

	return cores > 1 ? mem_arena_fmt(a, "%u", cores) : "";
}

/* Powers of two up to the number of cores, and 2 on one core: the host's part of a run overlaps. */
static const char *in_flight_values(mem_arena *a)
{
	const uint64_t all = engine_threads_default();
	const unsigned cores = all < IN_FLIGHT_USUAL ? (unsigned)all : IN_FLIGHT_USUAL;
	const char *list = "2";

	for (unsigned n = 4; list && n <= cores; n *= 2)
		list = mem_arena_fmt(a, "%s,%u", list, n);
	return list;
}

static const space_row usual_rows[] = {
    {"threads", "threads", SPACE_OF_MODEL, -1, NULL, threads_values},
    {"opt", "opt", SPACE_OF_MODEL, -1, "extended,basic,none", NULL},
    {"interop-threads", "interop_threads", SPACE_OF_MODEL, -1, NULL, parallel_values},
    {"batch", NULL, SPACE_OF_MODEL, 1, "2,4,8,16,32,64", NULL},
    {SPACE_IN_FLIGHT, NULL, SPACE_OF_LOAD, 1, NULL, in_flight_values},
    {"spin", NULL, SPACE_OF_ENGINE, -1, "0", NULL},
    {"denormals", NULL, SPACE_OF_ENGINE, -1, "flush", NULL},
    {"arena", NULL, SPACE_OF_ENGINE, -1, "0", NULL},
    {"mem_pattern", NULL, SPACE_OF_ENGINE, -1, "0", NULL},
    {"performance_hint", NULL, SPACE_OF_ENGINE, -1, "throughput", NULL},
    {"execution_mode_hint", NULL, SPACE_OF_ENGINE, -1, "performance", NULL},
    {"cpu_denormals_optimization", NULL, SPACE_OF_ENGINE, -1, "yes", NULL},
    {"enable_cpu_pinning", NULL, SPACE_OF_ENGINE, -1, "no", NULL},
};
#define USUAL (sizeof usual_rows / sizeof usual_rows[0])

/* --- engines */

/* Returns whether an engine opens models of the format of the subject's, which `of` opens. */
static bool opens_model(const dck_engine *e, const dck_engine *of, const dck_subject *s)
{
	if (e->caps & (DCK_CAP_NO_MODEL | DCK_CAP_COMMAND))
		return false;
	return s->text && engine_reads(of, s->text) ? engine_reads(e, s->text)
						    : !(e->caps & DCK_CAP_NOT_ONNX);
}

static const dck_engine *engine_named(const char *name)
{
	for (size_t i = 0; engine_table[i]; i++)
		if (strcmp(engine_table[i]->name, name) == 0)
			return engine_table[i];
	return NULL;
}

/* Returns whether a library is given for this engine (NULL: for whatever engine runs the model). */
static bool library_given(const dck_subject *s, const dck_engine *e)
{
	for (size_t i = 0; i < s->model.engine_lib.n; i++)
		if (subject_engine_named(s->model.engine_lib.item[i]) == e)
			return true;
	return false;
}

/* Lists the engines that could run the model, the subject's first. Only a built-in one has
 * alternatives, and a library that is given is of one engine. */
static dck_status engines_list(const dck_subject *s, const dck_tune_config *c, mem_arena *a,
			       space *p, dck_err *err)
{
	const char *own = s->model.engine ? s->model.engine : ENGINE_USUAL;
	const dck_engine *of = engine_named(own);
	const bool skipped =
	    commas_have(c->skip, "engine") || (c->only && !commas_have(c->only, "engine"));
	dck_engine_info *info;
	size_t n, others = 0;

	p->engines[p->nengines++] = own;
	p->absent = "";
	for (size_t i = 0; of && engine_table[i]; i++)
		others += opens_model(engine_table[i], of, s) && engine_table[i] != of;
	if (!of || !opens_model(of, of, s) || library_given(s, NULL) || c->space || skipped ||
	    others == 0)
		return DCK_OK;
	DCK_TRY(dck_engines_probe(NULL, &info, &n, err));
	for (size_t i = 0; i < n && p->absent; i++) {
		const dck_engine *e = engine_named(info[i].name);

		if (!e || e == of || !opens_model(e, of, s))
			continue;
		/* Of a library that is given the trials show whether it can be used. */
		const bool tried = info[i].usable || library_given(s, e);

		if (tried && p->nengines < RACE_VALUES_MAX)
			p->engines[p->nengines++] = e->name;
		else if (!tried)
			p->absent = mem_arena_fmt(a, "%s%s%s: %s", p->absent,
						  *p->absent ? "; " : "", e->name, info[i].why_not);
	}
	dck_free(info);
	DCK_NEED(p->absent, err, "for the engines");
	return DCK_OK;
}

static uint32_t engines_with(const space *p, const char *key)
{
	uint32_t set = 0;

	for (size_t e = 0; e < p->nengines; e++)
		if (!key || engine_has(p->engines[e], key))
			set |= 1u << e;
	return set;
}

/* --- dimensions */

const char *space_engine_option(const char *engine, const char *text)
{
	const dck_engine *of = subject_engine_named(text);

	return !of ? text : strcmp(of->name, engine) == 0 ? text + strlen(engine) + 1 : NULL;
}

/* Returns whether an --engine-option, also one of a single engine, has the key. */
static bool option_has_key(const char *text, const char *key)
{
	const dck_engine *of = subject_engine_named(text);
	const size_t n = strlen(key);

	text += of ? strlen(of->name) + 1 : 0;
	return strncmp(text, key, n) == 0 && text[n] == '=';
}

static bool engine_option_given(const dck_subject *s, const char *key)
{
	for (size_t i = 0; i < s->model.engine_option.n; i++)
		if (option_has_key(s->model.engine_option.item[i], key))
			return true;
	return false;
}

/* key: what engines call a model option; NULL: it has no key. */
static bool is_given(const dck_subject *s, const char *name, const char *key, space_of of)
{
	dck_subject plain;

	if (of == SPACE_OF_LOAD || of == SPACE_OF_FILE)
		return false;
	/* The number of --items is that of one batch. */
	if (strcmp(name, "batch") == 0 && s->model.items > 0)
		return true;
	if (of == SPACE_OF_ENGINE || (key && engine_option_given(s, key)))
		return engine_option_given(s, key ? key : name);
	dck_subject_init(&plain);
	return !opt_same(dck_opt_find(dck_model_options, name), &s->model, &plain.model);
}

static bool space_is_wanted(const dck_tune_config *c, const char *name)
{
	return !commas_have(c->skip, name) && (!c->only || commas_have(c->only, name));
}

/* Returns the batch that the subject's default has: the usual one of a size that the model leaves
 * open. 0: not known, or fixed in the file. */
static uint64_t default_batch(const dck_subject *s, mem_arena *a)
{
	dck_model_config config = s->model;
	shape_resolve sizes;
	model_summary m;
	subject_usual u;

	if (strncmp(s->text, "zoo:", 4) == 0)
		return 1;
	if (model_summary_read_file(s->text, a, &m, NULL) != DCK_OK ||
	    shape_resolve_declared(&sizes, a, &m.values, m.path, NULL) != DCK_OK ||
	    shape_resolve_from_files(&sizes, &config) ||
	    shape_resolve_read(&sizes, &m.values, &config, NULL) != DCK_OK ||
	    !subject_usual_find(&sizes, &u))
		return 0;
	return u.batch;
}

/* Returns whether a value is what a built-in engine takes where the option is not given. */
static bool is_usual(const dck_subject *s, const char *name, const dck_model_config *m,
		     mem_arena *a)
{
	if (strcmp(name, "threads") == 0)
		return s->model.threads == 0 && m->threads == engine_threads_default() &&
		       engine_named(s->model.engine ? s->model.engine : ENGINE_USUAL) &&
		       !engine_option_given(s, "threads");
	return strcmp(name, "batch") == 0 && s->model.batch == 0 && s->text &&
	       m->batch == default_batch(s, a);
}

/* Checks a value of the option; *ret_same: it is the default's. */
static dck_status value_check(const dck_subject *s, const char *name, space_of of, const char *text,
			      mem_arena *a, bool *ret_same, dck_err *err)
{
	dck_model_config m = s->model;
	uint64_t n;

	*ret_same = false;
	if (of == SPACE_OF_LOAD) {
		if (units_parse_count(text, &n, NULL) != DCK_OK || n == 0 || n > IN_FLIGHT_MAX)
			DCK_FAIL(err, E_ARG, "'%s' is '%.80s': give whole numbers from 1 to %d",
				 name, text, IN_FLIGHT_MAX);
		*ret_same = n == 1;
	} else if (of == SPACE_OF_MODEL) {
		DCK_TRY(dck_opt_set(dck_model_options, &m, name, text, err));
		*ret_same = opt_same(dck_opt_find(dck_model_options, name), &m, &s->model) ||
			    is_usual(s, name, &m, a);
	}
	return DCK_OK;
}

/* Adds a dimension with the values of a list; none, if no value is left or no engine has it. */
static dck_status dim_add(space *p, const dck_subject *s, const char *name, space_of of,
			  uint32_t applies, const char *values, mem_arena *a, dck_err *err)
{
	space_dim d = {.name = name, .of = of, .n = 1, .applies = applies};

	for (commas_item item; commas_next(&values, &item);) {
		const char *text = mem_arena_dup_n(a, item.text, item.n);
		bool same;

		DCK_NEED(text, err, "for a space");
		if (d.n == RACE_VALUES_MAX)
			DCK_FAIL(err, E_ARG, "'%s' has more than %d values", name,
				 RACE_VALUES_MAX - 1);
		DCK_TRY(value_check(s, name, of, text, a, &same, err));
		/* A value that is there twice would be one configuration with two rows. */
		for (size_t i = 1; i < d.n; i++)
			same |= strcmp(d.value[i], text) == 0;
		if (!same)
			d.value[d.n++] = text;
	}
	if (d.n < 2 || applies == 0)
		return DCK_OK;
	if (p->n == RACE_DIMS_MAX)
		DCK_FAIL(err, E_LIMIT,
			 "more than %d options are varied: leave some out with --skip",
			 RACE_DIMS_MAX);
	p->dims[p->n++] = d;
	return DCK_OK;
}

static dck_status engine_dim_add(space *p, mem_arena *a, const dck_subject *s, dck_err *err)
{
	const char *list = p->engines[1];

	if (p->nengines < 2)
		return DCK_OK;
	for (size_t e = 2; list && e < p->nengines; e++)
		list = mem_arena_fmt(a, "%s,%s", list, p->engines[e]);
	DCK_NEED(list, err, "for a space");
	DCK_TRY(dim_add(p, s, "engine", SPACE_OF_MODEL, 1, list, a, err));
	p->varies_engine = p->n > 0;
	return DCK_OK;
}

/* The variants that were made. */
static dck_status variant_dim_add(space *p, const dck_subject *s, const dck_tune_config *c,
				  mem_arena *a, dck_err *err)
{
	const char *list = "";

	for (size_t i = 0; p->files && list && i < VARIANTS; i++)
		if (p->files->path[i])
			list = mem_arena_fmt(a, "%s%s%s", list, *list ? "," : "",
					     variant_rows[i].name);
	DCK_NEED(list, err, "for a space");
	if (!*list || !space_is_wanted(c, SPACE_VARIANT))
		return DCK_OK;
	return dim_add(p, s, SPACE_VARIANT, SPACE_OF_FILE, engines_with(p, NULL), list, a, err);
}

static dck_status usual_add(space *p, const dck_subject *s, const dck_tune_config *c, mem_arena *a,
			    dck_err *err)
{
	DCK_TRY(engine_dim_add(p, a, s, err));
	for (size_t i = 0; i < USUAL; i++) {
		const space_row *row = &usual_rows[i];
		const char *values = row->make ? row->make(a) : row->values;
		const uint32_t applies =
		    engines_with(p, row->of == SPACE_OF_ENGINE ? row->name : row->key);

		DCK_NEED(values, err, "for a space");
		if ((row->goal >= 0 && row->goal != c->goal) || !space_is_wanted(c, row->name) ||
		    applies == 0 || !*values)
			continue;
		if (is_given(s, row->name, row->key, row->of)) {
			p->fixed =
			    mem_arena_fmt(a, "%s%s%s", p->fixed, *p->fixed ? ", " : "", row->name);
			DCK_NEED(p->fixed, err, "for a space");
			continue;
		}
		DCK_TRY(dim_add(p, s, row->name, row->of, applies, values, a, err));
	}
	return DCK_OK;
}

/* --- the user's file */

/* The engines of a line, with the subject's, before all other options: which of those they have is
 * known then. */
static dck_status engines_line_read(space *p, const dck_subject *s, const char *values,
				    mem_arena *a, dck_err *err)
{
	for (commas_item item; commas_next(&values, &item);) {
		const char *name = mem_arena_dup_n(a, item.text, item.n);
		bool same = false;
		engine_handle h;

		DCK_NEED(name, err, "for a space");
		DCK_TRY(engine_find(name, &h, err));
		engine_release(&h);
		for (size_t i = 0; i < p->nengines; i++)
			same |= strcmp(p->engines[i], name) == 0;
		if (same)
			continue;
		if (p->nengines == RACE_VALUES_MAX)
			DCK_FAIL(err, E_ARG, "'engine' has more than %d values",
				 RACE_VALUES_MAX - 1);
		p->engines[p->nengines++] = name;
	}
	return engine_dim_add(p, a, s, err);
}

/* Returns why no configurations can differ in an option: it changes what a run computes. NULL: they
 * can. */
static const char *changes_work(const char *name, const dck_subject *s, const dck_tune_config *c)
{
	if (commas_have("items,shape,dim,input,input-pool,image-size,seq,seed", name))
		return "changes what a run computes, and the configurations of a search compute "
		       "the same: give it as an option of the command";
	if (strcmp(name, "batch") == 0 && s->model.items > 0)
		return "changes the items of a run, which --items states: leave one of them out";
	if (strcmp(name, "batch") == 0 && c->goal != TUNE_THROUGHPUT)
		return "changes how much a run computes, so that it needs --goal throughput";
	if (strcmp(name, SPACE_IN_FLIGHT) == 0 && c->goal != TUNE_THROUGHPUT)
		return "needs --goal throughput";
	return NULL;
}

/* Returns the engines that have an option of models; all of them if none has: their reason becomes
 * that of the configurations. */
static uint32_t engines_with_model_option(const space *p, const char *name)
{
	uint32_t found = 0;

	for (size_t i = 0; i < USUAL; i++)
		if (usual_rows[i].of == SPACE_OF_MODEL && strcmp(usual_rows[i].name, name) == 0)
			found = engines_with(p, usual_rows[i].key);
	return found ? found : engines_with(p, NULL);
}

/* "OPTION=VALUE,VALUE". engines: reads this line alone, else all others. */
static dck_status line_read(space *p, const dck_subject *s, const dck_tune_config *c, size_t number,
			    char *line, bool engines, mem_arena *a, dck_err *err)
{
	char *equals = strchr(line, '=');
	dck_status status;
	uint32_t applies;
	space_of of;

	if (!equals || equals == line || !equals[1])
		DCK_FAIL(err, E_ARG,
			 "line %zu of '%s' is '%.80s': write OPTION=VALUE,VALUE, such as "
			 "threads=1,2,4",
			 number, c->space, line);
	*equals = '\0';
	if (!space_is_wanted(c, line) || engines != (strcmp(line, "engine") == 0))
		return DCK_OK;
	const char *why = changes_work(line, s, c);
	if (why)
		DCK_FAIL(err, E_ARG, "line %zu of '%s': '%s' %s", number, c->space, line, why);
	of = dck_opt_find(dck_model_options, line) ? SPACE_OF_MODEL
	     : strcmp(line, SPACE_IN_FLIGHT) == 0  ? SPACE_OF_LOAD
						   : SPACE_OF_ENGINE;
	applies = of == SPACE_OF_MODEL ? engines_with_model_option(p, line)
				       : engines_with(p, of == SPACE_OF_ENGINE ? line : NULL);
	if (applies == 0)
		DCK_FAIL(err, E_ARG,
			 "line %zu of '%s': there is no option '%.80s' of models, and none of the "
			 "engine '%s' ('deepclock engines %s' lists them)",
			 number, c->space, line, p->engines[0], p->engines[0]);
	for (size_t d = 0; d < p->n; d++)
		if (strcmp(p->dims[d].name, line) == 0)
			DCK_FAIL(err, E_ARG, "line %zu of '%s': '%.80s' is there twice", number,
				 c->space, line);
	status = engines ? engines_line_read(p, s, equals + 1, a, err)
			 : dim_add(p, s, line, of, applies, equals + 1, a, err);
	if (status == DCK_OK)
		return DCK_OK;
	return err_while(err, err ? err->code : DCK_E_ARG, "reading line %zu of '%s'", number,
			 c->space);
}

static dck_status space_lines_read(space *p, const dck_subject *s, const dck_tune_config *c,
				   const dck_buffer *text, bool engines, mem_arena *a, dck_err *err)
{
	char *rest = mem_arena_dup_n(a, text->n > 0 ? text->data : "", text->n);
	size_t number = 0;

	DCK_NEED(rest, err, "for a space");
	while (rest) {
		char *line = rest + strspn(rest, " \t"), *end = strchr(rest, '\n');

		number++;
		rest = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		line[strcspn(line, "#")] = '\0';
		for (size_t n = strlen(line); n > 0 && strchr(" \t\r", line[n - 1]); n--)
			line[n - 1] = '\0';
		if (*line)
			DCK_TRY(line_read(p, s, c, number, line, engines, a, err));
	}
	return DCK_OK;
}

static dck_status space_file_add(space *p, const dck_subject *s, const dck_tune_config *c,
				 mem_arena *a, dck_err *err)
{
	dck_buffer text = {0};

	DCK_TRY(os_read_text(c->space, SPACE_BYTES_MAX, &text, err));
	dck_status status = space_lines_read(p, s, c, &text, true, a, err);
	DCK_NEXT(status, space_lines_read(p, s, c, &text, false, a, err));
	dck_buffer_done(&text);
	return status;
}

/* --- the space */

/* Refuses words of --only and --skip that name nothing. */
static dck_status names_check(const char *option, const char *list, dck_err *err)
{
	const char *names[USUAL + 2] = {"engine", SPACE_VARIANT};
	char word[64], all[300] = "engine, " SPACE_VARIANT;

	for (size_t i = 0; i < USUAL; i++) {
		names[i + 2] = usual_rows[i].name;
		text_add(all, sizeof all, ", %s", names[i + 2]);
	}
	for (commas_item item; commas_next(&list, &item);) {
		bool known = false;

		for (size_t i = 0; i < USUAL + 2; i++)
			known |= commas_is(&item, names[i]);
		if (known)
			continue;
		const char *nearest =
		    dck_nearest(commas_word(&item, word, sizeof word), names, USUAL + 2);

		DCK_FAIL(err, E_ARG,
			 "--%s has '%s', which is not among the options that are varied%s%s%s: "
			 "%s; others need --space",
			 option, word, nearest ? " (did you mean '" : "", nearest ? nearest : "",
			 nearest ? "'?)" : "", all);
	}
	return DCK_OK;
}

static dck_status nothing_refuse(const space *p, const dck_tune_config *c, dck_err *err)
{
	if (c->space)
		DCK_FAIL(
		    err, E_ARG,
		    "there is nothing to vary: '%s' has no value other than the default: write "
		    "lines such as threads=1,2",
		    c->space);
	if (!p->files && commas_have(c->only, SPACE_VARIANT))
		DCK_FAIL(err, E_ARG,
			 "there is nothing to vary: --only %s needs the variants that "
			 "--quantize DIR makes",
			 SPACE_VARIANT);
	DCK_FAIL(err, E_ARG,
		 "there is nothing to vary: the engine '%s' has none of the options%s%s%s%s",
		 p->engines[0],
		 c->only   ? " of --only"
		 : c->skip ? " that --skip leaves"
			   : "",
		 *p->fixed ? ", or they are given (" : "", p->fixed, *p->fixed ? ")" : "");
}

dck_status space_make(const dck_subject *s, const dck_tune_config *c, const variants *files,
		      mem_arena *a, space *ret, dck_err *err)
{
	space p = {.fixed = "", .absent = "", .files = files};
	engine_handle h;
	size_t arms = 0;

	DCK_TRY(engine_find(s->model.engine, &h, err));
	engine_release(&h);
	if (!c->space) {
		DCK_TRY(names_check("only", c->only, err));
		DCK_TRY(names_check("skip", c->skip, err));
	}
	DCK_TRY(engines_list(s, c, a, &p, err));
	DCK_TRY(c->space ? space_file_add(&p, s, c, a, err) : usual_add(&p, s, c, a, err));
	DCK_TRY(variant_dim_add(&p, s, c, a, err));
	if (p.n == 0 && files && files->no_tools)
		DCK_FAIL(err, E_ABSENT,
			 "there is nothing to vary: no variant could be made: %s; "
			 "pip install onnxruntime onnx, for the python3 of PATH",
			 files->why[0]);
	if (p.n == 0)
		return nothing_refuse(&p, c, err);
	/* The default of each engine, and all values but the default's of the options that it has.
	 */
	for (size_t e = 0; e < p.nengines; e++) {
		arms++;
		for (size_t d = p.varies_engine ? 1 : 0; d < p.n; d++)
			arms += p.dims[d].applies >> e & 1 ? p.dims[d].n - 1 : 0;
	}
	/* Combinations need arms too. */
	if (arms > RACE_SINGLES_MAX)
		DCK_FAIL(err, E_LIMIT, "there are %zu values to try, more than %d: leave some out",
			 arms, RACE_SINGLES_MAX);
	*ret = p;
	return DCK_OK;
}

/* Replaces the engine option of that key, or adds it. */
static dck_status engine_option_put(dck_subject *s, const char *key, const char *value,
				    mem_arena *a, dck_err *err)
{
	const char *text = mem_arena_fmt(a, "%s=%s", key, value);
	dck_list *list = &s->model.engine_option;

	DCK_NEED(text, err, "for a configuration");
	for (size_t i = 0; i < list->n; i++)
		if (option_has_key(list->item[i], key)) {
			list->item[i] = text;
			return DCK_OK;
		}
	if (list->n == DCK_LIST_MAX)
		DCK_FAIL(err, E_LIMIT, "--engine-option is given more than %d times",
			 DCK_LIST_MAX - 1);
	list->item[list->n++] = text;
	return DCK_OK;
}

dck_status space_subject(const space *p, const dck_subject *s, const uint8_t *value, mem_arena *a,
			 dck_subject *ret, dck_err *err)
{
	dck_subject made = *s;

	for (size_t d = 0; d < p->n; d++) {
		const char *text = p->dims[d].value[value[d]];

		if (value[d] == 0 || p->dims[d].of == SPACE_OF_LOAD)
			continue;
		if (p->dims[d].of == SPACE_OF_FILE) {
			/* What makes a network of its size is in the file. */
			made.text = p->files->path[space_variant(p, value)];
			made.model.image_size = NULL;
			made.model.seq = 0;
		} else if (p->dims[d].of == SPACE_OF_ENGINE)
			DCK_TRY(engine_option_put(&made, p->dims[d].name, text, a, err));
		else
			DCK_TRY(dck_opt_set(dck_model_options, &made.model, p->dims[d].name, text,
					    err));
	}
	*ret = made;
	return DCK_OK;
}

static const space_dim *dim_of(const space *p, space_of of)
{
	for (size_t d = 0; d < p->n; d++)
		if (p->dims[d].of == of)
			return &p->dims[d];
	return NULL;
}

int space_variant(const space *p, const uint8_t *value)
{
	const space_dim *dim = dim_of(p, SPACE_OF_FILE);
	const char *name = dim ? dim->value[value[dim - p->dims]] : NULL;

	for (int i = 0; name && i < VARIANTS; i++)
		if (strcmp(variant_rows[i].name, name) == 0)
			return i;
	return -1;
}

uint64_t space_in_flight(const space *p, const uint8_t *value)
{
	const space_dim *dim = dim_of(p, SPACE_OF_LOAD);
	const char *text = dim ? dim->value[value[dim - p->dims]] : NULL;
	uint64_t n = 1;

	/* Every value was checked when it was added. */
	return text && units_parse_count(text, &n, NULL) == DCK_OK ? n : 1;
}

bool space_varies_in_flight(const space *p)
{
	return dim_of(p, SPACE_OF_LOAD) != NULL;
}

const char *space_text(const space *p, const uint8_t *value, mem_arena *a)
{
	const char *text = NULL;

	for (size_t d = 0; d < p->n; d++)
		if (value[d] > 0)
			text = mem_arena_fmt(a, "%s%s%s=%s", text ? text : "", text ? " " : "",
					     p->dims[d].name, p->dims[d].value[value[d]]);
	return text ? text : "default";
}

void space_race(const space *p, race_config *ret)
{
	ret->ndims = p->n;
	ret->engines = p->varies_engine;
	for (size_t d = 0; d < p->n; d++) {
		ret->nvalues[d] = p->dims[d].n;
		ret->applies[d] = p->dims[d].applies;
	}
}
