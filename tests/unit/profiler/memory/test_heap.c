/* Counts of the interposed allocator library, for simulated blocks: sizes, paths and peaks are
 * exact to the byte. In a separate process, because the state is global.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/preload/heap/heap_block.h"
#include "profiler/preload/heap/heap_count.h"
#include "profiler/preload/heap/heap_paths.h"
#include "profiler/memory/heap_file.h"
#include "scratch.h"

#define APART __attribute__((noinline))

/* The address of a block that does not exist: number n of a size class. */
static void *block(uint64_t n)
{
	return (void *)(uintptr_t)(UINT64_C(0x100000000000) + 16 * n);
}

static APART void born(uint64_t n, size_t size)
{
	const heap_caller caller = HEAP_CALLER;

	heap_on_alloc(block(n), size, &caller);
	__asm__ volatile("" ::: "memory"); /* prevents a tail call */
}

static APART void born_elsewhere(uint64_t n, size_t size)
{
	born(n, size);
	__asm__ volatile("" ::: "memory");
}

static heap_header *header(void)
{
	return heap_get()->header;
}

static int64_t live(void)
{
	return atomic_load(&header()->total[HEAP_BLOCKS].live);
}

/* Sums over all nodes. */
typedef struct sums {
	uint64_t allocations, bytes, temporary, blocks;
	int64_t live, at_peak;
	unsigned nodes;
} sums;

static sums sums_of(const char *path)
{
	heap_file f;
	sums s = {0};

	assert_int_equal(heap_file_open(path, &f, NULL), DCK_OK);
	for (uint32_t i = 1; i < f.nnodes; i++) {
		const heap_node *n = &f.nodes[i];

		assert_true(n->parent < i);
		s.allocations += n->allocations;
		s.bytes += n->bytes;
		s.temporary += n->temporary;
		s.blocks += n->live_blocks;
		s.live += n->live;
		s.at_peak += heap_file_at_peak(&f, n, HEAP_BLOCKS);
		s.nodes += n->allocations > 0;
	}
	heap_file_close(&f);
	return s;
}

static void path_of(long pid, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%.4000s/%ld.0.heap", scratch_path, pid);
}

static sums sums_here(void)
{
	char path[PATH_MAX];

	path_of(getpid(), path);
	return sums_of(path);
}

static void blocks_are_counted(void **state)
{
	const sums before = sums_here();

	(void)state;
	born(1, 100);
	born(2, 5000);
	born_elsewhere(3, 0);
	heap_on_free(block(2));
	heap_on_free(block(2)); /* no longer known */
	heap_on_free(block(77));
	const sums after = sums_here();
	assert_int_equal(after.allocations - before.allocations, 3);
	assert_int_equal(after.bytes - before.bytes, 5100);
	assert_int_equal(after.live - before.live, 100);
	assert_int_equal(after.blocks - before.blocks, 2);
	assert_int_equal(live(), after.live);
	heap_on_free(block(1));
	heap_on_free(block(3));
	assert_int_equal(sums_here().live, before.live);
	/* An address allocated again without a free in between: the first block has ended. */
	born(1, 10);
	born(1, 20);
	born(1, 4000);
	heap_on_free(block(1));
	born(2, 5000);
	born(2, 6000);
	heap_on_free(block(2));
	born(1, 30);
	assert_int_equal(live() - before.live, 30);
	heap_on_free(block(1));
	assert_int_equal(live(), before.live);
}

static void what_is_freed_at_once_is_temporary(void **state)
{
	const uint64_t before = sums_here().temporary;

	(void)state;
	born(1, 8);
	heap_on_free(block(1));
	born(1, 8);
	born(2, 8);
	heap_on_free(block(1));
	assert_int_equal(sums_here().temporary - before, 1);
	heap_on_free(block(2));
	assert_int_equal(sums_here().temporary - before, 2);
}

static void a_block_that_is_resized_ends_and_begins(void **state)
{
	const sums before = sums_here();
	const heap_caller caller = HEAP_CALLER;

	(void)state;
	born(1, 100);
	heap_on_realloc_end(block(1), heap_on_realloc_begin(block(1)), block(2), 300, &caller);
	assert_int_equal(live() - before.live, 300);
	/* realloc() failed: nothing changes. */
	heap_on_realloc_end(block(2), heap_on_realloc_begin(block(2)), NULL, 5000, &caller);
	assert_int_equal(live() - before.live, 300);
	heap_on_realloc_end(block(2), heap_on_realloc_begin(block(2)), NULL, 0, &caller);
	assert_int_equal(live(), before.live);
	assert_int_equal(sums_here().allocations - before.allocations, 2);
}

