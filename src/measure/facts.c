/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/facts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

record_builder *bench_facts_new(const char *title)
{
	record_builder *b = record_new();
	unsigned char bytes[16];
	char id[2 * sizeof bytes + 1];

	if (!b)
		return NULL;
	os_random_bytes(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", bytes[i]);
	record_set_id(b, id);
	record_set_command(b, title);
	return b;
}

record_builder *bench_facts_record(const bench_plan *plan)
{
	return bench_facts_new(plan->asked.title);
}

static void fact_known_text(record_builder *b, const char *section, const char *key,
			    const char *text)
{
	if (text && text[0])
		record_fact_text(b, section, key, text);
	else
		record_fact_absent(b, section, key, "the system does not tell");
}

static void fact_known_bytes(record_builder *b, const char *key, uint64_t bytes, const char *why)
{
	if (bytes > 0)
		record_fact_int(b, "host", key, DCK_UNIT_BYTE, (int64_t)bytes);
	else
		record_fact_absent(b, "host", key, why);
}

static void fact_tristate(record_builder *b, const char *key, int state)
{
	if (state < 0)
		record_fact_absent(b, "host", key, "the system does not tell");
	else
		record_fact_bool(b, "host", key, state != 0);
}

void bench_facts_host(record_builder *b, const os_host *h)
{
	fact_known_text(b, "host", "cpu", h->cpu);
	record_fact_int(b, "host", "cpus_online", DCK_UNIT_ONE, h->cpus_online);
	record_fact_int(b, "host", "cpus_allowed", DCK_UNIT_ONE, h->cpus_allowed);
	if (h->cgroup_cpus > 0)
		record_fact_real(b, "host", "cpu_limit", DCK_UNIT_ONE, h->cgroup_cpus);
	else
		record_fact_absent(b, "host", "cpu_limit", "none is set");
	fact_known_bytes(b, "memory", h->memory_bytes, "the system does not tell");
	fact_known_bytes(b, "memory_limit", (uint64_t)h->cgroup_memory_bytes, "none is set");
	fact_known_text(b, "host", "governor", h->governor);
	fact_tristate(b, "turbo", h->turbo);
	fact_tristate(b, "smt", h->smt);
	fact_known_text(b, "host", "os", h->os);
	fact_known_text(b, "host", "kernel", h->kernel);
	fact_known_text(b, "host", "hypervisor", h->hypervisor);
}

static const char *tensor_text(const dck_tensor_info *t, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (int32_t i = 0; i < t->rank && used < size; i++) {
		const char *by = i > 0 ? "x" : "";
		int n = t->dim[i] >= 0
			    ? snprintf(buf + used, size - used, "%s%lld", by, (long long)t->dim[i])
			    : snprintf(buf + used, size - used, "%s%s", by,
				       t->symbol[i] ? t->symbol[i] : "?");
		used += n > 0 ? (size_t)n : 0;
	}
	if (used < size)
		snprintf(buf + used, size - used, "%s%s", t->rank > 0 ? " " : "",
			 dck_dtype_text(t->dtype));
	return buf;
}

/* A command's words with blanks between; a long one is cut. */
static const char *words_text(char *const *words, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; words[i] && used < size; i++) {
		int n = snprintf(buf + used, size - used, "%s%s", i > 0 ? " " : "", words[i]);

		used += n > 0 ? (size_t)n : 0;
	}
	if (used >= size)
		memcpy(buf + size - 4, "...", 4);
	return buf;
}

static void facts_model(record_builder *b, const bench_target *t)
{
	const model_summary *m = &t->summary;

	fact_known_text(b, "subject", "producer", m->producer);
	record_fact_int(b, "subject", "opset", DCK_UNIT_ONE, m->opset);
	record_fact_int(b, "subject", "nodes", DCK_UNIT_ONE, (int64_t)m->nodes);
	record_fact_int(b, "subject", "weight_bytes", DCK_UNIT_BYTE, (int64_t)m->weight_bytes);
}

void bench_facts_freed(record_builder *b, const bench_freed *f)
{
	char to[32] = "larger batches";

	if (f->items > 0)
		snprintf(to, sizeof to, "%lld", (long long)f->items);
	record_fact_fmt(b, "subject", "batch_freed", "from %lld to %s, %zu operator%s rewritten",
			(long long)f->was, to, f->rewritten, f->rewritten == 1 ? "" : "s");
	if (*f->shared)
		record_fact_text(b, "subject", "batch_shared", f->shared);
	record_fact_text(b, "subject", "batch_checked", f->looked);
	record_note(b, DCK_INFO, "batch-freed",
		    "exported for %lld item%s; its batch was freed for %s: %zu operator%s "
		    "rewritten; %s%s%s%s",
		    (long long)f->was, f->was == 1 ? "" : "s", to, f->rewritten,
		    f->rewritten == 1 ? "" : "s", *f->shared ? "the same for all items: " : "",
		    f->shared, *f->shared ? "; " : "", f->looked);
}

