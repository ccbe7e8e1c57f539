/* rank_check.c - the rounds of `deepclock ranks --check`: kernels, and the messages that drive
 * them.
 *
 * The kernels: COMPUTE_STEPS multiplications and additions modulo 2^64, each of which needs the
 * result before (a linear congruential generator), so that neither vector units nor another thread
 * of the core change their time much; and the sum over STREAM_BYTES, larger than the private caches
 * of processors in use. Both are the same instructions everywhere, and their results are used.
 *
 * A rank that does not answer within ANSWER_NS is lost: its connection is not used again, and the
 * others go on. Rank 0 has kernels, and no exchange with itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_check.h"
#include "profiler/ranks/rank_message.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "os/net/network.h"
#include "os/os.h"

#include <math.h>
#include <string.h>

enum { COMPUTE_STEPS = 50000, STREAM_BYTES = 8 << 20, REPETITIONS = 4, ECHOES = 3 };
#define CHECK_ANSWER_NS UINT64_C(60000000000)
#define CHECK_SEED	1

/* --- kernels */

typedef struct kernel_state {
	volatile uint64_t result;
	uint64_t words[STREAM_BYTES / sizeof(uint64_t)];
} kernel_state;

static uint64_t compute_run(uint64_t x)
{
	for (int i = 0; i < COMPUTE_STEPS; i++)
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return x;
}

static uint64_t stream_run(const uint64_t *words)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < STREAM_BYTES / sizeof *words; i++)
		sum += words[i];
	return sum;
}

static void kernels_run(void *self, double ret_ns[RANK_KERNELS])
{
	kernel_state *s = self;

	ret_ns[RANK_COMPUTE] = ret_ns[RANK_STREAM] = INFINITY;
	for (int i = 0; i < REPETITIONS; i++) {
		const uint64_t t0 = os_now_ns();
		s->result = compute_run(s->result);
		const uint64_t t1 = os_now_ns();
		s->result += stream_run(s->words);
		const uint64_t t2 = os_now_ns();

		ret_ns[RANK_COMPUTE] = fmin(ret_ns[RANK_COMPUTE], (double)(t1 - t0));
		ret_ns[RANK_STREAM] = fmin(ret_ns[RANK_STREAM], (double)(t2 - t1));
	}
}

dck_status rank_kernel_open(rank_kernel *ret, dck_err *err)
{
	kernel_state *s = mem_alloc(sizeof *s);

	DCK_NEED(s, err, "for the kernel of a rank");
	s->result = 0;
	/* Pages that were only zeroed would be one page of the kernel. */
	for (size_t i = 0; i < STREAM_BYTES / sizeof *s->words; i++)
		s->words[i] = i;
	*ret = (rank_kernel){s, kernels_run};
	return DCK_OK;
}

void rank_kernel_close(rank_kernel *k)
{
	mem_free(k->self);
	*k = (rank_kernel){0};
}

/* --- rank 0 */

typedef struct check_lead {
	rank_server *server;
	uint32_t size;
	const rank_kernel *kernel;
	uint8_t *bytes;	 /* @owned; RANK_ECHO_BYTES */
	uint32_t *order; /* @owned; ranks in the order of this round's exchanges */
	uint64_t random;
	rank_check check;
} check_lead;

static int lead_fd(const check_lead *l, uint32_t rank)
{
	return l->check.lost[rank] ? -1 : rank_server_fd(l->server, rank);
}

static double *lead_cell(check_lead *l, rank_quantity of, uint32_t rank)
{
	return &l->check.x[of][rank * (size_t)RANK_CHECK_ROUNDS + l->check.rounds];
}

static void kernels_round(check_lead *l)
{
	double own[RANK_KERNELS];

	for (uint32_t rank = 1; rank < l->size; rank++)
		if (lead_fd(l, rank) < 0 || !rank_message_send(lead_fd(l, rank), RANK_KERNEL, NULL,
							       0, os_now_ns() + CHECK_ANSWER_NS))
			l->check.lost[rank] = true;
	l->kernel->run(l->kernel->self, own);
	for (uint32_t rank = 0; rank < l->size; rank++) {
		if (rank > 0 && !l->check.lost[rank] &&
		    !rank_message_receive(lead_fd(l, rank), RANK_TIMES, own, sizeof own,
					  os_now_ns() + CHECK_ANSWER_NS))
			l->check.lost[rank] = true;
		for (int q = 0; q < RANK_KERNELS; q++) {
			*lead_cell(l, (rank_quantity)q, rank) = own[q];
			if (!(own[q] > 0) || !isfinite(own[q]))
				l->check.lost[rank] = true;
		}
	}
}

