/* convenience.c - convenience API: opens a history for one operation, as every front end does after
 * a measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/history.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "history/store.h"
#include "os/os.h"

dck_status dck_history_keep(const char *path, const dck_record *r, const char *commit, dck_err *err)
{
	dck_history_config config;
	dck_history *history = NULL;
	char text[DCK_COMMIT_SIZE], host[256], branch[HISTORY_BRANCH_SIZE];
	dck_status status;

	dck_history_config_init(&config);
	config.path = path;
	os_machine_name(host, sizeof host);
	config.host = host;
	/* A commit that is named may be of another branch. */
	config.branch = commit ? NULL : dck_history_branch(".", branch, sizeof branch);
	status = dck_history_open(&config, &history, err);
	DCK_NEXT(status,
		 dck_history_add(history, r, commit ? commit : dck_history_commit(".", text), NULL,
				 err));
	dck_history_close(history);
	return status;
}

/* A query of a history that must exist. */
typedef dck_status (*question)(dck_history *h, const dck_record *r, dck_record **ret, dck_err *err);

static dck_status history_ask(const char *path, question q, const dck_record *r, dck_record **ret,
			      dck_err *err)
{
	dck_history_config config;
	dck_history *history = NULL;
	dck_status status;

	dck_history_config_init(&config);
	config.path = path;
	config.existing = true;
	status = dck_history_open(&config, &history, err);
	DCK_NEXT(status, q(history, r, ret, err));
	dck_history_close(history);
	return status;
}

dck_status dck_history_before(const char *path, const dck_record *r, dck_record **ret, dck_err *err)
{
	return history_ask(path, dck_history_baseline, r, ret, err);
}

void dck_history_with_starts(const char *path, dck_record **r)
{
	dck_record *more;

	if (history_ask(path, dck_history_starts, *r, &more, NULL) == DCK_OK) {
		dck_record_free(*r);
		*r = more;
	}
}
