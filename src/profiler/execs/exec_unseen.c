/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/execs/exec_unseen.h"

#include "base/sink.h"
#include "base/utf8.h"
#include "profiler/execs/exec_watch.h"
#include "record/program_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS_MAX = 256, PATH_BYTES = 4096, NAMED = 4 };

typedef struct started {
	const char *path;
	os_preload_obstacle obstacle;
} started;

typedef struct programs {
	const exec_unseen *of;
	mem_arena *arena;
	started rows[PROGRAMS_MAX];
	size_t n;
} programs;

/* With both kinds of environment. */
static bool is_listed(const programs *p, const started *s)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->rows[i].path, s->path))
			return true;
	return false;
}

static void started_read(void *self, const char *file)
{
	programs *p = self;
	dck_buffer text = {0};

	if (p->n < PROGRAMS_MAX && os_read_file(file, PATH_BYTES, &text, NULL) == DCK_OK &&
	    text.n > 1) {
		started *s = &p->rows[p->n];

		s->path = mem_arena_dup_n(p->arena, (const char *)text.data + 1, text.n - 1);
		s->obstacle = s->path ? os_preload_obstacle_of(s->path) : OS_PRELOAD_NONE;
		if (s->path && (s->obstacle || *(const char *)text.data != EXEC_PRELOADS) &&
		    !is_listed(p, s) && (!p->of->concerns || p->of->concerns(s->path)))
			p->n++;
	}
	dck_buffer_done(&text);
}

/* Programs of one cause together, by name. */
static int started_compare(const void *a, const void *b)
{
	const started *s = a, *t = b;

	return s->obstacle != t->obstacle ? (int)s->obstacle - (int)t->obstacle
					  : strcmp(s->path, t->path);
}

/* Adds the note of the first n rows, which have one cause. */
static void programs_put(record_builder *b, const exec_unseen *u, const started *rows, size_t n)
{
	const os_preload_obstacle obstacle = rows[0].obstacle;
	char others[400] = "";
	size_t at = 0;

	for (size_t i = 1; i < n && i < NAMED; i++)
		at += (size_t)snprintf(others + at, sizeof others - at, "%s'%.*s'",
				       i > 1 ? ", " : " (also ",
				       UTF8_NAME(os_path_base(rows[i].path)));
	if (n > NAMED)
		at += (size_t)snprintf(others + at, sizeof others - at, " and %zu more", n - NAMED);
	if (n > 1)
		snprintf(others + at, sizeof others - at, ")");
	record_note(b, "programs-not-recorded", "program '%.*s' is not in this result: %s%s",
		    UTF8_NAME(os_path_base(rows[0].path)),
		    obstacle ? os_preload_obstacle_text(obstacle)
			     : "its environment has no LD_PRELOAD",
		    others);
	if (!obstacle)
		record_remedy(b, "pass on LD_PRELOAD and %s, or start it directly", u->variable);
	else if (u->remedies[obstacle])
		record_remedy(b, "%s", u->remedies[obstacle]);
}

static const char *unwritten_path(const char *directory, char *to, size_t size)
{
	snprintf(to, size, "%s/%s", directory, EXEC_UNWRITTEN);
	return to;
}

void exec_unseen_begin(const char *directory)
{
	static const exec_unwritten none;
	char path[OS_TEMP_SIZE + sizeof EXEC_UNWRITTEN + 1];
	dck_sink out;
	int fd;

	if (os_open_append(unwritten_path(directory, path, sizeof path), &fd, NULL) != DCK_OK)
		return;
	dck_sink_fd(&out, fd);
	sink_put(&out, &none, sizeof none);
	if (dck_sink_finish(&out, NULL) != DCK_OK)
		os_file_remove(path);
	os_close(fd);
}

/* Adds the note of programs that could make no file. Returns whether there are some. */
static bool unwritten_put(record_builder *b, const char *directory)
{
	char path[OS_TEMP_SIZE + sizeof EXEC_UNWRITTEN + 1];
	exec_unwritten u = {0};
	dck_buffer text = {0};

	if (os_read_file(unwritten_path(directory, path, sizeof path), PATH_BYTES, &text, NULL) ==
		DCK_OK &&
	    text.n >= sizeof u)
		memcpy(&u, text.data, sizeof u);
	dck_buffer_done(&text);
	const uint32_t n = atomic_load(&u.n);
	if (n == 0 || n > INT32_MAX)
		return false;
	record_note(b, "programs-not-recorded",
		    "%u program%s started after setuid(), chroot() or in a sandbox %s not in this "
		    "result (%s)",
		    n, n == 1 ? "" : "s", n == 1 ? "is" : "are", strerror(atomic_load(&u.error)));
	record_remedy(b, "%s", program_file_remedy(EACCES));
	return true;
}

bool exec_unseen_put(record_builder *b, const exec_unseen *u)
{
	const bool unwritten = unwritten_put(b, u->directory);
	programs p = {.of = u, .arena = mem_arena_new(0)};

	if (p.arena)
		os_glob_each(u->directory, "*" EXEC_FILE_END, started_read, &p);
	if (p.n)
		qsort(p.rows, p.n, sizeof p.rows[0], started_compare);
	for (size_t i = 0, n; i < p.n; i += n) {
		for (n = 1; i + n < p.n && p.rows[i + n].obstacle == p.rows[i].obstacle;)
			n++;
		programs_put(b, u, &p.rows[i], n);
	}
	mem_arena_free(p.arena);
	return p.n > 0 || unwritten;
}
