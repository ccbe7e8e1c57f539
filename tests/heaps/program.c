/* program.c - allocations of known sizes, for tests of `deepclock memory`: program WHAT...
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static void *volatile keep; /* keeps the compiler from removing a call */

static char *here; /* the directory of this program */

static APART void leak_one(void)
{
	keep = malloc(1234);
}

static APART void leak_three(void)
{
	for (int i = 0; i < 3; i++)
		keep = malloc(100);
}

static void leak(void)
{
	leak_one();
	leak_three();
}

static APART void *half(size_t n)
{
	return memset(malloc(n), 1, n);
}

/* 100,000 bytes at the peak, 70,000 of them by half(); the allocation after the peak is smaller. */
static void peak(void)
{
	void *a = half(40000), *b = half(30000);
	keep = malloc(30000);
	void *c = keep;
	free(b);
	keep = malloc(20000);
	void *d = keep;
	free(a);
	free(c);
	free(d);
}

/* Frees ten of twelve blocks before the next allocation. */
static void temporary(void)
{
	for (int i = 0; i < 10; i++) {
		keep = malloc(64);
		free(keep);
	}
	void *a = malloc(64);
	keep = malloc(64);
	free(a);
	free(keep);
}

static void grow(void)
{
	char *p = NULL;

	for (size_t n = 1000; n <= 64000; n *= 2)
		p = realloc(p, n);
	p = realloc(p, 500);
	keep = p; /* 500 are leaked */
}

static void aligned(void)
{
	void *p = NULL;

	if (posix_memalign(&p, 4096, 1001))
		exit(1);
	keep = p;
	keep = aligned_alloc(64, 128);
	keep = memalign(256, 1003);
	keep = valloc(1005);
	keep = pvalloc(4096);
	keep = calloc(7, 11);
	keep = reallocarray(NULL, 3, 5);
	keep = strdup("ten bytes");
	free(memalign(1024, 5000));
	/* A failed allocation is not counted. */
	keep = malloc((size_t)-1 / 2);
	errno = 0;
	keep = realloc(keep, 0) ? NULL : keep;
}

