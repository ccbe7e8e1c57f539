/* probe.c - probes every built-in engine in a child process: a library that crashes or hangs while
 * it is loaded affects only its own line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/bench.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "engine/engine.h"
#include "os/os.h"

#include <string.h>

#define TIMEOUT_NS (60 * 1000000000ull) /* a GPU's libraries may take many seconds */
#define ANSWER_MAX (1u << 20)

/* The child writes texts, each with its NUL: "+" and the pairs, or "-" and the reason. */
typedef struct question {
	const dck_engine *engine;
	const char *lib;
} question;

static void probe_put_text(dck_sink *out, const char *text)
{
	sink_put(out, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void probe_answer(void *self, dck_sink *out)
{
	const question *q = self;
	const dck_kv *kv;
	dck_err err;
	size_t n;

	if (engine_probe(q->engine, q->lib, &kv, &n, &err) == DCK_OK) {
		probe_put_text(out, "+");
		for (size_t i = 0; i < n; i++) {
			probe_put_text(out, kv[i].key);
			probe_put_text(out, kv[i].value);
		}
	} else {
		probe_put_text(out, "-");
		probe_put_text(out, err.msg);
	}
}

static size_t texts_count(const dck_buffer *b)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++)
		n += b->data[i] == '\0';
	return n;
}

/* b: the answer; empty if the child gave none, with the reason in *why. */
static dck_status probe_ask(const dck_engine *e, const char *lib, dck_buffer *b, dck_err *why)
{
	question q = {e, lib};

	if (!e->probe)
		return DCK_OK;
	dck_status status = os_in_child(probe_answer, &q, TIMEOUT_NS, ANSWER_MAX, b, why);
	if (status != DCK_OK)
		err_while(why, status, "probing the engine '%s' in a child process", e->name);
	else if (texts_count(b) < 1 || b->data[b->n - 1] != '\0')
		status = ERR_SET(why, E_ENGINE,
				 "the child process that probed the engine '%s' ended too early",
				 e->name);
	return status;
}

/* One block: the rows, the pairs, the texts. */
typedef struct probe_block {
	dck_engine_info *rows;
	dck_kv *pairs;
	char *texts;
} probe_block;

static const char *probe_keep(probe_block *k, const char *text, size_t n)
{
	char *copy = k->texts;
	memcpy(copy, text, n);
	k->texts += n;
	return copy;
}

static void row_fill(probe_block *k, dck_engine_info *row, const dck_engine *e, const dck_buffer *b,
		     const char *why_not)
{
	*row = (dck_engine_info){.name = e->name,
				 .help = e->help,
				 .options = e->options,
				 .usable = true,
				 .facts = k->pairs};
	if (why_not || (b->n > 0 && b->data[0] != '+')) {
		const char *why = why_not ? why_not : b->n > 2 ? b->data + 2 : "no reason given";
		row->usable = false;
		row->why_not = probe_keep(k, why, strlen(why) + 1);
		return;
	}
	if (b->n == 0)
		return;
	const char *at = probe_keep(k, b->data, b->n);
	size_t npairs = (texts_count(b) - 1) / 2;
	at += strlen(at) + 1;
	for (size_t i = 0; i < npairs; i++, row->nfacts++) {
		k->pairs->key = at;
		at += strlen(at) + 1;
		k->pairs->value = at;
		at += strlen(at) + 1;
		k->pairs++;
	}
}

#define ENGINES_MAX 16

dck_status dck_engines_probe(const char *lib, dck_engine_info **ret, size_t *ret_n, dck_err *err)
{
	dck_buffer answers[ENGINES_MAX] = {0};
	dck_err why[ENGINES_MAX] = {0};
	dck_status status = DCK_OK;
	size_t n = 0, pairs = 0, bytes = 1;

	for (; engine_table[n] && n < ENGINES_MAX; n++) {
		/* No result is a result too, unless this process has no memory. */
		if (probe_ask(engine_table[n], lib, &answers[n], &why[n]) == DCK_E_NOMEM)
			status = err_pass(DCK_E_NOMEM, &why[n], err);
		pairs += texts_count(&answers[n]) / 2;
		bytes += answers[n].n + sizeof why[n].msg;
	}
	size_t rows_size = n * sizeof(dck_engine_info), pairs_size = pairs * sizeof(dck_kv);
	char *memory = status == DCK_OK ? mem_alloc(rows_size + pairs_size + bytes) : NULL;
	if (memory) {
		probe_block k = {(dck_engine_info *)(void *)memory,
				 (dck_kv *)(void *)(memory + rows_size),
				 memory + rows_size + pairs_size};
		for (size_t i = 0; i < n; i++)
			row_fill(&k, &k.rows[i], engine_table[i], &answers[i],
				 why[i].code != DCK_OK ? why[i].msg : NULL);
		*ret = k.rows;
		*ret_n = n;
	} else if (status == DCK_OK) {
		status = ERR_NO_MEMORY(err, "for the output of the engines");
	}
	for (size_t i = 0; i < n; i++)
		dck_buffer_done(&answers[i]);
	return status;
}
