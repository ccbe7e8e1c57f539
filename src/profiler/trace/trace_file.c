/* trace_file.c - the trace file of a recording: passes events to the writer of a format
 * (write/formats.h) at once, or retains the newest in memory (--last, a flight recorder) and writes
 * them on request.
 *
 * At once: names and tracks from before the file is open are written first. Under --max-size
 * trace_fits() reserves space for the ends of all open ranges, so a trace that is cut is still
 * complete.
 *
 * Newest events: a FIFO of batches, of at most `last` bytes, frees the oldest. Once drop_at tracks
 * have ended, those without an event in memory are dropped (mark and sweep, amortised by doubling).
 * Tracks come by rising id, so a binary search finds them.
 *
 * The program may close the descriptor, or get its number for a different file: before each write,
 * file_find() compares device and inode, and opens the path again or fails. The file is locked
 * (os_file_lock_process()) while it is written, so that other processes see that its writer still
 * runs.
 *
 * Only the recorder's thread uses a trace_file while it lives. The first error is stored, and the
 * last call returns it. trace_file_abandon() frees the copy in a forked child, and writes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/trace_file.h"
#include "profiler/write/formats.h"

#include "base/err.h"
#include "base/id_table.h"
#include "base/mem.h"
#include "os/os.h"
#include "os/file/gzip.h"
#include "profiler/trace/result/lost_children.h"
#include "profiler/trace/zone_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most bytes of an event in any format, without its name, of which each byte may become six
 * (JSON), twice. Near the limit events are written a few at a time. */
enum {
	EVENT_BYTES = 160,
	NAME_TIMES = 12,
	FEW = 16,
	HELD_FEW = 8192,
	ENDED_MIN = 1024,
	/* Bytes of a write(): of 8 KiB each, the kernel takes twice the CPU time a byte. */
	STAGED_BYTES = 1 << 18
};

typedef struct kept_track {
	trace_track info;
	char *name; /* @owned; NULL: not known */
	bool ended, used;
} kept_track;

/* A batch of the newest events, with --last (buffered in memory). */
typedef struct kept_batch {
	struct kept_batch *next;
	uint32_t track, n;
	trace_event events[];
} kept_batch;

struct trace_file {
	const trace_format *format;
	char *path;	/* @owned */
	char *announce; /* @owned; NULL: not requested, or made */
	bool made;
	trace_header about;
	trace_out *out;	      /* NULL: not open */
	dck_sink sink, plain; /* plain: writes to the descriptor */
	char *staged;	      /* @owned; bytes of the sink that are not written yet */
	size_t nstaged;
	bool compress;
	gzip_sink *gzip; /* compresses into sink; NULL: no compression, or not open */
	int fd;
	os_file_id id; /* identity of the file of fd */
	dck_err error; /* code 0: none */
	uint64_t written, max_size, left_out, older, flushed_ns;
	uint64_t longest, open; /* name in bytes; ranges that are open in the file */
	bool full;
	/* Names and tracks, the latter by rising id, from before the file was open or to be written
	 * again. At drop_at ended tracks, those without an event in memory are dropped. */
	mem_arena *arena;
	kept_track *tracks; /* @owned */
	uint32_t *names;    /* @owned */
	size_t ntracks, tracks_cap, nnames, names_cap, nended, drop_at;
	/* The snapshot of the clocks at the end, with --last the last one; clocks_ns 0: none. */
	uint64_t clocks_ns;
	trace_header clocks;
	/* The newest events: the oldest of them first. */
	uint64_t last, kept;
	kept_batch *first, **end;
};

/* --- the file */

static bool trace_is_ours(const trace_file *f, int fd)
{
	os_file_id id;

	return os_fd_id(fd, &id) && id.device == f->id.device && id.number == f->id.number;
}

static void trace_trace_file_close(trace_file *f)
{
	if (f->fd >= 0 && trace_is_ours(f, f->fd))
		os_close(f->fd);
	f->fd = -1;
}

/* Some programs close all descriptors that they did not open, and may then reuse our number for
 * another file, which must not be written. */
