/* check.c - validates an engine's table, which a plug-in may have made, and the options given to
 * it.
 *
 * engine_check() runs when an engine is found, so that its users call mandatory members without a
 * test. Its order is part of the ABI: first abi_major, then struct_size, and only then members that
 * the size covers; members that were added after the first ABI are read through HAS(). Which
 * functions are mandatory follows from the capabilities.
 *
 * Nothing in a table has a stated length, so reading is bounded: a text has at most TEXT_MAX bytes,
 * a name ENGINE_NAME_MAX, a list of options OPTIONS_MAX rows before its end must come. These bounds
 * catch a forgotten end, not malice: a plug-in has all rights of the process.
 *
 * engine_options_check() compares the user's options with the engine's rows: unknown keys (with the
 * nearest one), keys given twice, values that are not listed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

#include "base/dtype.h"
#include "base/err.h"
#include "base/units.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include "os/os.h"

#include <string.h>

#define TEXT_MAX	65536 /* bytes; a longer text counts as unterminated */
#define ENGINE_NAME_MAX 64
#define OPTIONS_MAX	128

/* Members of the first ABI; later ones are read only when struct_size covers them. */
#define STRUCT_SIZE_MIN (offsetof(dck_engine, usage) + sizeof(((dck_engine *)0)->usage))

/* A table of the first ABI ends before `profile`; memory after its end must not be read. */
#define HAS(e, member) \
	((e)->struct_size >= offsetof(dck_engine, member) + sizeof((e)->member) && (e)->member)

/* A function pointer compares with NULL only in its own type, hence a list of results and not of
 * offsets. */
static const char *missing_member(const dck_engine *e)
{
	const bool tensors = !(e->caps & DCK_CAP_NO_TENSORS);
	/* The members for devices come together. */
	const bool device = HAS(e, transfer);
	const struct {
		const char *name;
		bool lacks;
	} members[] = {
	    {"open", !e->open},
	    {"close", !e->close},
	    {"context_new", !e->context_new},
	    {"context_free", !e->context_free},
	    {"run", !e->run},
	    {"describe", tensors && !e->describe},
	    {"bind_input", tensors && !e->bind_input},
	    {"bind_output", (e->caps & DCK_CAP_BIND_OUTPUT) && !e->bind_output},
	    {"usage", (e->caps & DCK_CAP_COMMAND) && !e->usage},
	    {"output", (e->caps & DCK_CAP_VALUES) && !e->output},
	    {"barrier", device && !e->barrier},
	    {"barrier_choose", device && !e->barrier_choose},
	    {"enqueue", device && !e->enqueue},
	    {"wait", device && !e->wait},
	    {"transfer", !device && HAS(e, barrier)},
	    {"generate_next", !HAS(e, generate_next) && HAS(e, generation)},
	    {"generate_begin", HAS(e, generate_next) && !e->generate_begin},
	    {"generation", HAS(e, generate_next) && !e->generation},
	};
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (members[i].lacks)
			return members[i].name;
	return NULL;
}

bool engine_text_ends(const char *text)
{
	return text && strnlen(text, TEXT_MAX + 1) <= TEXT_MAX;
}

static bool name_is_fine(const char *name)
{
	if (strnlen(name, ENGINE_NAME_MAX + 1) > ENGINE_NAME_MAX)
		return false;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	return n > 0 && name[n] == '\0';
}

/* Checks all rows up to the one without a key. A table may lack that row, so the number of rows is
 * bounded. */
static dck_status options_check(const dck_engine *e, const char *from, dck_err *err)
{
	size_t n = 0;

	for (const dck_engine_option *o = e->options; o && o->key; o++) {
		if (n++ == OPTIONS_MAX)
			DCK_FAIL(
			    err, E_FORMAT,
			    "the engine table in '%s' has more than %d options: the last row's "
			    "key is to be NULL",
			    from, OPTIONS_MAX);
		if (!*o->key || !engine_text_ends(o->key))
			DCK_FAIL(err, E_FORMAT,
				 "the engine table in '%s' has an option without a name", from);
		if (!engine_text_ends(o->values) || !engine_text_ends(o->help))
			DCK_FAIL(err, E_FORMAT,
				 "the engine table in '%s' lacks the values or the help "
				 "of option '%s'",
				 from, o->key);
		for (const dck_engine_option *k = e->options; k < o; k++)
			if (strcmp(k->key, o->key) == 0)
				DCK_FAIL(err, E_FORMAT,
					 "the engine table in '%s' has the option '%s' twice", from,
					 o->key);
	}
	return DCK_OK;
}