static bool echo_make(check_lead *l, int fd, double *ret_ns)
{
	const uint64_t t0 = os_now_ns(), deadline = t0 + CHECK_ANSWER_NS;

	if (!rank_message_send(fd, RANK_ECHO, l->bytes, RANK_ECHO_BYTES, deadline) ||
	    !rank_message_receive(fd, RANK_ECHO, l->bytes, RANK_ECHO_BYTES, deadline))
		return false;
	*ret_ns = fmin(*ret_ns, (double)(os_now_ns() - t0));
	return true;
}

static void echoes_round(check_lead *l)
{
	for (uint32_t n = l->size - 1; n > 1; n--) {
		const size_t k = rng_below(&l->random, n);
		const uint32_t rank = l->order[k];

		l->order[k] = l->order[n - 1];
		l->order[n - 1] = rank;
	}
	for (uint32_t i = 0; i + 1 < l->size; i++) {
		const uint32_t rank = l->order[i];
		double *x = lead_cell(l, RANK_ECHO_TIME, rank);

		*x = INFINITY;
		for (int k = 0; k < ECHOES && !l->check.lost[rank]; k++)
			l->check.lost[rank] = !echo_make(l, lead_fd(l, rank), x);
	}
}

static dck_status lead_init(check_lead *l, dck_err *err)
{
	bool enough = true;

	for (int q = 0; q < RANK_QUANTITIES; q++) {
		l->check.x[q] = mem_zalloc(l->size, RANK_CHECK_ROUNDS * sizeof(double));
		enough = enough && l->check.x[q];
	}
	l->check.lost = mem_zalloc(l->size, sizeof(bool));
	l->bytes = mem_zalloc(1, RANK_ECHO_BYTES);
	l->order = mem_zalloc(l->size, sizeof *l->order);
	DCK_NEED(enough && l->check.lost && l->bytes && l->order, err, "for the check of %u ranks",
		 l->size);
	for (uint32_t i = 0; i + 1 < l->size; i++)
		l->order[i] = i + 1;
	return DCK_OK;
}

dck_status rank_check_lead(rank_server *s, uint32_t size, const rank_kernel *k, rank_check *ret,
			   dck_err *err)
{
	check_lead l = {.server = s, .size = size, .kernel = k, .random = CHECK_SEED};
	const dck_status status = lead_init(&l, err);

	for (; status == DCK_OK && l.check.rounds < RANK_CHECK_ROUNDS; l.check.rounds++) {
		kernels_round(&l);
		echoes_round(&l);
	}
	for (uint32_t rank = 1; status == DCK_OK && rank < size; rank++)
		if (lead_fd(&l, rank) >= 0)
			(void)rank_message_send(lead_fd(&l, rank), RANK_END, NULL, 0,
						os_now_ns() + CHECK_ANSWER_NS);
	mem_free(l.bytes);
	mem_free(l.order);
	if (status == DCK_OK)
		*ret = l.check;
	else
		rank_check_done(&l.check);
	return status;
}

void rank_check_done(rank_check *c)
{
	for (int q = 0; q < RANK_QUANTITIES; q++)
		mem_free(c->x[q]);
	mem_free(c->lost);
	*c = (rank_check){0};
}

/* --- another rank */

static dck_status requests_answer(int fd, uint64_t wait_ns, const rank_kernel *k, uint8_t *bytes,
				  dck_err *err)
{
	for (;;) {
		const uint64_t deadline = os_now_ns() + wait_ns + CHECK_ANSWER_NS;
		double ns[RANK_KERNELS];
		rank_head head;
		bool answered = false;

		if (!os_net_receive_all(fd, &head, sizeof head, deadline))
			break;
		if (head.kind == RANK_END)
			return DCK_OK;
		if (head.kind == RANK_KERNEL && head.bytes == 0) {
			k->run(k->self, ns);
			answered = rank_message_send(fd, RANK_TIMES, ns, sizeof ns, deadline);
		} else if (head.kind == RANK_ECHO && head.bytes == RANK_ECHO_BYTES) {
			answered =
			    os_net_receive_all(fd, bytes, RANK_ECHO_BYTES, deadline) &&
			    rank_message_send(fd, RANK_ECHO, bytes, RANK_ECHO_BYTES, deadline);
		}
		if (!answered)
			break;
	}
	DCK_FAIL(err, E_IO, "rank 0 ended before the check did");
}

dck_status rank_check_follow(rank_client *c, const rank_part *own, uint64_t wait_ns,
			     const rank_kernel *k, dck_err *err)
{
	uint8_t *bytes = mem_alloc(RANK_ECHO_BYTES);
	wire_out part = {0};
	int fd = -1;

	rank_part_write(own, &part);
	dck_status status = !bytes || part.failed
				? ERR_NO_MEMORY(err, "for the check of a rank")
				: rank_client_ready(c, part.data, part.n, wait_ns, &fd, err);
	DCK_NEXT(status, requests_answer(fd, wait_ns, k, bytes, err));
	wire_out_done(&part);
	mem_free(bytes);
	return status;
}