static dck_status file_find(trace_file *f, dck_err *err)
{
	int fd;

	if (trace_is_ours(f, f->fd))
		return DCK_OK;
	f->fd = -1;
	if (os_path_kind(f->path, NULL) != OS_FILE)
		DCK_FAIL(err, E_IO, "the program has closed it");
	DCK_TRY(os_open_append(f->path, &fd, err));
	if (!trace_is_ours(f, fd)) {
		os_close(fd);
		DCK_FAIL(err, E_IO,
			 "the program has closed its descriptor, which another file has now");
	}
	os_file_lock_process(fd);
	f->fd = fd;
	return DCK_OK;
}

static dck_status staged_write(trace_file *f, dck_err *err)
{
	dck_sink *plain = &f->plain;
	const size_t n = f->nstaged;

	f->nstaged = 0;
	if (f->fd < 0 || n == 0) /* abandoned */
		return DCK_OK;
	DCK_TRY(file_find(f, err));
	dck_sink_fd(plain, f->fd);
	return plain->write(plain, f->staged, n, err);
}

static dck_status write_file(void *self, const void *bytes, size_t n, dck_err *err)
{
	trace_file *f = self;

	f->written += n;
	while (n > 0) {
		const size_t room = STAGED_BYTES - f->nstaged, some = n < room ? n : room;

		memcpy(f->staged + f->nstaged, bytes, some);
		f->nstaged += some;
		bytes = (const char *)bytes + some;
		n -= some;
		if (f->nstaged == STAGED_BYTES)
			DCK_TRY(staged_write(f, err));
	}
	return DCK_OK;
}

static void fail(trace_file *f, const dck_err *e)
{
	if (!f->error.code)
		f->error = *e;
}

static void sink_write_all(trace_file *f)
{
	dck_err err;

	if (dck_sink_finish(&f->sink, &err) != DCK_OK || staged_write(f, &err) != DCK_OK)
		fail(f, &err);
}

static bool trace_fits(trace_file *f, size_t n)
{
	/* The snapshot at the end has the size of an event or two. */
	const uint64_t more = (n + f->open + 2) * (EVENT_BYTES + NAME_TIMES * f->longest);
	uint64_t held = f->gzip ? gzip_sink_held(f->gzip) : 0;

	if (!f->max_size || f->written + f->sink.used + held + more <= f->max_size)
		return true;
	if (held < HELD_FEW)
		return false;
	/* The compressed size is known after compression only. */
	gzip_sink_flush(f->gzip);
	held = gzip_sink_held(f->gzip);
	return f->written + f->sink.used + held + more <= f->max_size;
}

static void track_write(trace_file *f, const trace_track *t)
{
	/* A track has the size of an event. */
	f->full = f->full || !trace_fits(f, 1);
	if (!f->full)
		f->format->track(f->out, t);
}

static void write_names(trace_file *f)
{
	for (size_t i = 0; i < f->ntracks && !f->full; i++)
		track_write(f, &f->tracks[i].info);
	for (size_t i = 0; i < f->nnames; i++)
		f->format->intern(f->out, f->names[i], zone_name_get(f->names[i]));
}

static bool trace_trace_file_open(trace_file *f)
{
	dck_err err = {0};

	if (f->out)
		return true;
	if (f->error.code)
		return false;
	if (os_open_append(f->path, &f->fd, &err) != DCK_OK ||
	    (os_fd_kind(f->fd, NULL) == OS_FILE &&
	     os_truncate(f->fd, f->path, 0, &err) != DCK_OK)) {
		if (f->announce)
			lost_children_unwritten(errno);
		fail(f, &err);
		return false;
	}
	(void)os_fd_id(f->fd, &f->id);
	os_file_lock_process(f->fd);
	f->made = true;
	f->nstaged = 0;
	if (f->announce && os_file_create_exclusive(f->announce)) {
		mem_free(f->announce);
		f->announce = NULL;
	} else if (f->announce && lost_children_errno(errno)) {
		lost_children_unwritten(errno);
		mem_free(f->announce);
		f->announce = NULL;
	}
	dck_sink_custom(&f->sink, write_file, f);
	if ((f->compress && gzip_sink_open(&f->gzip, &f->sink, &err) != DCK_OK) ||
	    f->format->open(&f->out, f->compress ? gzip_sink_in(f->gzip) : &f->sink, &f->about,
			    &err) != DCK_OK) {
		fail(f, &err);
		(void)gzip_sink_close(f->gzip, NULL);
		f->gzip = NULL;
		f->out = NULL;
		return false;
	}
	if (!f->last)
		write_names(f);
	return true;
}

