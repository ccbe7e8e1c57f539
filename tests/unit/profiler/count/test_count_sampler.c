/* The observer of innermost calls: what each look charges, processes that end or call exec(), and
 * files with any content.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/os.h"
#include "profiler/count/count_file.h"
#include "profiler/count/count_functions.h"
#include "profiler/count/count_sampler.h"
#include "record/build.h"
#include "scratch.h"

static const uint64_t every = ~UINT64_C(0);

/* Returns the path of a file of this process; `of` borrows it until the next call. */
static const char *file_of(const char *ending)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%d.0.%s", scratch_path, (int)getpid(), ending);
	return path;
}

/* Makes and maps the file by which a process is found. */
static void *process_make(void)
{
	const int fd = open(file_of("process"), O_RDWR | O_CREAT, 0600);

	assert_true(fd >= 0 && ftruncate(fd, sizeof(count_process)) == 0);
	void *p = mmap(NULL, sizeof(count_process), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(p != MAP_FAILED);
	close(fd);
	return p;
}

static thread_cct *lane_make_in_use(const char *ending)
{
	thread_cct *l = thread_cct_make(file_of(ending));

	assert_non_null(l);
	l->in_use = 1;
	return l;
}

static void test_times(void **state)
{
	void *process = process_make();
	thread_cct *a = lane_make_in_use("0.lane"), *b;
	count_sampler *s = count_sampler_new(scratch_path, 1000);

	(void)state;
	assert_non_null(s);
	count_sampler_look(s, 1100); /* outside of all functions */
	thread_cct_begin(a, 7);
	count_sampler_look(s, 1110);
	b = lane_make_in_use("1.lane"); /* a thread that begins */
	thread_cct_begin(a, 8);
	thread_cct_begin(b, 7);
	count_sampler_look(s, 1130);
	thread_cct_end(a, 8, every);
	b->in_use = 0; /* one that ends */
	count_sampler_look(s, 1160);
	thread_cct_end(a, 7, every);
	count_sampler_look(s, 2000);

	const count_sampled sums = count_sampler_sums(s);
	assert_int_equal(sums.samples, 4);
	assert_true(sums.effective > 80.0 * 80 / (100 + 400 + 400 + 900) * 0.999 &&
		    sums.effective < 80.0 * 80 / (100 + 400 + 400 + 900) * 1.001);
	assert_true(sums.period_ns == 200);
	a->last = 5; /* the hooks' times mean nothing */
	thread_cct_nodes(a)[2].self = 12345;
	count_sampler_times(s, file_of("0.lane"), a);
	count_sampler_times(s, file_of("1.lane"), b);
	assert_int_equal(thread_cct_nodes(a)[0].self, 0);
	assert_int_equal(thread_cct_nodes(a)[2].self, 10 + 30);
	assert_int_equal(thread_cct_nodes(a)[3].self, 20);
	assert_int_equal(thread_cct_nodes(b)[2].self, 20);
	count_sampler_times(s, "no lane", a);
	assert_int_equal(thread_cct_nodes(a)[2].self, 0);
	count_sampler_free(s);
	thread_cct_free(a);
	thread_cct_free(b);
	munmap(process, sizeof(count_process));
}

/* A process that is inside a function and goes on when a byte arrives. */
static pid_t child_begins(bool execs, int *ret_go)
{
	int ready[2], go[2];
	char byte;

	assert_true(pipe2(ready, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0);
	const pid_t pid = fork();
	if (pid == 0) {
		process_make();
		thread_cct_begin(lane_make_in_use("0.lane"), 7);
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		if (execs) { /* also closes the pipe */
			dup2(go[0], 0);
			execlp("cat", "cat", (char *)NULL);
		}
		_exit(0);
	}
	close(ready[1]);
	close(go[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	*ret_go = go[1];
	/* Until exec() or the end. */
	if (execs) {
		assert_int_equal(write(go[1], "", 1), 1);
		assert_int_equal(read(ready[0], &byte, 1), 0);
	}
	close(ready[0]);
	return pid;
}

static void test_process_that_ends(void **state)
{
	count_sampler *s = count_sampler_new(scratch_path, 0);
	int go;

	(void)state;
	const pid_t pid = child_begins(false, &go);
	count_sampler_look(s, 10);
	assert_int_equal(count_sampler_sums(s).samples, 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	count_sampler_look(s, 20);
	assert_int_equal(count_sampler_sums(s).samples, 1);
	close(go);
	count_sampler_free(s);
}

static void test_process_that_execs(void **state)
{
	count_sampler *s = count_sampler_new(scratch_path, 0);
	int go;

	(void)state;
	const pid_t pid = child_begins(true, &go);
	count_sampler_look(s, 10);
	assert_int_equal(count_sampler_sums(s).samples, 0);
	close(go);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	count_sampler_free(s);
}

static void put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* More lanes than descriptors are kept; some end or are damaged while they are watched. */
static void test_any_files(void **state)
{
	enum { LANES = 450 };
	void *process = process_make();
	count_sampler *s = count_sampler_new(scratch_path, 0);
	thread_cct head = {.magic = CALL_LANE_MAGIC,
			   .size_node = sizeof(call_node),
			   .n = 10,
			   .in_use = 1,
			   .current = 9};
	char ending[32];

	(void)state;
	put("x.process", "", 0);
	put("99999999999999999999.0.process", "", 0);
	put("0.0.process", "", 0);
	put("4194304.0.process", "", 0);
	put("1.1024.process", "", 0);
	for (int i = 0; i < LANES; i++) {
		snprintf(ending, sizeof ending, "%d.lane", i);
		put(file_of(ending), &head, sizeof head);
	}
	count_sampler_look(s, 10);
	assert_int_equal(count_sampler_sums(s).samples, LANES);
	assert_int_equal(truncate(file_of("0.lane"), 0), 0);
	assert_int_equal(truncate(file_of("449.lane"), 8), 0);
	unlink(file_of("448.lane"));
	head.current = CALL_LANE_NODES;
	put(file_of("1.lane"), &head, sizeof head);
	head.current = 1;
	head.magic++;
	put(file_of("2.lane"), &head, sizeof head);
	put(file_of("450.lane"), "", 0);
	assert_int_equal(mkfifo(file_of("451.lane"), 0600), 0);
	count_sampler_look(s, 20);
	assert_int_equal(count_sampler_sums(s).samples, LANES + LANES - 5);
	count_sampler_free(s);
	munmap(process, sizeof(count_process));
}

static void test_thread(void **state)
{
	void *process = process_make();
	thread_cct *l = lane_make_in_use("0.lane");
	const uint64_t begin = os_now_ns();
	count_sampler *s;
	dck_err err;

	(void)state;
	thread_cct_begin(l, 7);
	assert_int_equal(count_sampler_start(scratch_path, &s, &err), DCK_OK);
	os_sleep_ns(20000000, NULL, NULL);
	count_sampler_stop(s);
	count_sampler_times(s, file_of("0.lane"), l);
	assert_true(thread_cct_nodes(l)[2].self <= os_now_ns() - begin);
	assert_true((thread_cct_nodes(l)[2].self > 0) == (count_sampler_sums(s).samples > 0));
	count_sampler_free(s);
	assert_int_equal(count_sampler_start("no directory", &s, &err), DCK_OK);
	count_sampler_stop(s);
	count_sampler_free(s);
	count_sampler_stop(NULL);
	count_sampler_free(NULL);
	thread_cct_free(l);
	munmap(process, sizeof(count_process));
}

/* The maps of a process have its path without links. */
static void test_directory_behind_a_link(void **state)
{
	void *process = process_make();
	thread_cct *l = lane_make_in_use("0.lane");
	const char *name = strrchr(scratch_path, '/');
	char path[PATH_MAX + 16];

	(void)state;
	assert_non_null(name);
	snprintf(path, sizeof path, "%.*s/", (int)(name - scratch_path), scratch_path);
	assert_int_equal(symlink(path, "link"), 0);
	snprintf(path, sizeof path, "%s/link%s", scratch_path, name);
	count_sampler *s = count_sampler_new(path, 0);
	thread_cct_begin(l, 7);
	count_sampler_look(s, 10);
	assert_int_equal(count_sampler_sums(s).samples, 1);
	count_sampler_free(s);
	thread_cct_free(l);
	munmap(process, sizeof(count_process));
}

/* A directory that changes after the wall clock was set back has an older time than before. */
static void test_clock_set_back(void **state)
{
	const struct timespec back[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	void *process = process_make();
	thread_cct *a = lane_make_in_use("0.lane");
	count_sampler *s = count_sampler_new(scratch_path, 0);

	(void)state;
	thread_cct_begin(a, 7);
	count_sampler_look(s, 10);
	assert_int_equal(count_sampler_sums(s).samples, 1);
	os_sleep_ns(50000000, NULL, NULL);
	thread_cct *b = lane_make_in_use("1.lane");
	thread_cct_begin(b, 7);
	assert_int_equal(utimensat(AT_FDCWD, scratch_path, back, 0), 0);
	count_sampler_look(s, 20);
	assert_int_equal(count_sampler_sums(s).samples, 3);
	count_sampler_free(s);
	thread_cct_free(a);
	thread_cct_free(b);
	munmap(process, sizeof(count_process));
}

/* --- the record */

static uint32_t sampled_frame(void *self, count_functions *f, uint64_t function)
{
	const char name[] = {(char)('a' + function), '\0'};

	(void)self;
	return cct_frame(&f->paths, &(dck_frame){.name = name});
}

static dck_record *recorded(double effective)
{
	thread_cct *l = thread_cct_make(NULL);
	count_functions f;
	dck_record *r;
	dck_err err;

	thread_cct_begin(l, 1);
	thread_cct_begin(l, 2);
	thread_cct_end(l, 2, every);
	thread_cct_begin(l, 3);
	if (effective > 0) {
		thread_cct_nodes(l)[2].self = 750;
		thread_cct_nodes(l)[3].self = 250;
	}
	assert_int_equal(count_functions_init(&f, &err), DCK_OK);
	f.sampled = true;
	f.samples = (uint64_t)effective;
	f.effective = effective;
	assert_int_equal(
	    count_functions_add(&f, l, 1, &(call_overhead){2, 0}, 0, sampled_frame, NULL, &err),
	    DCK_OK);
	/* A zone: its times are exact. */
	count_functions_path(
	    &f,
	    cct_child(&f.paths, 0,
		      cct_frame(&f.paths, &(dck_frame){.name = "z", .file = COUNT_ZONE})),
	    1, 100, 1);
	record_builder *b = record_new();
	assert_int_equal(count_functions_put(&f, "self", 0, b, &err), DCK_OK);
	count_functions_done(&f);
	thread_cct_free(l);
	assert_int_equal(record_finish(b, &r, &err), DCK_OK);
	return r;
}

static const dck_cell *time_of(const dck_record *r, const char *name, const char *key)
{
	const dck_table *t = dck_record_table(r, "functions");

	for (size_t i = 0; t && i < t->nrows; i++)
		if (!strcmp(dck_table_cell(t, i, "name")->value.as.text, name))
			return dck_table_cell(t, i, key);
	return NULL;
}

static void test_sampled_record(void **state)
{
	dck_record *r = recorded(100);

	(void)state;
	/* Wilson's interval of 75 of 100. */
	const dck_cell *c = time_of(r, "b", "self");
	assert_true(c->value.as.r == 750 && c->level > 0);
	assert_true(c->lo > 656 && c->lo < 658 && c->hi > 824 && c->hi < 826);
	assert_int_equal(time_of(r, "d", "self")->value.kind, DCK_VALUE_ABSENT);
	assert_int_equal(time_of(r, "d", "calls")->value.as.i, 1);
	assert_true(time_of(r, "b", "total")->value.as.r == 1000);
	assert_true(time_of(r, "z", "self")->value.as.r == 100 &&
		    time_of(r, "z", "self")->level == 0);
	assert_null(time_of(r, "b", "overhead"));
	dck_record_free(r);
	r = recorded(0);
	assert_int_equal(time_of(r, "b", "self")->value.kind, DCK_VALUE_ABSENT);
	assert_int_equal(time_of(r, "b", "calls")->value.as.i, 1);
	dck_record_free(r);
}

int test_count_sampler(void);
int test_count_sampler(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_times),
	    SCRATCH_TEST(test_process_that_ends),
	    SCRATCH_TEST(test_process_that_execs),
	    SCRATCH_TEST(test_any_files),
	    SCRATCH_TEST(test_thread),
	    SCRATCH_TEST(test_directory_behind_a_link),
	    SCRATCH_TEST(test_clock_set_back),
	    cmocka_unit_test(test_sampled_record),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