dck_status engine_check(const dck_engine *e, const char *from, dck_err *err)
{
	if (e->abi_major != DCK_ABI_MAJOR)
		DCK_FAIL(err, E_VERSION,
			 "the engine in '%s' was built for ABI %u.%u and this deepclock has %u.%u: "
			 "rebuild it against this deepclock's plugin.h",
			 from, e->abi_major, e->abi_minor, DCK_ABI_MAJOR, DCK_ABI_MINOR);
	if (e->struct_size < STRUCT_SIZE_MIN)
		DCK_FAIL(err, E_VERSION,
			 "the engine table in '%s' has %u bytes and ABI %u.0 has %zu: "
			 "set struct_size to sizeof(dck_engine)",
			 from, e->struct_size, DCK_ABI_MAJOR, STRUCT_SIZE_MIN);
	if (!e->name || !name_is_fine(e->name))
		DCK_FAIL(err, E_FORMAT,
			 "the engine table in '%s' has no name of letters, digits and '-'", from);
	if (!engine_text_ends(e->version) || !engine_text_ends(e->help))
		DCK_FAIL(err, E_FORMAT, "the engine table in '%s' lacks the text '%s'", from,
			 engine_text_ends(e->version) ? "help" : "version");
	const char *missing = missing_member(e);
	if (missing)
		DCK_FAIL(
		    err, E_FORMAT,
		    "the engine table in '%s' lacks the function '%s', which its capabilities require",
		    from, missing);
	if (HAS(e, formats) && !engine_text_ends(e->formats))
		DCK_FAIL(err, E_FORMAT, "the engine table in '%s' has formats without an end",
			 from);
	return options_check(e, from, err);
}

bool engine_reads(const dck_engine *e, const char *path)
{
	const char *end = strrchr(path, '.');
	const size_t n = end ? strlen(end) : 0;

	if (!n || !HAS(e, formats))
		return false;
	for (const char *at = e->formats; *at; at += strspn(at, " ")) {
		const size_t length = strcspn(at, " ");

		if (length == n && memcmp(at, end, n) == 0)
			return true;
		at += length;
	}
	return false;
}

bool engine_may_enqueue(const dck_engine *e)
{
	return HAS(e, transfer);
}

bool engine_may_bind_from(const dck_engine *e)
{
	return HAS(e, bind_from);
}

bool engine_may_generate(const dck_engine *e)
{
	return HAS(e, generate_next);
}

dck_status engine_can_observe(const dck_engine *e, uint32_t observe, dck_err *err)
{
	if (observe & DCK_OBSERVE_OPERATORS && !HAS(e, profile))
		DCK_FAIL(err, E_UNSUP, "the engine '%s' does not report when its operators ran",
			 e->name);
	if (observe & DCK_OBSERVE_MEMORY && !HAS(e, memory))
		DCK_FAIL(err, E_UNSUP, "the engine '%s' does not report how much memory it uses",
			 e->name);
	if (observe & DCK_OBSERVE_VALUES && !(e->caps & DCK_CAP_VALUES))
		DCK_FAIL(err, E_UNSUP,
			 "the engine '%s' does not show the values between a model's operators",
			 e->name);
	return DCK_OK;
}

bool engine_is_open(const dck_tensor_info *t)
{
	bool open = t->rank < 0;

	for (int32_t i = 0; i < t->rank; i++)
		open |= t->dim[i] < 0;
	return open;
}

dck_dtype engine_type_of(const engine_type *all, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].number == number)
			return all[i].type;
	return (dck_dtype){DCK_DTYPE_OTHER, 0, 1};
}

int engine_type_number(const engine_type *all, size_t n, dck_dtype t)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].type.code == t.code && all[i].type.bits == t.bits)
			return all[i].number;
	return 0;
}

const char *engine_options_text(mem_arena *a, const dck_open_params *p)
{
	const char *text = "";

	for (size_t i = 0; i < p->noptions && text; i++)
		text = mem_arena_fmt(a, "%s%s%s=%s", text, i ? " " : "", p->options[i].key,
				     p->options[i].value);
	return text;
}

const char *engine_option(const dck_open_params *p, const char *key)
{
	for (size_t i = 0; i < p->noptions; i++)
		if (strcmp(p->options[i].key, key) == 0)
			return p->options[i].value;
	return NULL;
}

dck_status engine_option_count(const dck_open_params *p, const char *key, uint64_t min,
			       uint64_t max, uint64_t *ret, dck_err *err)
{
	const char *text = engine_option(p, key);
	uint64_t n;

	if (!text)
		return DCK_OK;
	if (units_parse_count(text, &n, NULL) != DCK_OK || n < min || n > max)
		DCK_FAIL(err, E_ARG, "option '%s' is '%s': give a whole number from %llu to %llu",
			 key, text, (unsigned long long)min, (unsigned long long)max);
	*ret = n;
	return DCK_OK;
}

const dck_engine_option *engine_option_row(const dck_engine *e, const char *key)
{
	for (const dck_engine_option *o = e->options; o && o->key; o++)
		if (strcmp(o->key, key) == 0)
			return o;
	return NULL;
}

static dck_status key_refuse(const dck_engine *e, const char *key, dck_err *err)
{
	const char *names[OPTIONS_MAX];
	size_t n = 0;

	for (const dck_engine_option *o = e->options; o && o->key && n < OPTIONS_MAX; o++)
		names[n++] = o->key;
	if (n == 0)
		DCK_FAIL(err, E_ARG, "the engine '%s' has no options, and '%s' was given", e->name,
			 key);
	const char *nearest = dck_nearest(key, names, n);
	if (nearest)
		DCK_FAIL(err, E_ARG, "the engine '%s' has no option '%s'; did you mean '%s'?",
			 e->name, key, nearest);
	DCK_FAIL(err, E_ARG,
		 "the engine '%s' has no option '%s'; 'deepclock engines %s' lists its options",
		 e->name, key, e->name);
}