static void write_events(trace_file *f, uint32_t track, const trace_event *e, size_t n)
{
	while (n && !f->full) {
		size_t some = trace_fits(f, n) ? n : n < FEW ? n : FEW;

		if (!trace_fits(f, some)) {
			f->full = true;
			break;
		}
		for (size_t i = 0; f->max_size && i < some; i++) {
			if (e[i].kind == TRACE_BEGIN || e[i].kind == TRACE_ASYNC_BEGIN)
				f->open++;
			else if ((e[i].kind == TRACE_END || e[i].kind == TRACE_ASYNC_END) &&
				 f->open)
				f->open--;
		}
		f->format->events(f->out, track, e, some);
		e += some;
		n -= some;
	}
	f->left_out += n;
}

/* --- the newest events */

static void trace_keep(trace_file *f, uint32_t track, const trace_event *e, size_t n)
{
	size_t bytes = sizeof(kept_batch) + n * sizeof *e;
	kept_batch *b = mem_alloc(bytes);

	if (!b) {
		f->left_out += n;
		return;
	}
	b->next = NULL;
	b->track = track;
	b->n = (uint32_t)n;
	memcpy(b->events, e, n * sizeof *e);
	*f->end = b;
	f->end = &b->next;
	f->kept += bytes;
	while (f->kept > f->last && f->first != b) {
		kept_batch *old = f->first;

		f->kept -= sizeof *old + old->n * sizeof *e;
		f->older += old->n;
		f->first = old->next;
		mem_free(old);
	}
}

/* --- the listener */

static void on_intern(void *self, uint32_t id, const trace_name *name)
{
	trace_file *f = self;

	if (name->n > f->longest) /* formats cut it */
		f->longest = name->n < STRING_NAME_MAX ? name->n : STRING_NAME_MAX;
	if (f->out && !f->last) {
		f->format->intern(f->out, id, name);
		return;
	}
	if (mem_reserve(&f->names, &f->names_cap, f->nnames + 1, sizeof *f->names))
		f->names[f->nnames++] = id;
}

static int by_id(const void *key, const void *row)
{
	const uint32_t id = *(const uint32_t *)key, of = ((const kept_track *)row)->info.id;

	return id != of ? (id < of ? -1 : 1) : 0;
}

/* Returns NULL if the track is unknown or was dropped. */
static kept_track *trace_track_of(const trace_file *f, uint32_t id)
{
	return f->ntracks ? bsearch(&id, f->tracks, f->ntracks, sizeof *f->tracks, by_id) : NULL;
}

static void tracks_drop(trace_file *f)
{
	size_t n = 0;

	for (const kept_batch *b = f->first; b; b = b->next) {
		kept_track *t = trace_track_of(f, b->track);
		kept_track *parent = t ? trace_track_of(f, t->info.parent) : NULL;

		if (t)
			t->used = true;
		if (parent)
			parent->used = true;
	}
	f->nended = 0;
	for (size_t i = 0; i < f->ntracks; i++) {
		kept_track t = f->tracks[i];

		if (t.ended && !t.used) {
			mem_free(t.name);
			continue;
		}
		f->nended += t.ended;
		t.used = false;
		f->tracks[n++] = t;
	}
	f->ntracks = n;
	f->drop_at = 2 * f->nended + ENDED_MIN;
}

static void on_track_end(void *self, uint32_t track)
{
	trace_file *f = self;
	kept_track *t = trace_track_of(f, track);

	if (!t || t->ended)
		return;
	t->ended = true;
	if (++f->nended >= f->drop_at && f->last)
		tracks_drop(f);
}

