/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/perf_map.h"

#include "base/mem.h"
#include "os/os.h"
#include "os/file/text.h"
#include "profiler/unwind/address_search.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_MAX_BYTES = 1 << 29, MAP_NESTED = 64 };

typedef struct row {
	uint64_t begin, end;
	size_t line; /* later ones are newer */
	const char *name;
} row;

struct perf_map {
	dck_buffer text;
	row *rows;
	size_t n;
};

static int map_by_begin(const void *a, const void *b)
{
	const row *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static bool read_row(char *line, row *ret)
{
	char *at;

	ret->begin = strtoull(line, &at, 16);
	if (at == line || *at != ' ')
		return false;
	line = at;
	ret->end = ret->begin + strtoull(line, &at, 16);
	if (at == line || *at != ' ' || ret->end <= ret->begin)
		return false;
	at += strspn(at, " ");
	ret->name = at;
	return *at != '\0';
}

static void read_rows(perf_map *m)
{
	size_t cap = 0, line_number = 0;

	for (char *rest = m->text.data, *line; rest && (line = text_line(&rest)); line_number++) {
		row r = {.line = line_number};

		if (!read_row(line, &r))
			continue;
		if (!mem_reserve(&m->rows, &cap, m->n + 1, sizeof r))
			break;
		m->rows[m->n++] = r;
	}
	if (m->n)
		qsort(m->rows, m->n, sizeof *m->rows, map_by_begin);
}

/* Returns the process's pid in its own pid namespace: in a container it differs. */
static long own_pid(pid_t pid)
{
	char path[64], status[4096], *at;
	long own = (long)pid;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	if (!text_read(path, status, sizeof status) || !(at = strstr(status, "\nNSpid:")))
		return own;
	at[1 + strcspn(at + 1, "\n")] = '\0';
	at = strrchr(at, '\t');
	return at && atol(at + 1) > 0 ? atol(at + 1) : own;
}

/* Reads the map below that root, with the process's own pid. Only a regular file is read: any user
 * may create a pipe there, which would never end. */
static bool map_read(perf_map *m, const char *root, long pid)
{
	char path[96];

	snprintf(path, sizeof path, "%s/tmp/perf-%ld.map", root, pid);
	const int fd = os_open_read(path);
	if (fd < 0)
		return false;
	const bool ok = os_fd_kind(fd, NULL) == OS_FILE &&
			os_file_read_all(fd, MAP_MAX_BYTES, &m->text, NULL) == DCK_OK;
	os_close(fd);
	return ok;
}

perf_map *perf_map_open(pid_t pid)
{
	perf_map *m = mem_zalloc(1, sizeof *m);
	char own_root[32];

	if (!m)
		return NULL;
	snprintf(own_root, sizeof own_root, "/proc/%ld/root", (long)pid);
	if (map_read(m, own_root, own_pid(pid)) || map_read(m, "", (long)pid))
		read_rows(m);
	return m;
}

void perf_map_close(perf_map *m)
{
	if (!m)
		return;
	dck_buffer_done(&m->text);
	mem_free(m->rows);
	mem_free(m);
}

const char *perf_map_find(const perf_map *m, uint64_t address)
{
	const row *found = NULL;
	size_t low = address_search(m->rows, m->n, sizeof *m->rows, offsetof(row, begin), address);

	for (unsigned i = 0; i < MAP_NESTED && low > 0; i++) {
		const row *r = &m->rows[--low];

		if (address < r->end && (!found || r->line > found->line))
			found = r;
	}
	return found ? found->name : NULL;
}