/* Whether a word of n bytes is in capitals: "FILE", "N". */
static bool in_capitals(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word[i] >= 'a' && word[i] <= 'z')
			return false;
	return strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < n;
}

/* Whether `value` is one of the words in `values`, separated by '|'. A placeholder is "N", a word
 * that is alone in the list to be in capitals, or the only word if it has a capital. */
static bool value_is_listed(const char *values, const char *value)
{
	size_t n, len = strlen(value), capitals = 0, words = 0;
	bool listed = false, any = false;

	for (const char *at = values;; at += n + 1) {
		n = strcspn(at, "|");
		words++;
		capitals += in_capitals(at, n);
		any |= n == 1 && *at == 'N';
		listed |= n == len && memcmp(at, value, n) == 0;
		if (at[n] == '\0')
			break;
	}
	return listed || any || capitals == 1 ||
	       (words == 1 && values[strcspn(values, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")]);
}

dck_status engine_options_check(const dck_engine *e, const dck_open_params *p, dck_err *err)
{
	for (size_t i = 0; i < p->noptions; i++) {
		const dck_kv *o = &p->options[i];
		const dck_engine_option *row = engine_option_row(e, o->key);

		if (!row)
			return key_refuse(e, o->key, err);
		for (size_t k = 0; k < i; k++)
			if (strcmp(p->options[k].key, o->key) == 0)
				DCK_FAIL(err, E_ARG,
					 "option '%s' is given twice, as '%s' and as '%s'", o->key,
					 p->options[k].value, o->value);
		if (!value_is_listed(row->values, o->value))
			DCK_FAIL(err, E_ARG, "option '%s' is '%s': the engine '%s' takes %s",
				 o->key, o->value, e->name, row->values);
	}
	return DCK_OK;
}

/* --- what engines have in common */

uint64_t engine_threads_default(void)
{
	uint64_t n = os_cores_allowed();
	os_host host;

	os_host_get(&host);
	/* A container's quota counts like fewer cores. */
	if (host.cgroup_cpus > 0 && host.cgroup_cpus < (double)n) {
		const uint64_t whole = (uint64_t)host.cgroup_cpus;
		n = (double)whole < host.cgroup_cpus ? whole + 1 : whole;
	}
	return n > 0 ? n : 1;
}

void engine_threads_divide(bool parallel, uint64_t *threads, uint64_t *interop_threads)
{
	const uint64_t cores = engine_threads_default();

	if (!parallel)
		*interop_threads = 1; /* without a second pool */
	else if (*interop_threads == 0)
		*interop_threads = *threads > 0 && *threads < cores ? cores / *threads : cores;
	if (*threads == 0)
		*threads = cores > *interop_threads ? cores / *interop_threads : 1;
}

dck_status engine_tensor_check(const char *what, const dck_tensor_info *want, const dck_tensor *t,
			       dck_err *err)
{
	uint64_t n = dck_dtype_bytes(t->dtype);

	if (want->dtype.code == DCK_DTYPE_OTHER || dtype_onnx(t->dtype) == 0)
		DCK_FAIL(err, E_UNSUP,
			 "%s '%s' is not a tensor of numbers (a text, a sequence or a map): "
			 "such models cannot be run here",
			 what, want->name);
	if (dtype_onnx(want->dtype) != dtype_onnx(t->dtype))
		DCK_FAIL(err, E_ARG, "%s '%s' is of type %s, and %s was bound", what, want->name,
			 dck_dtype_text(want->dtype), dck_dtype_text(t->dtype));
	if (want->rank >= 0 && want->rank != t->rank)
		DCK_FAIL(err, E_ARG, "%s '%s' has %d dimensions, and %d were bound", what,
			 want->name, want->rank, t->rank);
	if (t->rank < 0 || t->rank > DCK_RANK_MAX)
		DCK_FAIL(err, E_ARG, "%s '%s' was bound with %d dimensions", what, want->name,
			 t->rank);
	for (int32_t i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0 ||
		    (want->rank >= 0 && want->dim[i] >= 0 && want->dim[i] != t->dim[i]))
			DCK_FAIL(err, E_ARG,
				 "dimension %d of %s '%s' is %lld in the model, and %lld was bound",
				 i, what, want->name, (long long)want->dim[i],
				 (long long)t->dim[i]);
		if (__builtin_mul_overflow(n, (uint64_t)t->dim[i], &n))
			DCK_FAIL(err, E_LIMIT, "%s '%s' is too large", what, want->name);
	}
	if (n != t->bytes)
		DCK_FAIL(err, E_ARG, "%s '%s' needs %llu bytes, and %llu were bound", what,
			 want->name, (unsigned long long)n, (unsigned long long)t->bytes);
	return DCK_OK;
}