static void on_track(void *self, const trace_track *t)
{
	trace_file *f = self;
	kept_track *was = trace_track_of(f, t->id);

	if (f->out && !f->last) {
		track_write(f, t);
		return;
	}
	if (!was) {
		if (!mem_reserve(&f->tracks, &f->tracks_cap, f->ntracks + 1, sizeof *f->tracks))
			return;
		was = &f->tracks[f->ntracks++];
		*was = (kept_track){0};
	}
	mem_free(was->name);
	was->name = t->name ? mem_dup(t->name) : NULL;
	was->info = *t;
	was->info.name = was->name;
}

static void on_events(void *self, uint32_t track, const trace_event *e, size_t n)
{
	trace_file *f = self;

	if (f->last)
		trace_keep(f, track, e, n);
	else if (trace_trace_file_open(f))
		write_events(f, track, e, n);
}

drain_listener trace_file_listener(trace_file *f)
{
	return (drain_listener){.self = f,
				.intern = on_intern,
				.track = on_track,
				.track_end = on_track_end,
				.events = on_events};
}

/* --- open, flush, close */

static void trace_file_free(trace_file *f)
{
	while (f->first) {
		kept_batch *next = f->first->next;

		mem_free(f->first);
		f->first = next;
	}
	trace_trace_file_close(f);
	mem_arena_free(f->arena);
	for (size_t i = 0; i < f->ntracks; i++)
		mem_free(f->tracks[i].name);
	mem_free(f->tracks);
	mem_free(f->names);
	mem_free(f->path);
	mem_free(f->announce);
	mem_free(f->staged);
	mem_free(f);
}

dck_status trace_file_open(trace_file **ret, const trace_file_config *config,
			   const trace_header *about, dck_err *err)
{
	if (config->max_size && config->max_size < TRACE_FILE_SIZE_MIN)
		DCK_FAIL(err, E_ARG, "a trace of at most %llu bytes holds nothing; the least is %d",
			 (unsigned long long)config->max_size, TRACE_FILE_SIZE_MIN);
	if (config->last && config->last < TRACE_FILE_SIZE_MIN)
		DCK_FAIL(err, E_ARG, "the last %llu bytes of a trace hold nothing; the least is %d",
			 (unsigned long long)config->last, TRACE_FILE_SIZE_MIN);
	DCK_TRY(trace_suffix_check(config->path, err));
	const trace_suffix ending = trace_suffix_of(config->path);
	trace_file *f = mem_zalloc(1, sizeof *f);
	DCK_NEED(f, err, "for '%s'", config->path);
	f->fd = -1;
	f->end = &f->first;
	f->max_size = config->max_size;
	f->last = config->last;
	f->about = *about;
	f->about.command = NULL;
	f->about.losses.cut = 1; /* until its end */
	f->about.losses.first_cut = true;
	f->format = ending.format ? ending.format : trace_format_find("perfetto");
	f->compress = ending.gzip;
	f->path = mem_dup(config->path);
	f->announce = config->announce ? mem_dup(config->announce) : NULL;
	f->arena = mem_arena_new(0);
	f->staged = mem_alloc(STAGED_BYTES);
	if (!f->path || !f->arena || !f->staged) {
		trace_file_free(f);
		return ERR_NO_MEMORY(err, "for '%s'", config->path);
	}
	if (!config->late && !trace_trace_file_open(f)) {
		const dck_status st = err_forward(&f->error, err);
		trace_file_free(f);
		return st;
	}
	*ret = f;
	return DCK_OK;
}

static void write_clocks(trace_file *f, bool ends)
{
	if (!f->out || !f->format->clocks || !f->clocks_ns || (!ends && !trace_fits(f, 2)))
		return;
	f->clocks.losses.left_out = f->left_out;
	f->clocks.losses.older = f->older;
	f->clocks.losses.cut = f->clocks.losses.first_cut = !ends;
	f->format->clocks(f->out, f->clocks_ns, &f->clocks);
}

void trace_file_clocks(trace_file *f, uint64_t ns, const trace_header *now, bool ends)
{
	f->clocks_ns = ns;
	f->clocks = *now;
	if (!f->last && !ends)
		write_clocks(f, false);
}

