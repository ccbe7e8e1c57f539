/* SPDX-License-Identifier: Apache-2.0 */
#include "record/others.h"
#include "base/decimal.h"
#include "record/record_internal.h"
#include <stdio.h>
#include <string.h>

/* /proc/stat counts in ticks of 10 ms, so a shorter time has no information. */
#define WALL_NS_LEAST 2e8

#define OTHERS_CORES 0.1  /* less moves a median by less than its interval */
#define OTHERS_SHARE 0.25 /* of the cores that the measured program left free */
#define STEAL_CORES  0.05

/* Where at least this share of the runs is undisturbed, the others do not move their median. */

void record_others_begin(record_others *o, long pid)
{
	*o = (record_others){.pid = pid, .before = os_cpu_users_take("", os_process_id(), pid)};
	o->began_ns = os_now_ns();
}

void record_others_end(record_others *o)
{
	if (!o->before)
		return;
	o->wall_ns = (double)(os_now_ns() - o->began_ns);
	if (o->wall_ns >= WALL_NS_LEAST) {
		os_cpu_users *after = os_cpu_users_take("", os_process_id(), o->pid);

		o->known = os_cpu_split_find(o->before, after, o->wall_ns, &o->cores);
		os_cpu_users_free(after);
	}
	os_cpu_users_free(o->before);
	o->before = NULL;
}

void record_others_own_least(record_others *o, double cpu_ns)
{
	os_cpu_split *c = &o->cores;
	const double own = o->wall_ns > 0 ? cpu_ns / o->wall_ns : 0;

	if (!o->known || own <= c->own)
		return;
	c->others = c->others > own - c->own ? c->others - (own - c->own) : 0;
	c->own = own;
}

bool record_others_matter(const record_others *o)
{
	const os_cpu_split *c = &o->cores;
	const double free_cores = c->cpus > c->own ? c->cpus - c->own : 0;

	return o->known && c->others > OTHERS_CORES && c->others > OTHERS_SHARE * free_cores;
}

/* Writes "cc1 0.52, python3 0.21": cores of each program; "": none is visible. */
static void names_text(const os_cpu_split *c, char *buf, size_t size)
{
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < c->ntop && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s %s", i > 0 ? ", " : "",
				       c->top[i].name, FIXED_TEXT(2, c->top[i].cores));
}

void record_others_advise(const record_others *o, record_builder *b, const char *section,
			  const char *busy, const char *stolen)
{
	const os_cpu_split *c = &o->cores;
	char names[OS_CPU_TOP * 40];

	if (!o->known) {
		record_fact_absent(b, section, "others_cpu",
				   o->wall_ns < WALL_NS_LEAST ? "measured for less than 0.2 s"
							      : "the system does not report it");
		return;
	}
	names_text(c, names, sizeof names);
	record_fact_real(b, section, "others_cpu", DCK_UNIT_ONE, c->others);
	if (names[0])
		record_fact_text(b, section, "others", names);
	record_fact_real(b, section, "steal", DCK_UNIT_ONE, c->steal);
	if (record_others_matter(o)) {
		record_note(b, "busy-neighbours",
			    "other programs used %s of %u cores during the measurement (%s)",
			    FIXED_TEXT(2, c->others), c->cpus,
			    names[0] ? names : "none is visible in this container");
		record_remedy(b, "%s", busy);
	}
	if (c->steal > STEAL_CORES)
		record_note(b, "steal",
			    "the hypervisor gave %s cores of this machine to other machines, %s",
			    FIXED_TEXT(2, c->steal), stolen);
}

void record_others_put(const record_others *o, record_builder *b, const char *section, bool threads)
{
	record_others_advise(o, b, section,
			     threads ? "stop them, or leave them cores (--threads, --cpus)"
				     : "stop them and measure again",
			     "so that times are longer; measure again at another time, or compare "
			     "interleaved");
}

void record_others_left_put(const record_others *o, record_builder *b)
{
	const os_cpu_split *c = &o->cores;

	if (c->left == 0)
		return;
	record_note(
	    b, "program-outlived",
	    "%zu process%s that the runs started (%s) went on after their end: the times do not "
	    "include %s",
	    c->left, c->left == 1 ? "" : "es", c->left_name, c->left == 1 ? "it" : "them");
	record_remedy(b, "let a run wait for %s, as 'wait' does in a shell",
		      c->left == 1 ? "it" : "them");
}

bool record_beside_others(const dck_record *r)
{
	const int64_t alone = record_get_int(r, "samples", "undisturbed"),
		      known = record_get_int(r, "samples", "undisturbed_of");

	return dck_record_note(r, "busy-neighbours") &&
	       (known > 0 ? (double)alone < RECORD_UNDISTURBED * (double)known
			  : dck_record_note(r, "preempted") != NULL);
}
