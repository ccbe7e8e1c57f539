/* Tests of os/neighbours.c over simulated processes, and of record/others.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"
#include "record/others.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Ticks of 10 ms, as the kernel reports them; children: ticks of children waited for. */
static void process_of(int group, int pid, const char *name, int parent, int ticks, int children,
		       int born)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "./proc/%d/stat", pid);
	snprintf(text, sizeof text,
		 "%d (%s) S %d %d 1 0 -1 0 0 0 0 0 %d 0 %d 0 20 0 1 0 %d 1000 100 0\n", pid, name,
		 parent, group, ticks, children, born);
	scratch_text(path, text);
}

static void process(int pid, const char *name, int parent, int ticks, int children, int born)
{
	process_of(1, pid, name, parent, ticks, children, born);
}

static void machine(int busy, int steal)
{
	char text[256];

	snprintf(text, sizeof text,
		 "cpu  %d 0 0 900 7 0 0 %d 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\n"
		 "cpu1 1 0 0 0 0 0 0 0 0 0\nintr 5\n",
		 busy, steal);
	scratch_text("./proc/stat", text);
}

#define OURS	  100
#define SECOND_NS 1e9

static void the_three_that_used_most_are_named(void **state)
{
	(void)state;
	os_cpu_split s;

	machine(1000, 0);
	process(1, "init", 0, 5, 5, 1);
	process(OURS, "deepclock", 1, 50, 10, 1);
	process(101, "model (a) b", OURS, 30, 0, 1);
	process(200, "python3", 1, 500, 0, 1);
	process(201, "python3", 1, 500, 0, 1);
	process(300, "make", 1, 3, 40, 1);
	process(301, "cc1", 300, 25, 0, 1);
	process(400, "idle", 1, 900, 0, 1);
	process(500, "shell", 1, 1, 0, 1);
	process(501, "test", 500, 1, 0, 1);
	process(502, "job", 501, 300, 0, 1);
	os_cpu_users *from = os_cpu_users_take(".", OURS, 0);

	/* One second: this process 30, its child 40, a new one 10; others 60 + 10 by two of one
	 * name, 20 by a compiler that exited (45 in all) and another that started. */
	machine(1200, 10);
	process(OURS, "deepclock", 1, 80, 10, 1);
	process(101, "model (a) b", OURS, 70, 0, 1);
	process(102, "worker", 101, 10, 0, 9);
	process(200, "python3", 1, 560, 0, 1);
	process(201, "python3", 1, 510, 0, 1);
	process(300, "make", 1, 4, 85, 1);
	remove("./proc/301/stat");
	/* Two generations exited: their earlier CPU time does not count in this second. */
	process(500, "shell", 1, 1, 301, 1);
	remove("./proc/501/stat");
	remove("./proc/502/stat");
	process(302, "ld", 300, 5, 0, 9);
	os_cpu_users *to = os_cpu_users_take(".", OURS, 0);

	assert_true(os_cpu_split_find(from, to, SECOND_NS, &s));
	assert_int_equal(s.cpus, 2);
	assert_true(fabs(s.own - 0.8) < 1e-9);
	assert_true(fabs(s.others - 1.2) < 1e-9);
	assert_true(fabs(s.steal - 0.1) < 1e-9);
	assert_int_equal(s.ntop, 3);
	assert_string_equal(s.top[0].name, "python3");
	assert_true(fabs(s.top[0].cores - 0.7) < 1e-9);
	assert_string_equal(s.top[1].name, "make");
	assert_true(fabs(s.top[1].cores - 0.21) < 1e-9); /* 1 + 45 - 25 */
	assert_string_equal(s.top[2].name, "ld");
	os_cpu_users_free(from);

	/* A program profiled by its process id is ours too. */
	from = os_cpu_users_take(".", OURS, 200);
	process(200, "python3", 1, 600, 0, 1);
	machine(1240, 10);
	os_cpu_users_free(to);
	to = os_cpu_users_take(".", OURS, 200);
	assert_true(os_cpu_split_find(from, to, SECOND_NS, &s));
	assert_true(fabs(s.own - 0.4) < 1e-9 && s.others < 1e-9 && s.ntop == 0);
	os_cpu_users_free(from);
	os_cpu_users_free(to);
}

