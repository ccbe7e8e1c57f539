/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/sample/offcpu_poll.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "os/process/other_process.h"

enum { EVERY_NS = 10000000, REST = 20 };

dck_status offcpu_poll_init(offcpu_poll *l, size_t stack_bytes, dck_err *err)
{
	*l = (offcpu_poll){.every_ns = EVERY_NS, .stack_bytes = stack_bytes};
	l->stack = mem_alloc(stack_bytes);
	DCK_NEED(l->stack, err, "for the stacks of threads");
	return DCK_OK;
}

void offcpu_poll_done(offcpu_poll *l)
{
	mem_free(l->stack);
}

typedef struct looking {
	offcpu_poll *l;
	sample_profile *p;
	uint64_t now_ns;
	int pid;
} looking;

static void thread_look(void *self, int tid)
{
	looking *k = self;
	offcpu_sample look = {.pid = k->pid, .tid = tid, .now_ns = k->now_ns, .only = k->l->only};
	os_blocked_call w;

	if (!look.only && !os_thread_timeslices(k->pid, tid, &look.slices)) {
		k->l->refused++;
		return;
	}
	if (!look.only && sample_profile_still_blocked(k->p, &look))
		return;
	if (os_thread_blocked_call(k->pid, tid, &w)) {
		look.waits = true;
		k->l->unread += w.unread;
		look.pc = w.pc;
		look.sp = w.sp;
		look.stack = k->l->stack;
		if (!w.unread)
			look.stack_bytes =
			    os_process_memory(k->pid, w.sp, k->l->stack, k->l->stack_bytes);
		look.stack_full = look.stack_bytes == k->l->stack_bytes;
	}
	sample_profile_look(k->p, &look);
}

static void process_look(void *self, int pid)
{
	looking *k = self;

	k->pid = pid;
	os_process_threads_each(pid, thread_look, k);
}

void offcpu_poll_take(offcpu_poll *l, sample_profile *p, uint64_t now_ns)
{
	looking k = {.l = l, .p = p, .now_ns = now_ns};

	if (now_ns < l->next_ns)
		return;
	/* In CPU time: on a busy machine a poll may be preempted for long, which costs no CPU time.
	 */
	const uint64_t begin = os_thread_cpu_ns();
	sample_profile_processes(p, process_look, &k);
	const uint64_t took = os_thread_cpu_ns() - begin;
	l->looks++;
	l->took_ns += took;
	l->next_ns = now_ns + (took * REST > l->every_ns ? took * REST : l->every_ns);
}