/* Sizes around the border between the two tables, in random order, compared with a plain array. */
static void tables_hold_any_block(void **state)
{
	enum { BLOCKS = 20000, STEPS = 200000 };
	uint32_t *size = calloc(BLOCKS, sizeof *size);
	uint64_t random = 1;
	int64_t sum = live();

	(void)state;
	assert_non_null(size);
	for (int i = 0; i < STEPS; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
		const uint32_t n = (uint32_t)(random >> 33) % BLOCKS;
		if (size[n]) {
			heap_on_free(block(64 * n));
			sum -= size[n];
			size[n] = 0;
		} else {
			size[n] = 1 + (uint32_t)(random >> 40) % 2048;
			born(64 * n, size[n]);
			sum += size[n];
		}
	}
	assert_int_equal(live(), sum);
	for (uint32_t n = 0; n < BLOCKS; n++)
		if (size[n])
			heap_on_free(block(64 * n));
	free(size);
	assert_int_equal(live(), sums_here().live);
}

static void what_made_the_peak_is_exact(void **state)
{
	const int64_t base = live();

	(void)state;
	born(1, 3 << 28);
	born_elsewhere(2, (size_t)5 << 28);
	heap_on_free(block(1));
	born(3, 1 << 28);
	heap_on_free(block(2));
	heap_on_free(block(3));
	const sums s = sums_here();
	assert_int_equal(s.at_peak, atomic_load(&header()->total[HEAP_BLOCKS].peak));
	assert_int_equal(s.at_peak - base, INT64_C(8) << 28);
	assert_int_equal(live(), base);
}

static APART void recurse(int depth, uint64_t n)
{
	if (depth)
		recurse(depth - 1, n);
	else
		born(n, 16);
	__asm__ volatile("" ::: "memory");
}

