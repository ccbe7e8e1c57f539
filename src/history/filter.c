/* filter.c - a filter as SQL. What users give is bound, never pasted into it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "os/os.h"
#include <stdio.h>
#include <string.h>

const dck_opt dck_history_filter_options[] = {
    DCK_OPTION(TEXT, dck_history_filter, subject, "subject", "NAME", NULL,
	       "records of this subject; * and ? match any text and any character"),
    DCK_OPTION(TEXT, dck_history_filter, command, "command", "NAME", NULL,
	       "records of this command, as bench"),
    DCK_OPTION(TEXT, dck_history_filter, since, "since", "WHEN", NULL,
	       "started on or after this date (2026-11-01), or within this age (90d)"),
    DCK_OPTION(TEXT, dck_history_filter, until, "until", "WHEN", NULL, "started before that"),
    DCK_OPTION(TEXT, dck_history_filter, commit, "at-commit", "ID", NULL,
	       "records of the commit whose name begins so"),
    DCK_OPTION(TEXT, dck_history_filter, branch, "branch", "NAME", NULL,
	       "records of commits of this branch"),
    DCK_OPTION(TEXT, dck_history_filter, host, "host", "NAME", NULL,
	       "records measured on this machine, by its name; * and ? as in a subject"),
    DCK_OPTION(TEXT, dck_history_filter, cpu, "cpu", "NAME", NULL,
	       "records of this processor, as '*EPYC*'"),
    DCK_OPTION(COUNT, dck_history_filter, limit, "limit", "N", NULL, "only the newest N; 0: all"),
    {0},
};

static void clause(history_where *w, const char *text)
{
	const size_t n = strlen(w->sql);

	snprintf(w->sql + n, sizeof w->sql - n, "%s%s", n > 0 ? " AND " : "WHERE ", text);
}

dck_status history_where_make(const dck_history_filter *f, history_where *ret, dck_err *err)
{
	history_where w = {.limit = INT64_MAX};
	const int64_t now = os_unix_ns();

	if (!f) {
		*ret = w;
		return DCK_OK;
	}
	w.subject = f->subject;
	w.command = f->command;
	w.commit = f->commit;
	w.host = f->host;
	w.cpu = f->cpu;
	w.branch = f->branch;
	if (f->subject)
		clause(&w, strpbrk(f->subject, "*?") ? "records.subject {matches :subject}"
						     : "records.subject = :subject");
	if (f->host)
		clause(&w, strpbrk(f->host, "*?") ? "records.host {matches :host}"
						  : "records.host = :host");
	if (f->cpu)
		clause(&w,
		       strpbrk(f->cpu, "*?") ? "records.cpu {matches :cpu}" : "records.cpu = :cpu");
	if (f->branch)
		clause(&w, "records.branch = :branch");
	if (f->command)
		clause(&w, "records.verb = :command");
	if (f->since) {
		DCK_TRY(history_when(f->since, now, &w.since, err));
		clause(&w, "records.at >= :since");
	}
	if (f->until) {
		DCK_TRY(history_when(f->until, now, &w.until, err));
		clause(&w, "records.at < :until");
	}
	if (f->commit)
		clause(&w, "substr(records.commit_id, 1, length(:commit)) = :commit");
	if (f->limit > 0 && f->limit < (uint64_t)INT64_MAX)
		w.limit = (int64_t)f->limit;
	*ret = w;
	return DCK_OK;
}

void history_where_bind(const history_where *w, history_statement *s)
{
	/* Index 0 means no parameter, and binding it has no effect. */
	history_bind_text(s, ":subject", w->subject);
	history_bind_text(s, ":command", w->command);
	history_bind_text(s, ":commit", w->commit);
	history_bind_text(s, ":host", w->host);
	history_bind_text(s, ":cpu", w->cpu);
	history_bind_text(s, ":branch", w->branch);
	history_bind_int(s, ":since", w->since);
	history_bind_int(s, ":until", w->until);
	history_bind_int(s, ":limit", w->limit);
}
