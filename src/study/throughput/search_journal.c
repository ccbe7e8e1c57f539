/* search_journal.c - an append-only log of a search: a line of JSON (a record) for each trial,
 * synced before the search continues, and replayed when it is resumed.
 *
 * The first line has the key: everything that defines the search. Replay is deterministic:
 * lines_replay() takes the next trial from the search and gives it the outcome of the next line; a
 * trial that the search would not make is rejected, and so is another key. A last line without its
 * newline was torn by a kill and is truncated. Numbers that are not finite are left out and read as
 * NaN.
 *
 * Invariants: the lock of the file is taken before it is read and held until it is closed, so that
 * two searches never write one journal; a file that is not a journal, or is damaged, is not
 * changed; no line is written before the trial it describes is complete. At most JOURNAL_BYTES_MAX
 * bytes are read. The facts that the first trial left are owned by the caller.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search_journal.h"
#include "base/err.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "record/record_begin.h"
#include "record/copy.h"
#include "os/os.h"
#include "record/build.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOURNAL_BYTES_MAX ((size_t)64 << 20)
#define WORD_SHOWN	  120

struct search_journal {
	int fd;
	char *path; /* @owned */
};

/* --- lines */

static const char *const ends[] = {
    [SEARCH_OK] = "ok", [SEARCH_MEMORY] = "memory", [SEARCH_ERROR] = "error"};

static void journal_number_put(record_builder *b, const char *key, const search_number *x)
{
	const double v[] = {x->value, x->lo, x->hi};
	static const char *const part[] = {"", "_lo", "_hi"};
	char name[32];

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "%s%s", key, part[i]);
		if (isfinite(v[i]))
			record_fact_real(b, "trial", name, DCK_UNIT_NONE, v[i]);
	}
}

static double journal_real_get(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trial", key);

	return f ? dck_value_number(&f->value) : (double)NAN;
}

static search_number journal_number_get(const dck_record *r, const char *key)
{
	char lo[32], hi[32];

	snprintf(lo, sizeof lo, "%s_lo", key);
	snprintf(hi, sizeof hi, "%s_hi", key);
	return (search_number){journal_real_get(r, key), journal_real_get(r, lo),
			       journal_real_get(r, hi)};
}

static const char *journal_text_get(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f && f->value.kind == DCK_VALUE_TEXT ? f->value.as.text : NULL;
}

/* Appends one line, whole or not at all as far as the system allows; it is on the disk when this
 * returns. */
static dck_status journal_line_write(search_journal *j, record_builder *b, dck_err *err)
{
	dck_buffer line = {0};
	dck_record *r;
	json_writer w;
	dck_sink out;
	dck_status status;

	DCK_TRY(record_finish(b, &r, err));
	dck_sink_buffer(&out, &line);
	json_init(&w, &out, false);
	record_json_put(r, &w);
	json_done(&w);
	status = dck_sink_finish(&out, err);
	dck_record_free(r);
	if (status == DCK_OK)
		status = os_append(j->fd, j->path, line.data, line.n, err);
	dck_buffer_done(&line);
	return status;
}

static dck_status key_write(search_journal *j, const char *key, dck_err *err)
{
	record_builder *b = record_begin("throughput journal");

	DCK_NEED(b, err, "for a line of '%s'", j->path);
	record_fact_text(b, "journal", "search", key);
	return journal_line_write(j, b, err);
}

dck_status search_journal_add(search_journal *j, const search_ask *ask, const search_outcome *o,
			      const dck_record *facts, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for a line of '%s'", j->path);
	record_fact_int(b, "trial", "batch", DCK_UNIT_ONE, (int64_t)ask->batch);
	record_fact_int(b, "trial", "setting", DCK_UNIT_ONE, ask->setting);
	record_fact_int(b, "trial", "round", DCK_UNIT_ONE, ask->round);
	record_fact_text(b, "trial", "end", ends[o->end]);
	if (o->end != SEARCH_OK)
		record_fact_text(b, "trial", "why", o->why);
	journal_number_put(b, "rate", &o->rate);
	journal_number_put(b, "mean_rate", &o->mean_rate);
	journal_number_put(b, "latency", &o->latency);
	journal_number_put(b, "held", &o->held);
	record_fact_int(b, "trial", "memory", DCK_UNIT_BYTE, (int64_t)o->peak_rss_bytes);
	if (facts)
		record_copy_facts(b, facts);
	return journal_line_write(j, b, err);
}

/* --- reading */

/* Moves *at to the next word, or to NULL after the last one. Returns the bytes of the word. */
static size_t word_take(const char **at, const char **ret)
{
	const size_t n = *at ? strcspn(*at, "\n") : 0;

	*ret = *at;
	*at = *at && (*at)[n] ? *at + n + 1 : NULL;
	return n;
}

static void word_show(const char *word, size_t n, char *buf)
{
	snprintf(buf, WORD_SHOWN, "%.*s", word ? (int)n : 7, word ? word : "nothing");
}

/* Copies the first words in which two keys differ; "nothing" for the key that has ended. */
static void keys_differ(const char *a, const char *b, char *word_a, char *word_b)
{
	const char *from_a, *from_b;
	size_t na, nb;

	do {
		na = word_take(&a, &from_a);
		nb = word_take(&b, &from_b);
	} while (from_a && from_b && na == nb && strncmp(from_a, from_b, na) == 0);
	word_show(from_a, na, word_a);
	word_show(from_b, nb, word_b);
}