/* Equal stacks are one path, another depth a new one; a stack above the limit is truncated. */
static void stacks_are_paths(void **state)
{
	const unsigned before = sums_here().nodes;
	const uint64_t cut = atomic_load(&header()->cut);

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		recurse(50 + (int)(i % 3), 1 + i);
	assert_int_equal(sums_here().nodes - before, 3);
	assert_int_equal(atomic_load(&header()->cut), cut);
	for (uint64_t i = 0; i < 10; i++)
		recurse(2 * HEAP_DEPTH_MAX, 1 + i);
	assert_int_equal(sums_here().nodes - before, 4);
	assert_int_equal(atomic_load(&header()->cut), cut + 10);
	for (uint64_t i = 0; i < 100; i++)
		heap_on_free(block(1 + i));
	assert_int_equal(atomic_load(&header()->broken), 0);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *allocate(void *arg)
{
	const uint64_t number = *(const uint64_t *)arg, first = number * 1000000;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		born(first + i % 512, 1 + i % 3000);
		if (i % 3 == 0)
			born_elsewhere(first + 600 + i % 64, 64);
		heap_on_free(block(first + i % 512));
		/* The main thread's block. Only one thread frees it: a block has one owner, and a
		 * lock-free table relies on that (heap_live.h). */
		if (i % 128 == 0 && i / 128 % THREADS == number - 1)
			heap_on_free(block(2000000000 + i));
	}
	for (uint64_t i = 0; i < 64; i++)
		heap_on_free(block(first + 600 + i));
	born(first, 1000);
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	const sums before = sums_here();
	pthread_t thread[THREADS];
	uint64_t number[THREADS];

	(void)state;
	for (uint64_t i = 0; i < ROUNDS; i += 128)
		born(2000000000 + i, 5);
	for (int i = 0; i < THREADS; i++) {
		number[i] = (uint64_t)i + 1;
		assert_int_equal(pthread_create(&thread[i], NULL, allocate, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	const sums after = sums_here();
	assert_int_equal(after.live - before.live, THREADS * 1000);
	assert_int_equal(after.blocks - before.blocks, THREADS);
	/* Exiting threads flushed the sums that they had held back. */
	assert_int_equal(live(), after.live);
	for (int i = 0; i < THREADS; i++)
		heap_on_free(block(number[i] * 1000000));
}

static void a_forked_child_has_a_file_of_its_own(void **state)
{
	char path[PATH_MAX];
	int status;

	(void)state;
	born(1, 1000);
	const sums before = sums_here();
	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		clearenv();		/* as a daemon does */
		heap_on_free(block(1)); /* the parent's block: not known here */
		born(2, 77);
		_exit(live() == 77 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	path_of(child, path);
	assert_int_equal(sums_of(path).live, 77);
	assert_int_equal(sums_here().live, before.live);
	heap_on_free(block(1));
}

/* The file may contain any bytes: no number in it leads outside the mapping. */
static void a_damaged_file_is_refused_or_read_within_its_bounds(void **state)
{
	char path[PATH_MAX], copy[PATH_MAX];
	static unsigned char head[HEAP_AT_MODULES];
	heap_file f;

	(void)state;
	path_of(getpid(), path);
	snprintf(copy, sizeof copy, "%.4000s/copy.heap", scratch_path);
	FILE *from = fopen(path, "rb");
	assert_non_null(from);
	assert_int_equal(fread(head, 1, sizeof head, from), sizeof head);
	fclose(from);
	for (size_t i = 0; i < sizeof(heap_header); i++) {
		FILE *to = fopen(copy, "wb");

		assert_non_null(to);
		head[i] ^= 0xff;
		assert_int_equal(fwrite(head, 1, sizeof head, to), sizeof head);
		head[i] ^= 0xff;
		fclose(to);
		assert_int_equal(truncate(copy, HEAP_AT_NODES + 64), 0);
		if (heap_file_open(copy, &f, NULL) != DCK_OK)
			continue;
		assert_true(f.nnodes <= 1 && f.nframes <= HEAP_FRAMES_MAX &&
			    f.nmodules <= HEAP_MODULES_MAX);
		char name[64];
		heap_file_name(&f, &(heap_module){.name = UINT32_MAX, .name_bytes = 9}, name,
			       sizeof name);
		assert_string_equal(name, "");
		heap_file_close(&f);
	}
	assert_int_equal(truncate(copy, 100), 0);
	assert_int_equal(heap_file_open(copy, &f, NULL), DCK_E_FORMAT);
	remove(copy);
	assert_int_equal(heap_file_open(copy, &f, NULL), DCK_E_ABSENT);
}

/* Called between reading the loader's list and using it. */
static void (*behind_reading)(void);

#ifndef __SANITIZE_THREAD__ /* its runtime calls this before dlsym() works */
int dl_iterate_phdr(int (*each)(struct dl_phdr_info *info, size_t size, void *self), void *self)
{
	static int calls;
	union { /* ISO C has no cast from an object pointer to a function pointer */
		void *object;
		int (*call)(int (*each)(struct dl_phdr_info *info, size_t size, void *self),
			    void *self);
	} real = {dlsym(RTLD_NEXT, "dl_iterate_phdr")};
	void (*const then)(void) = behind_reading;
	const int ret = real.call(each, self);

	/* The first call reads the version, the second one the list. */
	if (then && ++calls == 2) {
		behind_reading = NULL;
		then();
	}
	return ret;
}
#endif

static void another_thread_reads_too(void)
{
	assert_non_null(dlopen("libBrokenLocale.so.1", RTLD_NOW));
	heap_modules_check(heap_get());
}

static void an_older_list_does_not_replace_a_newer_one(void **state)
{
	static const char name[] = "libBrokenLocale";
	const heap_state *s = heap_get();
	unsigned found = 0;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* The second reader cannot run in between. */
#endif
	born(1, 10); /* makes the list exist */
	assert_non_null(dlopen("libutil.so.1", RTLD_NOW));
	behind_reading = another_thread_reads_too;
	heap_modules_check(heap_get());
	assert_null(behind_reading);
	for (uint32_t i = 0; i < header()->nmodules; i++) {
		const heap_module *m = &s->modules[i];

		if (!memmem(s->names + m->name, m->name_bytes, name, sizeof name - 1))
			continue;
		assert_false(m->gone);
		found++;
	}
	assert_int_equal(found, 1);
	heap_on_free(block(1));
}

/* A successful malloc() leaves errno unchanged, whatever error the tracer met. */
static void errno_stays_without_a_descriptor(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	errno = EDOM;
	assert_false(heap_room(HEAP_NAMES, HEAP_NAMES_BYTES));
	assert_int_equal(errno, EDOM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* realpath() sets errno where it succeeds, too. */
static void errno_stays_with_a_new_library(void **state)
{
	const struct link_map *library = dlopen("libanl.so.1", RTLD_NOW);

	(void)state;
	if (!library)
		skip();
	errno = EDOM;
	heap_place_get(heap_get(), (uintptr_t)library->l_ld);
	assert_int_equal(errno, EDOM);
}

static void *is_cancelled(void *grown)
{
	pthread_cancel(pthread_self());
	*(bool *)grown = heap_room(HEAP_NAMES, HEAP_NAMES_BYTES / 2);
	return NULL;
}

/* malloc() is no cancellation point: its caller may be in a critical section, and so is the hook.
 */
static void no_thread_is_cancelled_in_a_hook(void **state)
{
	bool grown = false;
	pthread_t t;
	void *end;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, is_cancelled, &grown), 0);
	assert_int_equal(pthread_join(t, &end), 0);
	assert_true(grown);
	assert_null(end);
}

static int begin(void **state)
{
	return scratch_begin(state) || setenv(HEAP_VARIABLE, scratch_path, 1) || !heap_get();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(blocks_are_counted),
	    cmocka_unit_test(what_is_freed_at_once_is_temporary),
	    cmocka_unit_test(a_block_that_is_resized_ends_and_begins),
	    cmocka_unit_test(tables_hold_any_block),
	    cmocka_unit_test(what_made_the_peak_is_exact),
	    cmocka_unit_test(stacks_are_paths),
	    cmocka_unit_test(threads_lose_nothing),
	    cmocka_unit_test(a_forked_child_has_a_file_of_its_own),
	    cmocka_unit_test(an_older_list_does_not_replace_a_newer_one),
	    cmocka_unit_test(errno_stays_without_a_descriptor),
	    cmocka_unit_test(errno_stays_with_a_new_library),
	    cmocka_unit_test(no_thread_is_cancelled_in_a_hook),
	    cmocka_unit_test(a_damaged_file_is_refused_or_read_within_its_bounds),
	};

	return cmocka_run_group_tests(tests, begin, scratch_end);
}
