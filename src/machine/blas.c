/* blas.c - measures the matrix-multiply rate (GEMM) of a BLAS library. A library of this kind comes
 * near the peak, so a peak that is below it was measured wrongly.
 *
 * It runs in a child process, because a BLAS starts threads when it is loaded, which should not
 * remain.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "machine/loops.h"

#include "base/sink.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_NS (4 * 1000000000ull)
#define EACH_NS	   150000000ull /* for one kind and number of threads */
enum { BLAS_SAMPLES = 9, SMALL = 256, LARGE = 1024 };

/* The Fortran interface, which they all have: everything by address, and the lengths of the two
 * texts at the end. */
typedef void (*gemm)(const char *ta, const char *tb, const int *m, const int *n, const int *k,
		     const void *alpha, const void *a, const int *lda, const void *b,
		     const int *ldb, const void *beta, void *c, const int *ldc, size_t la,
		     size_t lb);

typedef struct library {
	os_library *handle;
	gemm s, d;
	void (*set_threads)(int n);
	void (*set_threads_long)(long n);
} library;

static bool blas_library_open(library *l)
{
	static const char *const names[] = {"libopenblas.so.0", "libmkl_rt.so.2", "libmkl_rt.so.1",
					    "libmkl_rt.so",	"libblis.so.4",	  "libblas.so.3"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		*l = (library){0};
		if (os_library_open(names[i], &l->handle, NULL) != DCK_OK)
			continue;
		os_library_function(l->handle, "sgemm_", &l->s);
		os_library_function(l->handle, "dgemm_", &l->d);
		if (l->s && l->d)
			break;
		os_library_close(l->handle);
		l->handle = NULL;
	}
	if (!l->handle)
		return false;
	if (!os_library_function(l->handle, "openblas_set_num_threads", &l->set_threads))
		os_library_function(l->handle, "MKL_Set_Num_Threads", &l->set_threads);
	os_library_function(l->handle, "bli_thread_set_num_threads", &l->set_threads_long);
	return true;
}

static bool threads_set(const library *l, unsigned n)
{
	if (l->set_threads)
		l->set_threads((int)n);
	else if (l->set_threads_long)
		l->set_threads_long((long)n);
	return l->set_threads || l->set_threads_long;
}

typedef struct matrices {
	unsigned char *a, *b, *c;
	double one_d, zero_d;
	float one_s, zero_s;
} matrices;

static double gemm_ns(const library *l, bool wide, int n, matrices *m)
{
	const void *one = wide ? (const void *)&m->one_d : &m->one_s;
	const void *zero = wide ? (const void *)&m->zero_d : &m->zero_s;
	uint64_t begin = os_now_ns();

	(wide ? l->d : l->s)("N", "N", &n, &n, &n, one, m->a, &n, m->b, &n, zero, m->c, &n, 1, 1);
	return (double)(os_now_ns() - begin);
}

static void matrices_init(matrices *m, bool wide)
{
	for (size_t i = 0; i < (size_t)LARGE * LARGE; i++) {
		double v = 0.5 + (double)(i * 2654435761u % 1024) / 2048;
		if (wide)
			((double *)(void *)m->a)[i] = ((double *)(void *)m->b)[i] = v;
		else
			((float *)(void *)m->a)[i] = ((float *)(void *)m->b)[i] = (float)v;
	}
}

static void time_one(const library *l, bool wide, unsigned threads, matrices *m, dck_sink *out)
{
	const uint64_t begin = os_now_ns();
	int n = SMALL;

	matrices_init(m, wide);
	gemm_ns(l, wide, n, m);
	/* The larger, the nearer to the peak; a simple library would need seconds. */
	if (gemm_ns(l, wide, n, m) < 4e6)
		n = LARGE;
	for (int i = 0; i < BLAS_SAMPLES && (i < 2 || os_now_ns() - begin < EACH_NS); i++) {
		double ns = gemm_ns(l, wide, n, m), flops = 2.0 * n * n * n;
		/* The first one still makes threads and pages. */
		if (i > 0 && ns > 0)
			sink_fmt(out, "%c %u %.17g\n", wide ? 'd' : 's', threads, flops / ns * 1e9);
	}
}

static void child(void *self, dck_sink *out)
{
	const machine_run_config *ask = self;
	const size_t bytes = (size_t)LARGE * LARGE * sizeof(double);
	matrices m = {.one_d = 1, .one_s = 1};
	library l;

	m.a = os_pages_alloc(bytes);
	m.b = os_pages_alloc(bytes);
	m.c = os_pages_alloc(bytes);
	if (m.a && m.b && m.c && blas_library_open(&l)) {
		const bool settable = threads_set(&l, 1);
		sink_fmt(out, "library %s\n", os_library_path(l.handle));
		time_one(&l, false, 1, &m, out);
		time_one(&l, true, 1, &m, out);
		if (settable && ask->threads > 1) {
			threads_set(&l, ask->threads);
			time_one(&l, false, ask->threads, &m, out);
			time_one(&l, true, ask->threads, &m, out);
		}
	}
}

/* The value of a line that begins "s 2 ", as the child wrote it. */
static void take_line(machine_result *r, const char *line)
{
	char tag[48], kind, *end;
	unsigned threads;
	int used;

	if (sscanf(line, "library %255[^\n]", r->blas) == 1)
		return;
	if (sscanf(line, "%c %u %n", &kind, &threads, &used) != 2)
		return;
	double v = strtod(line + used, &end);
	snprintf(tag, sizeof tag, "blas/%cgemm/%s", kind, threads == 1 ? "1" : "all");
	machine_item *item = (machine_item *)(uintptr_t)machine_find(r, tag);
	if (!item)
		item = machine_add(r, tag, threads);
	if (item && item->n < MACHINE_ROUNDS_MAX && v > 0)
		item->value[item->n++] = v;
}

void machine_blas(const machine_run_config *ask, machine_result *r)
{
	machine_run_config copy = *ask;
	dck_buffer out = {0};
	dck_err why = {0};

	if (os_in_child(child, &copy, TIMEOUT_NS, 65536, &out, &why) != DCK_OK)
		snprintf(r->blas_why, sizeof r->blas_why, "%.250s", why.msg);
	for (char *at = out.data, *next; at && *at; at = next) {
		next = strchr(at, '\n');
		next = next ? next + 1 : at + strlen(at);
		take_line(r, at);
	}
	if (!r->blas[0] && !r->blas_why[0])
		snprintf(r->blas_why, sizeof r->blas_why, "no BLAS library was found");
	dck_buffer_done(&out);
}