static dck_status key_check(const char *path, const dck_record *r, const char *key, dck_err *err)
{
	const char *there = journal_text_get(r, "journal", "search");
	char a[WORD_SHOWN], b[WORD_SHOWN];

	if (!there)
		DCK_FAIL(err, E_FORMAT, "'%s' is not a journal of a search: give another file",
			 path);
	if (strcmp(there, key) == 0)
		return DCK_OK;
	keys_differ(there, key, a, b);
	DCK_FAIL(err, E_ARG,
		 "'%s' is the journal of another search: it has '%s', this one has '%s'; "
		 "give another file, or the same options",
		 path, a, b);
}

static dck_status journal_outcome_read(const dck_record *r, search_outcome *ret)
{
	const char *end = journal_text_get(r, "trial", "end"),
		   *why = journal_text_get(r, "trial", "why");
	const double memory = journal_real_get(r, "memory");
	bool known = false;

	*ret = (search_outcome){.rate = journal_number_get(r, "rate"),
				.mean_rate = journal_number_get(r, "mean_rate"),
				.latency = journal_number_get(r, "latency"),
				.held = journal_number_get(r, "held"),
				.peak_rss_bytes = memory > 0 ? (uint64_t)memory : 0};
	for (size_t i = 0; end && i < sizeof ends / sizeof ends[0]; i++)
		if (strcmp(ends[i], end) == 0) {
			ret->end = (search_end)i;
			known = true;
		}
	snprintf(ret->why, sizeof ret->why, "%s", why ? why : "");
	return known && (ret->end != SEARCH_OK || (ret->rate.value > 0 && ret->latency.value > 0))
		   ? DCK_OK
		   : DCK_E_FORMAT;
}

static bool journal_is(const dck_record *r, const char *key, double v)
{
	const double there = journal_real_get(r, key);

	return there >= v && there <= v;
}

static dck_status trial_replay(const char *path, size_t line, const dck_record *r, search *s,
			       dck_err *err)
{
	search_outcome o;
	search_ask ask;
	bool more;

	if (journal_outcome_read(r, &o) != DCK_OK)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is damaged in line %zu: give another file to start again", path,
			 line);
	DCK_TRY(search_next(s, &more, &ask, err));
	if (!more || !journal_is(r, "batch", (double)ask.batch) ||
	    !journal_is(r, "setting", ask.setting) || !journal_is(r, "round", ask.round))
		DCK_FAIL(err, E_ARG,
			 "line %zu of '%s' is a trial that this search would not make: "
			 "give another file to start again",
			 line, path);
	return search_tell(s, &o, err);
}

/* *ret_good: bytes up to the end of the last whole line. */
static dck_status lines_replay(const char *path, dck_buffer *text, const char *key, search *s,
			       size_t *ret_good, dck_record **ret_facts, dck_err *err)
{
	size_t at = 0, line = 1;

	for (char *end; at < text->n && (end = memchr(text->data + at, '\n', text->n - at));
	     line++) {
		dck_record *r;
		const size_t n = (size_t)(end - text->data) - at;
		dck_status status;

		status = dck_record_parse(text->data + at, n, &r, NULL);
		if (status != DCK_OK)
			DCK_FAIL(err, E_FORMAT,
				 "'%s' is not a journal of a search (line %zu is not a record): "
				 "give another file",
				 path, line);
		status =
		    line == 1 ? key_check(path, r, key, err) : trial_replay(path, line, r, s, err);
		if (status == DCK_OK && line > 1 && !*ret_facts &&
		    dck_record_fact(r, "subject", "kind"))
			*ret_facts = r;
		else
			dck_record_free(r);
		if (status != DCK_OK)
			return status;
		at += n + 1;
	}
	*ret_good = at;
	return DCK_OK;
}

/* Locks the file before it is read: of two searches each would replay the other's trials. */
static dck_status journal_continue(search_journal *j, const char *key, search *s,
				   dck_record **ret_facts, dck_err *err)
{
	dck_buffer text = {0};
	size_t good = 0;
	dck_status status;

	DCK_TRY(os_open_append(j->path, &j->fd, err));
	if (!os_file_lock(j->fd))
		DCK_FAIL(err, E_IO,
			 "another search writes to the journal '%s' now: wait until it is done, or "
			 "give another file",
			 j->path);
	DCK_TRY(os_read_file(j->path, JOURNAL_BYTES_MAX, &text, err));
	status = text.n > 0 ? lines_replay(j->path, &text, key, s, &good, ret_facts, err) : DCK_OK;
	if (status == DCK_OK && text.n > 0 && good == 0)
		status = err_set(err, DCK_E_FORMAT, __FILE__, __LINE__,
				 "'%s' is not a journal of a search: give another file", j->path);
	if (status == DCK_OK && good < text.n)
		status = os_truncate(j->fd, j->path, good, err);
	if (status == DCK_OK && text.n == 0)
		status = key_write(j, key, err);
	dck_buffer_done(&text);
	return status;
}

dck_status search_journal_open(const char *path, const char *key, search *s, search_journal **ret,
			       dck_record **ret_facts, dck_err *err)
{
	search_journal *j = mem_zalloc(1, sizeof *j);
	dck_record *facts = NULL;
	dck_status status;

	if (!j || !(j->path = mem_dup(path))) {
		mem_free(j);
		return ERR_NO_MEMORY(err, "for the journal '%s'", path);
	}
	j->fd = -1;
	status = journal_continue(j, key, s, &facts, err);
	if (status != DCK_OK) {
		dck_record_free(facts);
		search_journal_close(j);
		return status;
	}
	*ret = j;
	*ret_facts = facts;
	return DCK_OK;
}

void search_journal_close(search_journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		os_close(j->fd);
	mem_free(j->path);
	mem_free(j);
}
