/* Trace files: complete, limited in size, of programs that exit, are killed, fork and run others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "deepclock/trace.h"
#include "deepclock/zone.h"
#include "scratch.h"

/* --- contents of a file, by Perfetto's encoding */

typedef struct content {
	uint64_t packets, begins, ends, marks, threads;
	size_t bytes;
	bool whole; /* it ends at a packet boundary */
	char *text; /* @owned: the contents, decompressed */
	size_t ntext;
} content;

/* Returns false at the end of the bytes. */
static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		*ret |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return true;
	}
	return false;
}

/* Reads the next field: its number, and its value or its bytes. */
static bool field(const uint8_t **p, const uint8_t *end, uint64_t *number, uint64_t *value,
		  const uint8_t **bytes)
{
	uint64_t key;

	if (!varint(p, end, &key))
		return false;
	*number = key >> 3;
	*bytes = NULL;
	if ((key & 7) == 0)
		return varint(p, end, value);
	if ((key & 7) == 1)
		*value = 8;
	else if ((key & 7) != 2 || !varint(p, end, value))
		return false;
	if ((uint64_t)(end - *p) < *value)
		return false;
	*bytes = *p;
	*p += *value;
	return true;
}

static void packet_read(content *c, const uint8_t *p, const uint8_t *end)
{
	uint64_t number, value, type;
	const uint8_t *bytes, *event;

	c->packets++;
	while (field(&p, end, &number, &value, &bytes)) {
		const bool describes = number == 60; /* track_descriptor */

		if ((!describes && number != 11) || !bytes) /* track_event */
			continue;
		for (event = bytes; field(&event, p, &number, &type, &bytes);) {
			c->threads += describes && number == 4;
			if (describes || number != 9)
				continue;
			c->begins += type == 1;
			c->ends += type == 2;
			c->marks += type == 3;
		}
	}
}

static content content_of(const char *path)
{
	content c = {0};
	enum { ROOM = 16 << 20 };
	gzFile f = gzopen(path, "rb"); /* reads uncompressed files unchanged */
	struct stat st;

	if (!f || stat(path, &st))
		fail_msg("there is no %s", path);
	c.bytes = (size_t)st.st_size;
	c.text = malloc(ROOM);
	/* A truncated file is read up to its end. */
	for (int got = 1; got > 0; c.ntext += got > 0 ? (size_t)got : 0)
		got = gzread(f, c.text + c.ntext, ROOM - (unsigned)c.ntext);
	gzclose(f);
	assert_true(c.ntext < ROOM);
	const uint8_t *p = (uint8_t *)c.text, *end = p + c.ntext, *bytes;
	uint64_t number, value;
	while (p < end && field(&p, end, &number, &value, &bytes) && number == 1 && bytes)
		packet_read(&c, bytes, bytes + value);
	c.whole = p == end;
	return c;
}

static bool has(const content *c, const char *text)
{
	return memmem(c->text, c->ntext, text, strlen(text)) != NULL;
}

/* --- in this process */