static void fork_one(void)
{
	keep = malloc(33);
	const pid_t child = fork();
	if (child == 0) {
		keep = malloc(77);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

enum { THREADS = 8, EACH = 20000 };

/* One thread frees the blocks of another; each exits while others allocate. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *handed[THREADS];
static pthread_key_t last; /* its destructor is the last one */

static APART void ends_late(void)
{
	pthread_setspecific(last, malloc(8));
	keep = strerror(99999); /* libc frees it after all destructors */
}

static APART void *thread(void *arg)
{
	const size_t own = *(size_t *)arg;

	for (size_t i = 0; i < EACH / (1 + own); i++) {
		void *p = malloc(16 + i % 512), *other;

		pthread_mutex_lock(&lock);
		other = handed[i % THREADS];
		handed[i % THREADS] = p;
		pthread_mutex_unlock(&lock);
		free(other);
	}
	keep = malloc(100 + own);
	ends_late();
	return NULL;
}

static void threads(void)
{
	pthread_t t[THREADS];
	size_t number[THREADS];

	pthread_key_create(&last, free);
	for (size_t i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&t[i], NULL, thread, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		free(handed[i]);
}

#ifdef LINKED_STATICALLY
static void unload(void)
{
}

static void reload(void)
{
}
#else
static void load(const char *name)
{
	char path[4096];
	void *(*f)(void);

	snprintf(path, sizeof path, "%s/lib%s_heap.so", here, name);
	void *library = dlopen(path, RTLD_NOW);
	if (!library || !(*(void **)&f = dlsym(library, "leak_here")))
		exit(2);
	keep = f();
	dlclose(library);
}

/* Libraries of equal size, loaded one after the other: they mostly get the same addresses. */
static void unload(void)
{
	load("first");
	load("second");
}

/* More often than there are rows for modules. */
static void reload(void)
{
	for (int i = 0; i < 2500; i++)
		load("first");
}

#endif

static void killed(void)
{
	keep = malloc(5000);
	kill(getpid(), SIGKILL);
}

static void leave(void)
{
	keep = malloc(4000);
	_exit(3);
}

static void become(void)
{
	keep = malloc(11);
	execl("/proc/self/exe", "program", "leak", (char *)NULL);
}

static void mapped(void)
{
	enum { PAGE = 4096 };
	char *p = mmap(NULL, 10 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + 3 * PAGE, 2 * PAGE);
	char *q = mmap(NULL, 100 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	q = mremap(q, 100 * PAGE, 50 * PAGE, MREMAP_MAYMOVE);
	munmap(q, 50 * PAGE);
	munmap(p, PAGE);	    /* 7 pages remain */
	munmap(p + PAGE + 1, PAGE); /* fails */
	munmap(p, (size_t)1 << 60); /* fails */
	/* Both ranges stay mapped, so that 9 pages remain. An older kernel refuses. */
	q = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mremap(q, PAGE, PAGE, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL) == MAP_FAILED)
		q = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* A file's replaces it. */
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	q = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q);
}

static APART int deep(int n)
{
	if (n == 0) {
		keep = malloc(10);
		return 1;
	}
	return 1 + deep(n - 1);
}

static void recursion(void)
{
	if (deep(100) + deep(3000) < 0)
		exit(1);
}

static void handler(int number)
{
	(void)number;
	free(malloc(10));
}

static void signals(void)
{
	signal(SIGALRM, handler);
	ualarm(200, 200);
	for (int i = 0; i < 3000000; i++) {
		keep = malloc(24);
		free(keep);
	}
	ualarm(0, 0);
}

static void many(void)
{
	for (int i = 0; i < 1000000; i++) {
		keep = malloc(48);
		free(keep);
	}
}

/* --- many blocks, for estimates from samples */

static APART void keep_small(int n)
{
	static void *blocks;

	for (int i = 0; i < n; i++) {
		void **p = malloc(100);

		*p = blocks; /* a list, so that none is lost */
		blocks = p;
	}
}

static APART void pass(void)
{
	for (int i = 0; i < 50000; i++) {
		keep = calloc(10, 100);
		free(keep);
	}
}

static APART void resize(void)
{
	void *p = NULL;

	for (int i = 0; i < 20000; i++)
		p = realloc(p, i % 2 ? 1000 : 2000);
	keep = p;
	free(p);
}

static APART void align(void)
{
	for (int i = 0; i < 10000; i++) {
		void *p, *q = aligned_alloc(64, 1024);

		if (posix_memalign(&p, 256, 1024) != 0)
			exit(1);
		keep = p;
		free(p);
		keep = q;
		free(q);
	}
}

static APART void *keep_in_thread(void *self)
{
	for (int i = 0; i < 25000; i++)
		keep = malloc(200);
	return self;
}

/* 100,000 blocks of 100 bytes are leaked here, and 50,000 in a child; 100,000 of 200 bytes in four
 * threads. The others are freed. */
static void sampled(void)
{
	pthread_t thread[4];

	keep_small(100000);
	pass();
	resize();
	align();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, keep_in_thread, NULL) != 0)
			exit(1);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	const pid_t child = fork();
	if (child == 0) {
		keep_small(50000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void wait_for_ever(void)
{
	keep = malloc(2000);
	puts("waiting");
	fflush(stdout);
	for (;;)
		pause();
}

static void late(void)
{
	usleep(300000);
	keep = malloc(1 << 20);
	memset(keep, 1, 1 << 20);
	usleep(400000);
	free(keep);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
	    {"leak", leak},	  {"peak", peak},	   {"temporary", temporary},
	    {"grow", grow},	  {"aligned", aligned},	   {"fork", fork_one},
	    {"threads", threads}, {"unload", unload},	   {"reload", reload},
	    {"killed", killed},	  {"leave", leave},	   {"exec", become},
	    {"mapped", mapped},	  {"many", many},	   {"recursion", recursion},
	    {"signals", signals}, {"wait", wait_for_ever}, {"late", late},
	    {"sampled", sampled},
	};
	char *slash;
	static char path[4096];

	if (readlink("/proc/self/exe", path, sizeof path - 1) < 0 || !(slash = strrchr(path, '/')))
		return 1;
	*slash = '\0';
	here = path;
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
			if (!strcmp(argv[i], all[k].name))
				all[k].run();
	printf("its own output\n");
	return 0;
}
