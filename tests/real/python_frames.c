/* python_frames.c - Python frames of a process, for python_frames.py:
 *
 *	python_frames PID TID          one stack: innermost first
 *	python_frames PID TID COUNT    COUNT stacks: results of the reads, and the call edges
 *
 * A busy machine may stop the program, so that one state is read thousands of times: the calls of
 * an unchanged stack are not counted again. After SECONDS it ends with the results so far.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "profiler/python/python_stack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { FRAMES = 2048, EDGES = 256, NAME = 64, SECONDS = 20 };
static python_frame frame[FRAMES], last[FRAMES];

/* Replaces control characters: text read from a freed code object may contain any bytes. */
static const char *one_line(char *text)
{
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
	return text;
}

static void show(python_names *names, size_t n)
{
	python_name name;

	for (size_t i = 0; i < n; i++)
		if (!frame[i].code)
			printf("-\n");
		else if (python_names_find(names, frame[i].code, frame[i].instruction, &name))
			printf("%s\t%s\t%d\t%d\n", name.function, name.file, name.line,
			       frame[i].entry);
		else
			printf("?\n");
}

/* Returns the number of context switches of this thread. A stack whose halves were read
 * milliseconds apart is not a consistent snapshot, and no evidence about the reader. */
static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw + u.ru_nvcsw;
}

/* "caller callee" */
static struct edge {
	char text[2 * NAME + 1];
	unsigned long n;
} edge[EDGES];

static void edge_add(const char *caller, const char *callee)
{
	char text[2 * NAME + 1];
	size_t i = 0;

	snprintf(text, sizeof text, "%.*s\t%.*s", NAME - 1, caller, NAME - 1, callee);
	while (i < EDGES - 1 && edge[i].n && strcmp(edge[i].text, text) != 0)
		i++;
	memcpy(edge[i].text, text, sizeof text);
	edge[i].n++;
}

/* Names one frame at a time, since a name is valid until the next call. */
static size_t edges_add(python_names *names, size_t n)
{
	char callee[NAME] = "", caller[NAME];
	size_t nameless = 0;
	python_name name;

	for (size_t i = 0; i < n; i++) {
		if (!frame[i].code)
			continue;
		bool known = python_names_find(names, frame[i].code, frame[i].instruction, &name);
		nameless += !known;
		snprintf(caller, sizeof caller, "%s", known ? name.function : "?");
		one_line(caller);
		if (*callee)
			edge_add(caller, callee);
		memcpy(callee, caller, sizeof callee);
	}
	edge_add("", callee);
	return nameless;
}

int main(int argc, char **argv)
{
	int pid = argc > 2 ? atoi(argv[1]) : 0;
	unsigned long count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	unsigned long found = 0, torn = 0, cut = 0, unread = 0, nameless = 0;
	unwind_memory memory = {os_process_read, &pid};
	python_process p;
	python_walked w;
	dck_err err;

	if (!pid)
		return 2;
	if (python_find(pid, &memory, &p, &err) != DCK_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	python_thread t = {.tid = atoi(argv[2])};
	python_names *names = python_names_new(&p, &memory);
	if (!names)
		return 1;
	const time_t until = time(NULL) + SECONDS;
	size_t last_n = 0;
	for (unsigned long i = 0; i < count && (i == 0 || time(NULL) < until); i++) {
		const long before = switches();
		size_t n = python_walk(&p, &memory, &t, frame, FRAMES, &w);

		if (count > 1 && switches() != before) {
			i--;
			continue;
		}
		const bool moved = n != last_n || memcmp(frame, last, n * sizeof *frame) != 0;
		memcpy(last, frame, n * sizeof *frame);
		last_n = n;
		found += w.found;
		torn += w.torn;
		cut += w.cut;
		unread += w.unread;
		if (count == 1)
			show(names, n);
		else if (!w.torn && moved)
			nameless += edges_add(names, n);
	}
	printf("found %lu torn %lu cut %lu unread %lu nameless %lu\n", found, torn, cut, unread,
	       nameless);
	for (size_t i = 0; i < EDGES && edge[i].n; i++)
		printf("%lu\t%s\n", edge[i].n, edge[i].text);
	python_names_free(names);
	return 0;
}