static dck_record *recorded(const dck_trace_config *config, int n)
{
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_start(config, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	DCK_PUSH("around");
	DCK_MARK("oldest");
	for (int i = 0; i < n; i++) {
		DCK_PUSH("range");
		DCK_NUMBER("number", i);
		DCK_POP();
		/* Gives the drain time: this test does not cover dropped events. */
		if (i % 20000 == 19999)
			usleep(20000);
	}
	DCK_MARK("newest");
	DCK_POP();
	if (dck_trace_stop(&r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return r;
}

static int64_t fact(const dck_record *r, const char *key)
{
	const dck_fact *f = dck_record_fact(r, "trace", key);

	assert_non_null(f);
	return f->value.as.i;
}

/* The file states what it lacks, and so does one that is converted from it. */
static void assert_lacks(const char *path, int64_t left_out, const char *note)
{
	const char *const paths[] = {path, "again.pftrace"};
	dck_buffer again = {0};
	dck_sink sink;

	dck_sink_buffer(&sink, &again);
	assert_int_equal(dck_trace_convert(path, "perfetto", false, &sink, NULL, NULL), DCK_OK);
	assert_int_equal(dck_sink_finish(&sink, NULL), DCK_OK);
	FILE *f = fopen(paths[1], "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(again.data, 1, again.n, f), again.n);
	assert_int_equal(fclose(f), 0);
	dck_buffer_done(&again);
	for (size_t i = 0; i < 2; i++) {
		const size_t want = note ? 1 : 0;
		dck_record *r;

		assert_int_equal(dck_trace_read(paths[i], &r, NULL), DCK_OK);
		assert_int_equal(r->nnotes, want);
		assert_true(!note || !strcmp(r->notes[0].code, note));
		assert_int_equal(r->incomplete, note && !strcmp(note, "trace-full"));
		if (note)
			assert_int_equal(fact(r, "events_left_out"), left_out);
		else
			assert_null(dck_record_fact(r, "trace", "events_left_out"));
		dck_record_free(r);
	}
}

static void all_is_in_the_file(void **state)
{
	(void)state;
	dck_record *r = recorded(&(dck_trace_config){.path = "out.pftrace"}, 1000);
	content c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "around") && has(&c, "range") && has(&c, "number"));
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1001);
	assert_int_equal(c.marks, 2);
	assert_int_equal(fact(r, "file_size"), c.bytes);
	assert_int_equal(fact(r, "events_left_out"), 0);
	assert_lacks("out.pftrace", 0, NULL);
	free(c.text);
	dck_record_free(r);
}

static void a_file_keeps_its_size(void **state)
{
	(void)state;
	dck_record *r =
	    recorded(&(dck_trace_config){.path = "out.pftrace", .max_size = 200000}, 60000);
	content c = content_of("out.pftrace");
	assert_true(c.whole && c.bytes <= 200000 && c.bytes > 150000);
	assert_int_equal(c.begins, c.ends);
	assert_true(fact(r, "events_left_out") > 0);
	/* The table counts them all. */
	assert_int_equal(fact(r, "events") + fact(r, "dropped_events"), 180004);
	assert_true(has(&c, "oldest") && !has(&c, "newest"));
	if (fact(r, "dropped_events") == 0) /* on a busy machine there are two notes */
		assert_lacks("out.pftrace", fact(r, "events_left_out"), "trace-full");
	free(c.text);
	dck_record_free(r);
}

static void a_compressed_file_keeps_its_size(void **state)
{
	(void)state;
	dck_record *r =
	    recorded(&(dck_trace_config){.path = "out.pftrace.gz", .max_size = 100000}, 60000);
	content c = content_of("out.pftrace.gz");
	/* The limit applies to the compressed bytes in the file. */
	assert_true(c.whole && c.bytes <= 100000 && c.bytes > 60000 && c.ntext > 150000);
	assert_int_equal(c.begins, c.ends);
	assert_true(fact(r, "events_left_out") > 0);
	assert_int_equal(fact(r, "file_size"), (int64_t)c.bytes);
	free(c.text);
	dck_record_free(r);
}

static void the_newest_are_kept(void **state)
{
	(void)state;
	dck_record *r = recorded(&(dck_trace_config){.path = "out.pftrace", .last = 100000}, 60000);
	content c = content_of("out.pftrace");
	assert_true(c.whole && c.begins > 500 && c.begins < 10000);
	assert_int_equal(c.begins, c.ends);
	assert_int_equal(c.marks, 1);
	assert_true(fact(r, "events_left_out") > 0);
	if (fact(r, "dropped_events") == 0)
		assert_lacks("out.pftrace", fact(r, "events_left_out"), "trace-cut");
	free(c.text);
	dck_record_free(r);
}

static void *one_zone(void *arg)
{
	DCK_ZONE("of a thread");
	return arg;
}

/* An exited thread whose events left the memory is dropped whole. */
static void threads_of_old_events_are_dropped(void **state)
{
	enum { THREADS = 20000, BATCHES = 100000 / 64 };
	dck_trace_config config = {.path = "out.pftrace", .last = 100000};
	pthread_t thread;
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_create(&thread, NULL, one_zone, NULL), 0);
		pthread_join(thread, NULL);
	}
	assert_int_equal(dck_trace_stop(NULL, &err), DCK_OK);
	content c = content_of("out.pftrace");
	assert_true(c.whole && c.begins > 0 && c.begins < BATCHES);
	assert_in_range(c.threads, c.begins, THREADS / 2);
	free(c.text);
}