static void every_processor_counts(void **state)
{
	enum { CPUS = 1536 };
	static char text[CPUS * 80];
	os_cpu_split s;
	size_t n = (size_t)sprintf(text, "cpu  9000 0 0 900 7 0 0 0 0 0\n");

	(void)state;
	for (unsigned i = 0; i < CPUS; i++)
		n += (size_t)sprintf(text + n,
				     "cpu%u 12345678 1234 234567 890123456 1234 0 99 0 0 0\n", i);
	scratch_text("./proc/stat", text);
	process(OURS, "deepclock", 1, 50, 10, 1);
	os_cpu_users *now = os_cpu_users_take(".", OURS, 0);

	assert_true(os_cpu_split_find(now, now, SECOND_NS, &s));
	assert_int_equal(s.cpus, CPUS);
	os_cpu_users_free(now);
}

/* The parent of 103 has ended: it and its child are ours. Not so an older process of the group, the
 * child of another one in it, and a leader of its own group. */
static void an_orphan_of_the_group_is_ours(void **state)
{
	(void)state;
	os_cpu_split s;

	machine(1000, 0);
	process(1, "init", 0, 5, 5, 1);
	process_of(90, 90, "script", 1, 1, 0, 2);
	process_of(90, 95, "make", 90, 1, 0, 3);
	process_of(90, OURS, "deepclock", 90, 10, 0, 5);
	process_of(90, 91, "earlier", 1, 10, 0, 4);
	os_cpu_users *from = os_cpu_users_take(".", OURS, 0);

	machine(1200, 0);
	process_of(90, 91, "earlier", 1, 20, 0, 4);
	process_of(90, 103, "orphan", 1, 40, 0, 9);
	process_of(90, 104, "child", 103, 20, 0, 9);
	process_of(90, 105, "cc1", 95, 10, 0, 9);
	process_of(106, 106, "daemon", 1, 10, 0, 9);
	os_cpu_users *to = os_cpu_users_take(".", OURS, 0);

	assert_true(os_cpu_split_find(from, to, SECOND_NS, &s));
	assert_true(fabs(s.own - 0.6) < 1e-9);
	assert_int_equal(s.ntop, 3);
	assert_int_equal(s.left, 1);
	assert_string_equal(s.left_name, "orphan");
	assert_true(os_cpu_split_find(to, to, SECOND_NS, &s));
	assert_int_equal(s.left, 0);
	os_cpu_users_free(from);
	os_cpu_users_free(to);
	for (int pid = 90; pid <= 106; pid++) {
		char path[64];

		snprintf(path, sizeof path, "./proc/%d/stat", pid);
		(void)remove(path);
	}
}

static void what_cannot_be_read_is_not_known(void **state)
{
	(void)state;
	os_cpu_split s;
	os_cpu_users *nothing = os_cpu_users_take("/no/such/root", OURS, 0);
	os_cpu_users *here = os_cpu_users_take("", getpid(), 0);

	assert_false(os_cpu_split_find(nothing, here, SECOND_NS, &s));
	assert_false(os_cpu_split_find(NULL, here, SECOND_NS, &s));
	assert_false(os_cpu_split_find(here, here, 0, &s));
	assert_true(os_cpu_split_find(here, here, SECOND_NS, &s));
	assert_true(s.cpus > 0 && s.own == 0 && s.others == 0 && s.ntop == 0);
	os_cpu_users_free(nothing);
	os_cpu_users_free(here);
	os_cpu_users_free(NULL);
}

/* --- the note */

static record_others used(unsigned cpus, double own, double others)
{
	return (record_others){.wall_ns = 1e9,
			       .known = true,
			       .cores = {.cpus = cpus,
					 .own = own,
					 .others = others,
					 .ntop = 2,
					 .top = {{"cc1", 0.5}, {"make", 0.25}}}};
}