void trace_file_flush(trace_file *f, bool now)
{
	uint64_t ns = os_now_ns();

	if (!f->out || (!now && ns - f->flushed_ns < TRACE_FLUSH_NS))
		return;
	f->flushed_ns = ns;
	if (f->format->flush)
		f->format->flush(f->out);
	if (f->gzip)
		gzip_sink_flush(f->gzip);
	sink_write_all(f);
}

/* Writes the buffered events, and closes the file. */
static void trace_finish(trace_file *f)
{
	dck_err e = {0};

	const bool open = f->first ? trace_trace_file_open(f) : f->out != NULL;

	if (f->last && open) {
		tracks_drop(f);
		write_names(f);
	}
	for (kept_batch *b = f->first; open && b; b = b->next)
		write_events(f, b->track, b->events, b->n);
	write_clocks(f, true);
	if (f->out && f->format->close(f->out, &e) != DCK_OK)
		fail(f, &e);
	if (gzip_sink_close(f->gzip, &e) != DCK_OK)
		fail(f, &e);
	f->gzip = NULL;
	if (f->out)
		sink_write_all(f);
	f->out = NULL;
	trace_trace_file_close(f);
}

static dck_status failure(trace_file *f, dck_err *err)
{
	const dck_status st = err_forward(&f->error, err);

	return st == DCK_OK ? st : err_while(err, st, "writing '%s'", f->path);
}

dck_status trace_file_dump(trace_file *f, dck_err *err)
{
	if (!f->last)
		DCK_FAIL(err, E_ARG,
			 "the newest events are not buffered in memory: they are in '%s' already",
			 f->path);
	trace_finish(f);
	dck_status st = failure(f, err);
	/* The next one starts from scratch, also after a failure. */
	f->error = (dck_err){0};
	f->written = f->open = 0;
	f->full = false;
	return st;
}

dck_status trace_file_dump_aside(trace_file *f, unsigned number, dck_err *err)
{
	const size_t n = strlen(f->path), k = trace_suffix_of(f->path).n;

	DCK_TRY(trace_file_dump(f, err));
	if (os_path_kind(f->path, NULL) != OS_FILE)
		DCK_FAIL(err, E_ARG, "'%s' is not a file, and cannot get another name", f->path);
	const char *to = mem_arena_fmt(f->arena, "%.*s.dump-%u%s", (int)(n - k), f->path, number,
				       f->path + n - k);
	DCK_NEED(to, err, "for the name of a trace");
	if (!os_path_rename(f->path, to))
		DCK_FAIL(err, E_IO, "'%s' cannot be made '%s'", f->path, to);
	return DCK_OK;
}

dck_status trace_file_close(trace_file *f, trace_file_said *ret, dck_err *err)
{
	trace_finish(f);
	*ret = (trace_file_said){.format = f->format->name,
				 .bytes = f->written,
				 .events_left_out = f->left_out,
				 .events_older = f->older,
				 .made = f->made};
	dck_status st = failure(f, err);
	trace_file_free(f);
	return st;
}

void trace_file_abandon(trace_file *f)
{
	dck_err err;

	if (!f)
		return;
	trace_trace_file_close(f);
	/* Only closing frees the format's state; its output is discarded. */
	if (f->out)
		(void)f->format->close(f->out, &err);
	(void)gzip_sink_close(f->gzip, &err);
	trace_file_free(f);
}

dck_status trace_file_of_child(mem_arena *a, const char *path, long pid, const char **ret,
			       dck_err *err)
{
	const size_t n = strlen(path), k = trace_suffix_of(path).n;

	*ret = mem_arena_fmt(a, "%.*s.%ld%s", (int)(n - k), path, pid, path + n - k);
	/* A process that recorded before exec() has the same number after it. */
	for (int part = 2; *ret && part <= LOST_CHILDREN_PARTS && os_file_exists(*ret); part++)
		*ret =
		    mem_arena_fmt(a, "%.*s.%ld-%d%s", (int)(n - k), path, pid, part, path + n - k);
	DCK_NEED(*ret, err, "for the name of a child's trace");
	if (os_file_exists(*ret))
		lost_children_replaced();
	return DCK_OK;
}
