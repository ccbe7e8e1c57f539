/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/subject_facts.h"
#include "base/err.h"
#include "base/sink.h"
#include "record/copy.h"
#include "record/host.h"
#include "record/record_begin.h"
#include <stdio.h>
#include <string.h>

static const char *tensor_text(const dck_tensor_info *t, char *buf, size_t size)
{
	buf[0] = '\0';
	for (int32_t i = 0; i < t->rank; i++) {
		const char *by = i > 0 ? "x" : "";

		if (t->dim[i] >= 0)
			text_add(buf, size, "%s%lld", by, (long long)t->dim[i]);
		else
			text_add(buf, size, "%s%s", by, t->symbol[i] ? t->symbol[i] : "?");
	}
	text_add(buf, size, "%s%s", t->rank > 0 ? " " : "", dck_dtype_text(t->dtype));
	return buf;
}

/* A command's words with blanks between; a long one is cut. */
static const char *words_text(char *const *words, char *buf, size_t size)
{
	bool fits = true;

	buf[0] = '\0';
	for (size_t i = 0; words[i] && fits; i++)
		fits = text_add(buf, size, "%s%s", i > 0 ? " " : "", words[i]);
	if (!fits)
		memcpy(buf + size - 4, "...", 4);
	return buf;
}

static void facts_model(record_builder *b, const subject_target *t)
{
	const model_summary *m = &t->summary;

	record_fact_known(b, "subject", "producer", m->producer);
	record_fact_int(b, "subject", "opset", DCK_UNIT_ONE, m->opset);
	record_fact_int(b, "subject", "nodes", DCK_UNIT_ONE, (int64_t)m->nodes);
	record_fact_int(b, "subject", "weight_bytes", DCK_UNIT_BYTE, (int64_t)m->weight_bytes);
}

void subject_facts_rebatched(record_builder *b, const rebatch_info *f)
{
	char to[32] = "larger batches";

	if (f->items > 0)
		snprintf(to, sizeof to, "%lld", (long long)f->items);
	record_fact_fmt(b, "subject", "rebatched", "from %lld to %s, %zu operator%s rewritten",
			(long long)f->was, to, f->rewritten, f->rewritten == 1 ? "" : "s");
	if (*f->shared)
		record_fact_text(b, "subject", "batch_shared", f->shared);
	record_fact_text(b, "subject", "batch_checked", f->looked);
	record_note(b, "rebatched",
		    "exported for %lld item%s; rebatched for %s: "
		    "%zu operator%s rewritten; %s%s%s%s",
		    (long long)f->was, f->was == 1 ? "" : "s", to, f->rewritten,
		    f->rewritten == 1 ? "" : "s", *f->shared ? "the same for all items: " : "",
		    f->shared, *f->shared ? "; " : "", f->looked);
}

void subject_facts_of(record_builder *b, const dck_subject *s, const subject_target *t)
{
	static const char *const kinds[] = {
	    [DCK_SUBJECT_FUNCTION] = "function",
	    [DCK_SUBJECT_MODEL] = "model",
	    [DCK_SUBJECT_COMMAND] = "command",
	    [DCK_SUBJECT_PLUGIN] = "plugin",
	};
	char key[160], text[256];

	record_fact_text(b, "subject", "kind", kinds[s->kind]);
	if (s->text)
		record_fact_text(b, "subject", "name", s->text);
	else if (s->kind == DCK_SUBJECT_COMMAND)
		record_fact_text(b, "subject", "name", words_text(s->argv, text, sizeof text));
	else
		record_fact_absent(b, "subject", "name", "the caller gave none");
	if (t->has_summary)
		facts_model(b, t);
	for (size_t i = 0; i < t->nin; i++) {
		snprintf(key, sizeof key, "input/%s", t->in[i].name);
		record_fact_text(b, "subject", key,
				 t->bare ? tensor_text(&t->in[i], text, sizeof text)
					 : subject_inputs_text(t->inputs, i));
		const char *op = t->bare ? NULL : subject_inputs_decides(t->inputs, i);
		if (op)
			record_note(
			    b, "input-decides-work",
			    "the values of '%.60s' decide how much %s computes, and they are "
			    "random: give those of your use, --input %.60s=VALUE",
			    t->in[i].name, op, t->in[i].name);
	}
	for (size_t i = 0; i < t->nout; i++) {
		snprintf(key, sizeof key, "output/%s", t->out[i].name);
		record_fact_text(b, "subject", key, tensor_text(&t->out[i], text, sizeof text));
	}
	if (!t->bare)
		record_fact_int(b, "subject", "items_per_run", DCK_UNIT_ONE, (int64_t)t->items);
	if (t->items_how)
		record_fact_text(b, "subject", "items_from", t->items_how);
	if (t->rebatched.done)
		subject_facts_rebatched(b, &t->rebatched);
	if (t->usual && *t->usual)
		record_fact_text(b, "subject", "usual_sizes", t->usual);
	subject_facts_usual(b, s->text, t->usual);
}

void subject_facts_usual(record_builder *b, const char *name, const char *usual)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (usual && *usual)
		record_note(b, "usual-sizes", "%.80s leaves sizes open and ran with %s",
			    slash  ? slash + 1
			    : name ? name
				   : "the model",
			    usual);
}

void subject_facts_usual_copy(record_builder *b, const dck_record *from)
{
	const char *usual = record_get_text(from, "subject", "usual_sizes");

	if (usual)
		subject_facts_usual(b, record_get_text(from, "subject", "name"), usual);
}

static void facts_fallback(record_builder *b, const dck_kv *fact)
{
	if (strcmp(fact->key, "operators_on_cpu") == 0 && strcmp(fact->value, "none") != 0)
		record_note(b, "device-fallback", "operators that run on the processor, %s",
			    fact->value);
}

void subject_facts_engine(record_builder *b, const subject_target *t)
{
	const dck_engine *e = t->engine.ops;
	const dck_kv *kv;
	dck_err why;
	size_t n;

	record_fact_text(b, "engine", "name", e->name);
	record_fact_text(b, "engine", "adapter", e->version);
	if (engine_facts(e, t->model, &kv, &n, &why) != DCK_OK) {
		record_fact_absent(b, "engine", "facts", why.msg);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		record_fact_text(b, "engine", kv[i].key, kv[i].value);
		facts_fallback(b, &kv[i]);
	}
}

dck_status subject_facts_of_all(const dck_record *from, dck_record **ret, dck_err *err)
{
	static const char *const of_all[] = {"host", "build", "engine", "subject"};
	/* These belong to one batch size. */
	static const char *const of_one[] = {"input/", "output/", "items_"};
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for facts");
	for (size_t i = 0; i < from->nfacts; i++) {
		const dck_fact *f = &from->facts[i];
		bool take = false;

		for (size_t k = 0; k < sizeof of_all / sizeof of_all[0]; k++)
			take |= strcmp(f->section, of_all[k]) == 0;
		for (size_t k = 0; k < sizeof of_one / sizeof of_one[0]; k++)
			take &= strcmp(f->section, "subject") != 0 ||
				strncmp(f->key, of_one[k], strlen(of_one[k])) != 0;
		/* What waits for the runs of a device is tested in each trial. */
		take |= strcmp(f->section, "device") == 0 && strcmp(f->key, "barrier") == 0;
		if (take)
			record_copy_fact(b, f);
	}
	return record_finish(b, ret, err);
}
