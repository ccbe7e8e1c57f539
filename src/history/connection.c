/* connection.c - opens a history: the file of SQLite, or the server of PostgreSQL that it names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "deepclock/unstable.h"
#include <string.h>

static const dck_opt config_rows[] = {
    DCK_OPTION(TIME, dck_history_config, wait_ns, "wait", "TIME", "30s", ""),
    {0},
};

void dck_history_config_init_sized(dck_history_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, config_rows);
}

dck_status history_library(dck_status loaded, dck_err *err)
{
	if (loaded != DCK_E_ABSENT)
		return loaded;
	if (err)
		err->code = DCK_E_UNSUP;
	return DCK_E_UNSUP;
}

static char *mem_dup_some(const char *text)
{
	return text ? mem_dup(text) : NULL;
}

static dck_status history_path_open(dck_history *h, const dck_history_config *c, dck_err *err)
{
	char path[4096];

	if (!c->path)
		DCK_TRY(dck_history_path(path, sizeof path, err));
	h->address = mem_dup(c->path ? c->path : path);
	h->wait_ns = c->wait_ns;
	h->host = mem_dup_some(c->host);
	h->branch = mem_dup_some(c->branch);
	DCK_NEED(h->address && !h->host == !c->host && !h->branch == !c->branch, err,
		 "to open the history");
	h->database =
	    history_is_address(h->address) ? &history_postgres_database : &history_sqlite_database;
	h->path = mem_dup(h->address);
	DCK_NEED(h->path, err, "to open the history");
	history_address_show(h->address, h->path, strlen(h->path) + 1);
	return h->database->open(h, c->existing, err);
}

dck_status dck_history_open_watched(const dck_history_config *c, const dck_observer *watch,
				    dck_history **ret, dck_err *err)
{
	dck_history_config own;
	dck_history *h;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_history_config_init, err, config_rows));
	h = mem_zalloc(1, sizeof *h);
	DCK_NEED(h, err, "to open the history");
	h->watch = watch;
	status = history_path_open(h, &own, err);
	if (status == DCK_OK)
		*ret = h;
	else
		dck_history_close(h);
	return status;
}

dck_status dck_history_open(const dck_history_config *c, dck_history **ret, dck_err *err)
{
	return dck_history_open_watched(c, NULL, ret, err);
}

void dck_history_close(dck_history *h)
{
	if (!h)
		return;
	if (h->database)
		h->database->close(h);
	mem_free(h->address);
	mem_free(h->host);
	mem_free(h->branch);
	mem_free(h->path);
	mem_free(h);
}

const char *dck_history_file(const dck_history *h)
{
	return h->path;
}

bool dck_history_is_server(const char *path)
{
	return history_is_address(path);
}

void dck_history_shown(const char *path, char *ret, size_t size)
{
	history_address_show(path, ret, size);
}

dck_status dck_history_server_check(const char *address, dck_err *err)
{
	dck_history_config config;
	dck_history *h = mem_zalloc(1, sizeof *h);
	dck_status status;

	DCK_NEED(h, err, "to open the history");
	dck_history_config_init(&config);
	config.path = address;
	h->checked_only = true;
	status = history_path_open(h, &config, err);
	if (status == DCK_OK && !h->writable)
		status = h->database->read_only(h, "write", err);
	dck_history_close(h);
	return status;
}