static void the_newest_are_written_when_asked(void **state)
{
	dck_trace_config config = {.path = "out.pftrace", .last = 65536};
	dck_record *r;
	dck_err err;

	(void)state;
	assert_int_equal(dck_trace_dump(&err), DCK_E_ARG);
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	assert_int_equal(access("out.pftrace", F_OK), 0);
	DCK_PUSH("open");
	DCK_MARK("first");
	assert_int_equal(dck_trace_dump(&err), DCK_OK);
	content c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "first") && !has(&c, "second"));
	assert_int_equal(c.begins, 1);
	assert_int_equal(c.ends, 1); /* so far */
	free(c.text);
	DCK_MARK("second");
	DCK_POP();
	assert_int_equal(dck_trace_dump(&err), DCK_OK);
	c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "first") && has(&c, "second") && !has(&c, "third"));
	assert_int_equal(c.begins, 1);
	free(c.text);
	DCK_MARK("third");
	assert_int_equal(dck_trace_stop(&r, &err), DCK_OK);
	c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "first") && has(&c, "third"));
	assert_int_equal(c.marks, 3);
	assert_int_equal(fact(r, "file_size"), c.bytes);
	assert_int_equal(fact(r, "events_left_out"), 0);
	free(c.text);
	dck_record_free(r);
	config.last = 0;
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	assert_int_equal(dck_trace_dump(&err), DCK_E_ARG);
	assert_int_equal(dck_trace_stop(NULL, &err), DCK_OK);
}

static void a_file_that_cannot_be_written_is_an_error(void **state)
{
	dck_trace_config config = {.path = "no/such/folder.pftrace"};
	dck_record *r = NULL;
	dck_err err = {0};

	(void)state;
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "no/such/folder.pftrace"));
	assert_int_equal(dck_trace_on, 0);
	config = (dck_trace_config){.path = "out.pftrace", .max_size = 100};
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
	config.max_size = 0;
	config.last = 100;
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
	config = (dck_trace_config){.path = "out.pstats.gz"};
	assert_int_equal(dck_trace_start(&config, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "what reads pstats takes no gzip: leave the .gz of '"));
	if (access("/dev/full", W_OK))
		return;
	config = (dck_trace_config){.path = "/dev/full"};
	assert_int_equal(dck_trace_start(&config, &err), DCK_OK);
	for (int i = 0; i < 10000; i++) {
		DCK_ZONE("lost");
	}
	assert_int_equal(dck_trace_stop(&r, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "/dev/full"));
	assert_non_null(r);
	assert_true(r->incomplete);
	assert_true(r->ntables > 0);
	dck_record_free(r);
}

/* --- other processes: this program, run with an argument */

static void zones(int n)
{
	for (int i = 0; i < n; i++) {
		DCK_ZONE("done");
	}
}

/* Waits until 1,000 ranges may be in the file and it stops growing; with a limit. */
static void wait_for_flush(void)
{
	const char *path = getenv("DEEPCLOCK_TRACE");
	const off_t least = strstr(path, ".gz") ? 1000 : 15000;
	enum { COUNTERS = 1000 }; /* bytes of thread counters, which continue */
	struct stat st = {0};
	off_t before = -1;

	for (int i = 0; i < 300 && (st.st_size < least || st.st_size - before > COUNTERS); i++) {
		before = st.st_size;
		usleep(200000);
		if (stat(path, &st))
			st.st_size = 0;
	}
}

