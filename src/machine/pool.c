/* pool.c - threads pinned to processors, and rounds that they start together.
 *
 * Between jobs they sleep; within a job they meet at a barrier before and after each round, which
 * costs well under a microsecond where waking a thread costs many.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct worker {
	machine_pool *pool;
	pthread_t thread;
	unsigned index, cpu;
	bool started, pinned;
	uint64_t begin_ns, end_ns; /* of the round; read by thread 0 between two barriers */
} worker;

struct machine_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	uint64_t job; /* number of the job: the lock's, like all up to `running` */
	bool leave;
	machine_work f;
	void *self;
	unsigned threads, rounds;
	double *ns;
	unsigned running;
	atomic_uint arrived, meeting; /* the barrier */
	unsigned n;
	worker worker[];
};

static inline void pool_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Waits until all threads have arrived. It spins, since that takes less than a microsecond. If
 * another program runs on one of the processors, spinning would delay that program: then it
 * yields. */
static void meet(machine_pool *p, unsigned threads)
{
	enum { SPINS = 20000 };
	unsigned meeting = atomic_load(&p->meeting);

	if (atomic_fetch_add(&p->arrived, 1) + 1 == threads) {
		atomic_store(&p->arrived, 0);
		atomic_store(&p->meeting, meeting + 1);
		return;
	}
	for (unsigned i = 0; atomic_load(&p->meeting) == meeting; i++) {
		pool_relax();
		if (i > SPINS)
			os_thread_yield();
	}
}

static double round_ns(const machine_pool *p, unsigned threads)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (unsigned i = 0; i < threads; i++) {
		const worker *w = &p->worker[i];
		begin = w->begin_ns < begin ? w->begin_ns : begin;
		end = w->end_ns > end ? w->end_ns : end;
	}
	return end > begin ? (double)(end - begin) : 0;
}

static void pool_rounds_run(worker *w, machine_work f, void *self, unsigned threads,
			    unsigned rounds, double *ret_ns)
{
	machine_pool *p = w->pool;

	for (unsigned i = 0; i < rounds; i++) {
		meet(p, threads);
		w->begin_ns = os_now_ns();
		f(self, w->index, threads, i);
		w->end_ns = os_now_ns();
		meet(p, threads);
		if (w->index == 0 && ret_ns)
			ret_ns[i] = round_ns(p, threads);
	}
}

static void *worker_main(void *arg)
{
	worker *w = arg;
	machine_pool *p = w->pool;
	uint64_t done = 0;
	bool pinned = os_thread_pin(w->cpu);

	pthread_mutex_lock(&p->lock);
	w->pinned = pinned;
	for (;;) {
		while (!p->leave && p->job == done)
			pthread_cond_wait(&p->work, &p->lock);
		if (p->leave)
			break;
		done = p->job;
		if (w->index >= p->threads)
			continue;
		machine_work f = p->f;
		void *self = p->self;
		unsigned threads = p->threads, rounds = p->rounds;
		double *ns = p->ns;
		pthread_mutex_unlock(&p->lock);
		pool_rounds_run(w, f, self, threads, rounds, ns);
		pthread_mutex_lock(&p->lock);
		if (--p->running == 0)
			pthread_cond_signal(&p->idle);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

dck_status machine_pool_open(const unsigned *cpu, unsigned n, machine_pool **ret, dck_err *err)
{
	machine_pool *p = mem_zalloc(1, sizeof *p + n * sizeof p->worker[0]);

	DCK_NEED(p, err, "for %u threads", n);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->idle, NULL);
	atomic_init(&p->arrived, 0);
	atomic_init(&p->meeting, 0);
	p->n = n;
	for (unsigned i = 0; i < n; i++) {
		worker *w = &p->worker[i];
		w->pool = p;
		w->index = i;
		w->cpu = cpu[i];
		int failed = pthread_create(&w->thread, NULL, worker_main, w);
		if (failed) {
			machine_pool_close(p);
			DCK_FAIL_ERRNO(err, E_LIMIT, failed, "cannot start thread %u of %u", i + 1,
				       n);
		}
		w->started = true;
	}
	*ret = p;
	return DCK_OK;
}

void machine_pool_close(machine_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->leave = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n; i++)
		if (p->worker[i].started)
			pthread_join(p->worker[i].thread, NULL);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

void machine_pool_run(machine_pool *p, unsigned threads, unsigned rounds, machine_work f,
		      void *self, double *ret_ns)
{
	pthread_mutex_lock(&p->lock);
	p->f = f;
	p->self = self;
	p->threads = threads < p->n ? threads : p->n;
	p->rounds = rounds;
	p->ns = ret_ns;
	p->running = p->threads;
	p->job++;
	pthread_cond_broadcast(&p->work);
	while (p->running > 0)
		pthread_cond_wait(&p->idle, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

bool machine_pool_pinned(const machine_pool *pool)
{
	machine_pool *p = (machine_pool *)(uintptr_t)pool;
	bool all = true;

	pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < p->n; i++)
		all = all && p->worker[i].pinned;
	pthread_mutex_unlock(&p->lock);
	return all;
}