static void others_matter_where_cores_are_short(void **state)
{
	(void)state;
	record_others o;

	o = used(2, 2, 0.11);
	assert_true(record_others_matter(&o));
	o = used(2, 2, 0.09);
	assert_false(record_others_matter(&o));
	o = used(64, 1, 2);
	assert_false(record_others_matter(&o));
	o = used(64, 1, 16);
	assert_true(record_others_matter(&o));
	o = used(64, 63.5, 0.5);
	assert_true(record_others_matter(&o));
	o.known = false;
	assert_false(record_others_matter(&o));
}

static const char *note_of(const record_others *o, bool threads, dck_record **ret)
{
	record_builder *b = record_new();

	record_others_put(o, b, "samples", threads);
	assert_int_equal(record_finish(b, ret, NULL), DCK_OK);
	const dck_note *n = dck_record_note(*ret, "busy-neighbours");
	return n ? n->text : "";
}

static void the_note_names_them_and_what_helps(void **state)
{
	(void)state;
	record_others o = used(2, 1.4, 0.6);
	dck_record *r;

	assert_string_equal(note_of(&o, true, &r),
			    "other programs used 0.60 of 2 cores during the measurement (cc1 0.50, "
			    "make 0.25); stop them, or leave them cores (--threads, --cpus)");
	dck_record_free(r);
	o.cores.ntop = 0;
	assert_string_equal(note_of(&o, false, &r),
			    "other programs used 0.60 of 2 cores during the measurement (none is "
			    "visible in this container); stop them and measure again");
	assert_null(dck_record_fact(r, "samples", "others"));
	dck_record_free(r);
	o.cores.steal = 0.07;
	record_builder *b = record_new();
	record_others_advise(&o, b, "machine", "look again", "so that it is slower");
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_non_null(strstr(dck_record_note(r, "busy-neighbours")->text, "; look again"));
	assert_string_equal(dck_record_note(r, "steal")->text,
			    "the hypervisor gave 0.07 cores of this machine to other machines, so "
			    "that it is slower");
	assert_non_null(dck_record_fact(r, "machine", "others_cpu"));
	dck_record_free(r);
	o = (record_others){.wall_ns = 1e8};
	assert_string_equal(note_of(&o, true, &r), "");
	assert_int_equal(dck_record_fact(r, "samples", "others_cpu")->value.kind, DCK_VALUE_ABSENT);
	dck_record_free(r);
}

static void what_a_program_left_running_is_named(void **state)
{
	(void)state;
	record_others o = used(2, 1.4, 0);
	record_builder *b = record_new();
	dck_record *r;

	record_others_left_put(&o, b);
	o.cores.left = 2;
	strcpy(o.cores.left_name, "sleep");
	record_others_left_put(&o, b);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	assert_string_equal(
	    dck_record_note(r, "program-outlived")->text,
	    "2 processes that the runs started (sleep) went on after their end: the times do not include them; let a run wait for them, as 'wait' does in a shell");
	dck_record_free(r);
}

static void a_measurement_of_this_machine(void **state)
{
	(void)state;
	record_others o;

	record_others_begin(&o, 0);
	usleep(210000);
	record_others_end(&o);
	record_others_end(&o);
	assert_true(o.known && o.wall_ns >= 2e8 && o.cores.own < 1 && o.cores.cpus > 0);
	record_others_begin(&o, 0);
	record_others_end(&o);
	assert_false(o.known);
}

int test_os_neighbours(void);
int test_os_neighbours(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_three_that_used_most_are_named),
	    cmocka_unit_test(every_processor_counts),
	    cmocka_unit_test(an_orphan_of_the_group_is_ours),
	    cmocka_unit_test(what_cannot_be_read_is_not_known),
	    cmocka_unit_test(others_matter_where_cores_are_short),
	    cmocka_unit_test(the_note_names_them_and_what_helps),
	    cmocka_unit_test(what_a_program_left_running_is_named),
	    cmocka_unit_test(a_measurement_of_this_machine),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