static int spawn(const char *what)
{
	int status = -1;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		execl("/proc/self/exe", "test_trace_file", what, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int told(const char *what)
{
	DCK_PUSH("open at the end");
	zones(1000);
	if (!strcmp(what, "exit"))
		exit(3);
	if (!strcmp(what, "kill")) {
		wait_for_flush();
		raise(SIGKILL);
	}
	if (!strcmp(what, "exec")) {
		if (!dck_trace_flush())
			_exit(1);
		execl("/proc/self/exe", "test_trace_file", "exit", (char *)NULL);
	}
	if (!strcmp(what, "fork, exec")) {
		pid_t child = fork();

		if (!child) {
			zones(500);
			if (!dck_trace_flush())
				_exit(1);
			execl("/proc/self/exe", "test_trace_file", "exit", (char *)NULL);
		}
		waitpid(child, NULL, 0);
	}
	if (!strcmp(what, "_exit"))
		_exit(dck_trace_leave() && !dck_trace_leave() ? 4 : 1);
	if (!strcmp(what, "vfork")) {
		pid_t child = vfork();

		/* The child shares our memory: its calls must not end our recording. */
		if (!child)
			_exit(dck_trace_flush() || dck_trace_leave());
		int status = 1;
		waitpid(child, &status, 0);
		zones(1);
		exit(status != 0);
	}
	if (!strcmp(what, "spawn"))
		return spawn("exit") >> 8;
	if (!strcmp(what, "fork")) {
		for (int i = 0; i < 2; i++) {
			pid_t child = fork();

			if (!child) {
				zones(i * 500);
				exit(0);
			}
			waitpid(child, NULL, 0);
		}
	}
	DCK_POP();
	return 0;
}

static int traced_to(const char *path, const char *what)
{
	setenv("DEEPCLOCK_TRACE", path, 1);
	int status = spawn(what);
	unsetenv("DEEPCLOCK_TRACE");
	return status;
}

static int traced(const char *what)
{
	return traced_to("out.pftrace", what);
}

/* The only file that matches the pattern. */
static content content_of_child(const char *pattern)
{
	glob_t g;

	assert_int_equal(glob(pattern, 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 1);
	content c = content_of(g.gl_pathv[0]);
	globfree(&g);
	return c;
}

static void exit_in_the_middle_loses_nothing(void **state)
{
	(void)state;
	assert_int_equal(traced("exit") >> 8, 3);
	content c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "unended"));
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1001);
	free(c.text);
}

static void leaving_without_exit_loses_nothing(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* An unjoined thread at the end of the process is a leak to the sanitizer. */
#endif
	assert_int_equal(traced("_exit") >> 8, 4);
	content c = content_of("out.pftrace");
	assert_true(c.whole && has(&c, "unended"));
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1001);
	free(c.text);
}

static void a_child_in_our_memory_ends_nothing(void **state)
{
	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* Its vfork() is a fork(), and it cannot follow a child that starts threads. */
#endif
	assert_int_equal(traced("vfork"), 0);
	content c = content_of("out.pftrace");
	assert_true(c.whole);
	assert_int_equal(c.begins, 1002);
	free(c.text);
}

static void a_killed_program_leaves_what_was_flushed(void **state)
{
	(void)state;
	assert_int_equal(traced("kill"), SIGKILL);
	content c = content_of("out.pftrace");
	assert_true(c.whole);
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1000);
	free(c.text);
}

