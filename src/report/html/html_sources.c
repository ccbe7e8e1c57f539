/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html_sources.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 300, FILE_MAX = 1 << 20, BYTES_MAX = 2 << 20, LINE_MAX_BYTES = 200 };

typedef struct place {
	const char *file;
	uint32_t line;
} place;

static int sources_in_order(const void *a, const void *b)
{
	const place *x = a, *y = b;
	const int by = strcmp(x->file, y->file);

	return by ? by : (x->line > y->line) - (x->line < y->line);
}

static size_t sources_frames_of(const dck_record *r, place *to)
{
	size_t n = 0;

	for (size_t t = 0; t < r->ntrees; t++)
		for (size_t i = 0; i < r->trees[t].nframes; i++) {
			const dck_frame *f = &r->trees[t].frames[i];

			if (!f->file || !f->line)
				continue;
			if (to)
				to[n] = (place){f->file, f->line};
			n++;
		}
	return n;
}

/* The text from `from` on to the end of its line, without what would not be shown. */
static void sources_line_put(json_writer *w, uint32_t line, const char *from, size_t *room)
{
	char key[16], text[LINE_MAX_BYTES + 1];
	size_t n = strcspn(from, "\r\n");

	if (n > LINE_MAX_BYTES)
		n = utf8_cut(from, LINE_MAX_BYTES);
	if (n > *room)
		return;
	*room -= n;
	memcpy(text, from, n);
	text[n] = '\0';
	snprintf(key, sizeof key, "%u", (unsigned)line);
	json_text(json_key(w, key), text);
}

/* Those lines of one file; n > 0. */
static void sources_file_put(json_writer *w, const place *places, size_t n, const char *text,
			     size_t *room)
{
	uint32_t line = 1;

	json_begin_object(json_key(w, places[0].file));
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && places[i].line == places[i - 1].line)
			continue;
		for (; text && line < places[i].line; line++) {
			text = strchr(text, '\n');
			text = text ? text + 1 : NULL;
		}
		if (!text)
			break;
		sources_line_put(w, line, text, room);
	}
	json_end(w);
}

/* A record may come from an untrusted source: a file that it names is embedded only if it is below
 * the working directory, or below the directory that the user named. */
static void places_put(json_writer *w, const place *places, size_t n, const dck_style *style)
{
	const char *const folders[] = {".", style->source_root};
	size_t room = BYTES_MAX, files = 0;

	for (size_t i = 0, end; i < n && files < FILES_MAX; i = end) {
		for (end = i + 1; end < n && strcmp(places[end].file, places[i].file) == 0;)
			end++;
		char *text = os_file_below(places[i].file, folders, 2, FILE_MAX);

		if (!text)
			continue;
		files++;
		sources_file_put(w, places + i, end - i, text, &room);
		mem_free(text);
		if (style->source_found)
			style->source_found(style->source_found_self, places[i].file);
	}
}

void html_sources_put(json_writer *w, const dck_record *const *records, size_t n,
		      const dck_style *style)
{
	size_t nplaces = 0;

	for (size_t i = 0; i < n; i++)
		nplaces += sources_frames_of(records[i], NULL);
	place *places = mem_zalloc(nplaces + 1, sizeof *places);
	json_begin_object(w);
	if (places) {
		for (size_t i = 0, at = 0; i < n; i++)
			at += sources_frames_of(records[i], places + at);
		qsort(places, nplaces, sizeof *places, sources_in_order);
		places_put(w, places, nplaces, style);
	}
	json_end(w);
	mem_free(places);
}