void bench_facts_subject(record_builder *b, const dck_subject *s, const bench_target *t)
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
		record_fact_text(b, "subject", key, bench_inputs_text(t->inputs, i));
	}
	for (size_t i = 0; i < t->nout; i++) {
		snprintf(key, sizeof key, "output/%s", t->out[i].name);
		record_fact_text(b, "subject", key, tensor_text(&t->out[i], text, sizeof text));
	}
	record_fact_int(b, "subject", "items_per_run", DCK_UNIT_ONE, (int64_t)t->items);
	if (t->items_how)
		record_fact_text(b, "subject", "items_from", t->items_how);
	if (t->freed.done)
		bench_facts_freed(b, &t->freed);
}

void bench_facts_engine(record_builder *b, const bench_target *t)
{
	const dck_engine *e = t->engine.ops;
	const dck_kv *kv;
	size_t n;

	record_fact_text(b, "engine", "name", e->name);
	record_fact_text(b, "engine", "adapter", e->version);
	if (!e->facts || e->facts(t->model, &kv, &n, NULL) != DCK_OK)
		return;
	for (size_t i = 0; i < n; i++)
		record_fact_text(b, "engine", kv[i].key, kv[i].value);
}

/* What an option row's field holds, as a fact. */
static void fact_option(record_builder *b, const char *section, const dck_opt *o, const void *field)
{
	const bool number =
	    o->kind == DCK_OPT_COUNT || o->kind == DCK_OPT_TIME || o->kind == DCK_OPT_BYTES;

	/* Without a default 0 stands for "not given". */
	if (number && !o->def && *(const uint64_t *)field == 0) {
		record_fact_absent(b, section, o->name, "not given");
		return;
	}
	switch (o->kind) {
	case DCK_OPT_FLAG:
		record_fact_bool(b, section, o->name, *(const bool *)field);
		break;
	case DCK_OPT_COUNT:
		record_fact_int(b, section, o->name, DCK_UNIT_ONE,
				(int64_t) * (const uint64_t *)field);
		break;
	case DCK_OPT_TIME:
		record_fact_int(b, section, o->name, DCK_UNIT_NS,
				(int64_t) * (const uint64_t *)field);
		break;
	case DCK_OPT_BYTES:
		record_fact_int(b, section, o->name, DCK_UNIT_BYTE,
				(int64_t) * (const uint64_t *)field);
		break;
	case DCK_OPT_REAL:
	case DCK_OPT_SHARE:
		record_fact_real(b, section, o->name, DCK_UNIT_ONE, *(const double *)field);
		break;
	case DCK_OPT_CHOICE:
		record_fact_text(b, section, o->name, o->choices[*(const int *)field]);
		break;
	case DCK_OPT_TEXT:
		if (*(const char *const *)field)
			record_fact_text(b, section, o->name, *(const char *const *)field);
		else
			record_fact_absent(b, section, o->name, "not given");
		break;
	case DCK_OPT_LIST: {
		const dck_list *list = field;
		char key[80];

		for (size_t i = 0; i < list->n; i++) {
			snprintf(key, sizeof key, "%s/%zu", o->name, i + 1);
			record_fact_text(b, section, key, list->item[i]);
		}
		break;
	}
	}
}

void bench_facts_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg)
{
	for (const dck_opt *o = table; o->name; o++)
		fact_option(b, section, o, (const char *)cfg + o->at);
}

static void facts_warmup(record_builder *b, const bench_phases *p)
{
	switch (p->plan.warmup) {
	case BENCH_WARMUP_RUNS:
		record_fact_fmt(b, "method", "warmup_rule", "%llu runs were asked",
				(unsigned long long)p->plan.warmup_amount);
		break;
	case BENCH_WARMUP_TIME:
		record_fact_fmt(b, "method", "warmup_rule", "%g s were asked",
				(double)p->plan.warmup_amount / 1e9);
		break;
	case BENCH_WARMUP_AUTO:
		record_fact_text(b, "method", "warmup_rule", "until a steady state is detected");
		if (p->steady && p->steady_runs == 0)
			record_fact_fmt(b, "method", "steady", "steady from the first run on: %s",
					p->verdict.evidence);
		else if (p->steady)
			record_fact_fmt(b, "method", "steady", "steady after %llu runs, %.2g s: %s",
					(unsigned long long)p->steady_runs,
					(double)p->steady_ns / 1e9, p->verdict.evidence);
		else if (p->steady_known)
			record_fact_fmt(b, "method", "steady",
					"not steady after %.2g s: still %s %.1f %%: %s",
					(double)p->warmup_ns / 1e9,
					p->verdict.change_ratio < 0 ? "falling" : "rising",
					100 * fabs(p->verdict.change_ratio), p->verdict.evidence);
		else
			record_fact_absent(b, "method", "steady", "too few warm-up runs to tell");
		break;
	}
}