static void a_compressed_file_is_flushed_too(void **state)
{
	(void)state;
	assert_int_equal(traced_to("out.pftrace.gz", "kill"), SIGKILL);
	content c = content_of("out.pftrace.gz");
	assert_true(c.whole && c.bytes < c.ntext / 2);
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1000);
	free(c.text);
	/* deepclock itself reads it, and reports the truncation. */
	dck_record *r = NULL;
	dck_err err = {0};

	if (dck_trace_read("out.pftrace.gz", &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(r->incomplete);
	dck_record_free(r);
}

static void the_number_of_a_process_stands_before_both_endings(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* The program forks before it starts the other. */
#endif
	assert_int_equal(traced_to("out.pftrace.gz", "spawn") >> 8, 3);
	content c = content_of("out.pftrace.gz"), child = content_of_child("out.*.pftrace.gz");
	assert_true(c.whole && child.whole && child.bytes < child.ntext / 2);
	assert_int_equal(child.begins, 1001);
	free(c.text);
	free(child.text);
}

static void a_forked_child_has_a_file_of_its_own(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	/* ThreadSanitizer cannot follow a child that starts threads; under AddressSanitizer a
	 * thread missing in the child may hold an allocator lock, so that the child blocks. */
	skip();
#endif
	assert_int_equal(traced("fork"), 0);
	content c = content_of("out.pftrace"), child = content_of_child("out.*.pftrace");
	assert_true(c.whole && child.whole);
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1001);
	/* One of the two children wrote no event, and no file. */
	assert_int_equal(child.begins, 500);
	assert_int_equal(child.ends, 500);
	free(c.text);
	free(child.text);
}

static void a_program_that_it_starts_too(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* The program forks before it starts the other. */
#endif
	assert_int_equal(traced("spawn") >> 8, 3);
	content c = content_of("out.pftrace"), child = content_of_child("out.*.pftrace");
	assert_int_equal(c.begins, 1001);
	assert_int_equal(child.begins, 1001);
	free(c.text);
	free(child.text);
}

/* The same process but a new file: the earlier recording is in the file next to it. */
static void what_exec_brings_takes_the_file_over(void **state)
{
	(void)state;
	assert_int_equal(traced("exec") >> 8, 3);
	content c = content_of_child("out.*.pftrace"), next = content_of("out.pftrace");
	assert_int_equal(c.begins, 1001);
	assert_int_equal(c.ends, 1000);
	assert_int_equal(next.begins, 1001);
	assert_int_equal(next.ends, 1001);
	free(c.text);
	free(next.text);
}

static void what_a_child_brings_by_exec_too(void **state)
{
	(void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	skip(); /* The program forks before it starts the other. */
#endif
	assert_int_equal(traced("fork, exec"), 0);
	content before = content_of_child("out.*[!-]?.pftrace"),
		after = content_of_child("out.*-2.pftrace");
	assert_int_equal(before.begins, 500);
	assert_int_equal(after.begins, 1001);
	assert_int_equal(after.ends, 1001);
	free(before.text);
	free(after.text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(all_is_in_the_file),
	    SCRATCH_TEST(a_file_keeps_its_size),
	    SCRATCH_TEST(a_compressed_file_keeps_its_size),
	    SCRATCH_TEST(the_newest_are_kept),
	    SCRATCH_TEST(threads_of_old_events_are_dropped),
	    SCRATCH_TEST(the_newest_are_written_when_asked),
	    SCRATCH_TEST(a_file_that_cannot_be_written_is_an_error),
	    SCRATCH_TEST(exit_in_the_middle_loses_nothing),
	    SCRATCH_TEST(leaving_without_exit_loses_nothing),
	    SCRATCH_TEST(a_child_in_our_memory_ends_nothing),
	    SCRATCH_TEST(a_killed_program_leaves_what_was_flushed),
	    SCRATCH_TEST(a_compressed_file_is_flushed_too),
	    SCRATCH_TEST(the_number_of_a_process_stands_before_both_endings),
	    SCRATCH_TEST(a_forked_child_has_a_file_of_its_own),
	    SCRATCH_TEST(a_program_that_it_starts_too),
	    SCRATCH_TEST(what_exec_brings_takes_the_file_over),
	    SCRATCH_TEST(what_a_child_brings_by_exec_too),
	};

	if (argc > 1)
		return told(argv[1]);
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