void bench_facts_method(record_builder *b, const bench_phases *p, const bench_ending *ending,
			const stat_estimate *estimates)
{
	const uint32_t caps = p->loop.target->engine.ops->caps;

	record_fact_text(b, "method", "clock", p->loop.clock->name);
	record_fact_real(b, "method", "clock_cost", DCK_UNIT_NS, p->loop.clock->cost_ns);
	record_fact_real(b, "method", "clock_tick", DCK_UNIT_NS, p->loop.clock->tick_ns);
	record_fact_text(
	    b, "method", "enclosed",
	    caps & DCK_CAP_COMMAND ? "from before the process is started until it is waited for"
	    : caps & DCK_CAP_NO_TENSORS ? "one call"
					: "one call of the engine, until the results are ready");
	if (!(caps & DCK_CAP_NO_TENSORS))
		record_fact_text(
		    b, "method", "transfers",
		    "none inside: inputs and outputs stay in memory that is bound beforehand");
	facts_warmup(b, p);
	record_fact_text(b, "method", "stop", ending->stop);
	record_fact_int(b, "method", "precision_checks", DCK_UNIT_ONE, (int64_t)p->checks);
	if (isnan(ending->half_ratio))
		record_fact_absent(b, "method", "precision_reached", ending->why);
	else
		record_fact_real(b, "method", "precision_reached", DCK_UNIT_ONE,
				 ending->half_ratio);
	record_fact_text(
	    b, "method", "interval",
	    "within one process, corrected for autocorrelation; another start of the program "
	    "may lie outside (--processes)");
	record_fact_int(b, "method", "group", DCK_UNIT_ONE, (int64_t)p->loop.group);
	record_fact_int(b, "method", "samples", DCK_UNIT_ONE, (int64_t)p->latency.pushed);
	record_fact_int(b, "method", "samples_kept", DCK_UNIT_ONE, (int64_t)p->latency.n);
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 1);
	if (p->latency.n > 1) {
		record_fact_real(b, "samples", "lag1_autocorrelation", DCK_UNIT_ONE,
				 stat_lag1(p->latency.value, p->latency.n));
		record_fact_real(b, "samples", "effective_runs", DCK_UNIT_ONE,
				 estimates[STAT_MEAN].n_eff);
	}
}

void bench_facts_copy(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++) {
		const dck_fact *f = &r->facts[i];

		switch (f->value.kind) {
		case DCK_VALUE_ABSENT:
			record_fact_absent(b, f->section, f->key, f->value.as.text);
			break;
		case DCK_VALUE_BOOL:
			record_fact_bool(b, f->section, f->key, f->value.as.b);
			break;
		case DCK_VALUE_INT:
			record_fact_int(b, f->section, f->key, f->unit, f->value.as.i);
			break;
		case DCK_VALUE_REAL:
			record_fact_real(b, f->section, f->key, f->unit, f->value.as.r);
			break;
		case DCK_VALUE_TEXT:
			record_fact_text(b, f->section, f->key, f->value.as.text);
			break;
		}
	}
}

void bench_facts_metric(record_builder *b, const dck_metric *from)
{
	const char *tag = from->def->tag;

	switch (from->value.kind) {
	case DCK_VALUE_INT:
		record_metric_int(b, tag, from->value.as.i, from->how);
		break;
	case DCK_VALUE_REAL:
		if (from->level > 0)
			record_metric_interval(b, tag, from->value.as.r, from->lo, from->hi,
					       from->level, from->how);
		else
			record_metric_real(b, tag, from->value.as.r, from->how);
		break;
	default:
		record_metric_absent(b, tag,
				     from->value.kind == DCK_VALUE_ABSENT ? from->value.as.text
									  : "not known");
		break;
	}
	record_metric_unit(b, tag, from->def->unit);
}

/* A builder makes no yes or no; a record of another program may have them. */
static void cell_copy(record_builder *b, const dck_cell *c)
{
	switch (c->value.kind) {
	case DCK_VALUE_ABSENT:
		record_cell_absent(b, c->value.as.text);
		break;
	case DCK_VALUE_BOOL:
		record_cell_text(b, c->value.as.b ? "yes" : "no");
		break;
	case DCK_VALUE_INT:
		record_cell_int(b, c->value.as.i);
		break;
	case DCK_VALUE_REAL:
		record_cell_interval(b, c->value.as.r, c->lo, c->hi, c->level);
		break;
	case DCK_VALUE_TEXT:
		record_cell_text(b, c->value.as.text);
		break;
	}
}

void bench_facts_table(record_builder *b, const dck_table *from)
{
	char keys[512] = "";
	size_t n = 0;

	record_table(b, from->name, from->title, from->columns, from->ncolumns);
	for (size_t i = 0; i < from->nbrief_columns && n < sizeof keys; i++)
		n += (size_t)snprintf(keys + n, sizeof keys - n, "%s ",
				      from->columns[from->brief_columns[i]].key);
	if (n > 0)
		record_brief_columns(b, keys);
	for (size_t row = 0, brief = 0; row < from->nrows; row++) {
		for (size_t k = 0; k < from->ncolumns; k++)
			cell_copy(b, &from->cells[row * from->ncolumns + k]);
		if (brief < from->nbrief_rows && from->brief_rows[brief] == row) {
			record_brief_row(b);
			brief++;
		}
	}
}

void bench_facts_folded(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nnotes; i++)
		if (r->notes[i].under)
			record_note_under(b, r->notes[i].code, r->notes[i].under);
}
