/* Unwinds a child at every single instruction: the child is single-stepped, its calls and returns
 * are tracked, and the unwound stack must equal the tracked one in each prologue and epilogue, in
 * .plt, in the loader that binds it, in the C library, in and after a signal handler, while
 * exceptions are thrown.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/address_space.h"
#include "profiler/symbols/symbolizer.h"
#include "profiler/unwind/unwind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scratch.h"

/* The program stops itself before and after the code to be stepped through. */
static const char in_c[] =
    "#include <alloca.h>\n#include <signal.h>\n#include <stdio.h>\n"
    "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
    "#define CALL __attribute__((noinline))\n"
    "static volatile int sink;\nstatic char text[200];\n"
    "CALL int leaf(int n) { return n * 3 + sink; }\n"
    "CALL int many(int a, int b, int c, int d, int e, int f, int g, int h)\n"
    "{ int x = leaf(a) + leaf(b); return x * leaf(c) + leaf(d) * leaf(e) - leaf(f) + g * h; }\n"
    "CALL int aligned(int n)\n"
    "{ _Alignas(64) volatile char v[128]; volatile char *m = alloca(n * 40 + 8);\n"
    "  v[n] = 1; m[3] = 2; return n ? aligned(n - 1) + v[n] + m[3] : many(1, 2, 3, 4, 5, 6, 7, 8); }\n"
    "CALL int early(int n) { if (n < 3) return leaf(n); return many(n, n, n, n, 1, 2, 3, n) + 1; }\n"
    "CALL int tail(int n) { sink += n; return early(n); }\n"
    "static int by_value(const void *a, const void *b) { return *(int *)a - leaf(*(int *)b); }\n"
    "static void handler(int n) { sink += aligned(1) + n; }\n"
    "CALL int work(void)\n"
    "{ int v[] = {5, 2, 9, 1, 7}, r = aligned(3) + tail(2) + tail(9);\n"
    "  qsort(v, 5, sizeof v[0], by_value);\n"
    "  snprintf(text, sizeof text, \"%d %s %.3f\", r, \"text\", r / 7.0);\n"
    "  r += (int)strtod(text + 3, NULL) + (int)strlen(text) + memcmp(text, \"1234567\", 7);\n"
    "  raise(SIGUSR1); free(malloc(r & 127)); return r; }\n"
    "int main(void) { signal(SIGUSR1, handler); kill(getpid(), SIGSTOP); sink = work();\n"
    "  kill(getpid(), SIGSTOP); return 0; }\n";

static const char in_cxx[] =
    "#include <csignal>\n#include <stdexcept>\n#include <string>\n#include <unistd.h>\n#include <vector>\n"
    "#define CALL __attribute__((noinline))\n"
    "struct guard { int *n; ~guard() { ++*n; } };\nstatic volatile int sink;\n"
    "template <class T> CALL T deep(T n, int *count)\n"
    "{ guard g{count}; if (n > 1) throw std::runtime_error(\"deep\"); return deep<T>(n + 1, count) + 1; }\n"
    "CALL int work() { int n = 0; std::vector<std::string> v(3, \"a text that is long enough\");\n"
    "  try { n += deep<int>(0, &n); } catch (const std::exception &e) { n += e.what()[0]; }\n"
    "  v.push_back(\"x\"); return n + (int)v.size(); }\n"
    "int main() { kill(getpid(), SIGSTOP); sink = work(); kill(getpid(), SIGSTOP); }\n";

#if defined(__x86_64__)

enum { FRAMES_MAX = 200, WINDOW = 16384, SHOWN_MAX = 3 };

/* A frame's return address, and its stack slot. */
typedef struct frame {
	uint64_t slot, pc;
	bool exact;
} frame;

typedef struct stepper {
	pid_t pid;
	address_space_files *files;
	address_space *mapped;
	frame followed[FRAMES_MAX]; /* outermost first */
	size_t n;
	const char *unwinder; /* a library whose wrong steps are counted separately; NULL: none */
	uint64_t window_at;
	unsigned char window[WINDOW];
	size_t window_n;
	unsigned long steps, wrong, excused, needs;
} stepper;

static bool read_child(void *self, uint64_t address, void *to, size_t n)
{
	stepper *s = self;
	struct iovec local = {to, n}, remote = {(void *)(uintptr_t)address, n};

	if (address - s->window_at < s->window_n && n <= s->window_n - (address - s->window_at)) {
		memcpy(to, s->window + (address - s->window_at), n);
		return true;
	}
	return process_vm_readv(s->pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static void get_regs(stepper *s, unwind_regs *r)
{
	struct user_regs_struct u;

	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &u), 0);
	*r = (unwind_regs){.known = UNWIND_ALL_KNOWN,
			   .exact = true,
			   .r = {u.rax, u.rdx, u.rcx, u.rbx, u.rsi, u.rdi, u.rbp, u.rsp, u.r8, u.r9,
				 u.r10, u.r11, u.r12, u.r13, u.r14, u.r15, u.rip}};
	s->window_n = 0;
	for (size_t n = WINDOW; n && !s->window_n; n /= 2) {
		if (read_child(s, u.rsp, s->window, n))
			s->window_n = n;
	}
	s->window_at = u.rsp;
}

static const unwind_module *module_of(stepper *s, uint64_t place, uint64_t *ret_place)
{
	const mapped_module *m = address_space_find(s->mapped, place);

	*ret_place = m ? place - m->bias : place;
	return m && m->file ? elf_file_unwind(m->file) : NULL;
}

/* The callers' frames, innermost first; by_rules: by the cached rules of 16 bytes. */
static unwind_result unwind_all(stepper *s, unwind_regs r, bool by_rules, frame *ret, size_t *ret_n)
{
	unwind_memory memory = {read_child, s};
	unwind_result got = UNWIND_OK;

	for (*ret_n = 0; *ret_n < FRAMES_MAX;) {
		uint64_t place;
		const unwind_module *m = module_of(s, unwind_lookup_pc(&r), &place);

		if (by_rules) {
			unwind_rule rule = unwind_find_rule(m, place);

			got = unwind_apply(&rule, &r, &memory);
		} else {
			got = unwind_step(m, place, &r, &memory);
		}
		if (got != UNWIND_OK)
			break;
		ret[(*ret_n)++] = (frame){r.r[UNWIND_SP] - 8, r.r[UNWIND_PC], r.exact};
	}
	return got;
}

static bool same(const stepper *s, const frame *found, size_t n)
{
	for (size_t i = 0; i < n && n == s->n; i++) {
		const frame *f = &s->followed[s->n - 1 - i];

		if (f->pc != found[i].pc || f->exact != found[i].exact ||
		    (!f->exact && f->slot != found[i].slot))
			return false;
	}
	return n == s->n;
}

/* Whether the instruction follows the push of an entry of .plt: the rule that ld 2.38 (Ubuntu
 * 22.04) writes counts the push one byte late. */
static bool is_late_in_plt(stepper *s, uint64_t pc)
{
	static const unsigned char entry[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68};
	unsigned char code[9];

	return pc % 16 == 9 && read_child(s, pc - 9, code, sizeof code) &&
	       memcmp(code, entry, sizeof entry) == 0;
}

static void complain(stepper *s, const unwind_regs *r, const char *how, const frame *found,
		     size_t n, unwind_result got)
{
	const mapped_module *m = address_space_find(s->mapped, r->r[UNWIND_PC]);

	if ((s->unwinder && m && strstr(m->path, s->unwinder)) ||
	    is_late_in_plt(s, r->r[UNWIND_PC])) {
		s->excused++;
		return;
	}
	if (s->wrong++ >= SHOWN_MAX)
		return;
	print_message("# step %lu, %s+%#jx, %s: %zu frames, result %d; followed were %zu\n",
		      s->steps, m ? m->path : "?", (uintmax_t)(r->r[UNWIND_PC] - (m ? m->bias : 0)),
		      how, n, got, s->n);
	for (size_t i = 0; i < n || i < s->n; i++)
		print_message("#   %#jx %#jx\n", (uintmax_t)(i < n ? found[i].pc : 0),
			      (uintmax_t)(i < s->n ? s->followed[s->n - 1 - i].pc : 0));
}

static void check(stepper *s, const unwind_regs *r)
{
	frame found[FRAMES_MAX];
	size_t n;
	unwind_result got = unwind_all(s, *r, false, found, &n);

	s->steps++;
	if (got != UNWIND_END || !same(s, found, n))
		complain(s, r, "all registers", found, n, got);
	got = unwind_all(s, *r, true, found, &n);
	if (got == UNWIND_NEEDS)
		s->needs++;
	else if (got != UNWIND_END || !same(s, found, n))
		complain(s, r, "by rules", found, n, got);
}

static void push_frame(stepper *s, uint64_t slot, uint64_t pc, bool exact)
{
	assert_true(s->n < FRAMES_MAX);
	s->followed[s->n++] = (frame){slot, pc, exact};
}

/* Whether the instruction at pc is a call, after irrelevant prefixes. */
static bool is_call(stepper *s, uint64_t pc)
{
	static const unsigned char prefixes[] = {0x66, 0x67, 0x2e, 0x3e, 0xf2};
	unsigned char code[16] = {0};
	size_t i = 0;

	for (size_t n = sizeof code; n > 1 && !read_child(s, pc, code, n); n--)
		;
	while (i < 14 && (memchr(prefixes, code[i], sizeof prefixes) || code[i] >> 4 == 4))
		i++;
	return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

/* Tracks the effect of one instruction: a call pushes the address after it; frames below the stack
 * pointer are left. */
static void follow(stepper *s, const unwind_regs *before, const unwind_regs *after)
{
	uint64_t sp = after->r[UNWIND_SP], top;

	while (s->n && s->followed[s->n - 1].slot < sp)
		s->n--;
	if (sp == before->r[UNWIND_SP] - 8 && is_call(s, before->r[UNWIND_PC]) &&
	    read_child(s, sp, &top, 8))
		push_frame(s, sp, top, false);
	/* The exception unwinder changes return addresses. */
	for (size_t i = 0; i < s->n; i++) {
		frame *f = &s->followed[i];

		if (!f->exact)
			assert_true(read_child(s, f->slot, &f->pc, 8));
	}
}

/* The kernel has pushed a frame for a handler, which returns to code that restores all
 * registers. */
static void follow_signal(stepper *s, const unwind_regs *before, const unwind_regs *after)
{
	uint64_t sp = after->r[UNWIND_SP], back;

	assert_true(read_child(s, sp, &back, 8));
	push_frame(s, before->r[UNWIND_SP] - 8, before->r[UNWIND_PC], true);
	push_frame(s, sp, back, false);
}

static int step(stepper *s, int number)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, s->pid, NULL, (void *)(intptr_t)number), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFSTOPPED(status));
	return WSTOPSIG(status);
}

static void step_through(stepper *s)
{
	enum { STEPS_MAX = 400000 };
	unwind_regs before, after;
	frame found[FRAMES_MAX];
	size_t n;

	get_regs(s, &before);
	/* The initial callers are known only from the unwinder; later ones are tracked. */
	assert_int_equal(unwind_all(s, before, false, found, &n), UNWIND_END);
	assert_true(n >= 4);
	while (n--)
		s->followed[s->n++] = found[n];
	for (int number = 0; s->steps < STEPS_MAX; before = after) {
		int stopped = step(s, number);

		get_regs(s, &after);
		if (stopped == SIGSTOP)
			return;
		if (number)
			follow_signal(s, &before, &after);
		else if (stopped == SIGTRAP)
			follow(s, &before, &after);
		number = stopped == SIGTRAP ? 0 : stopped;
		check(s, &after);
	}
	fail_msg("it does not end");
}

/* Wrong steps per thousand in the unwinder's code, where its own rules find no caller, and in
 * .plt. */
enum { EXCUSED_MAX = 5 };

/* NULL: the program was stepped through, and all frames were right, except some in `unwinder`.
 * Otherwise the reason. */
static const char *try(const char *program, const char *unwinder)
{
	stepper s = {.files = address_space_files_new(), .unwinder = unwinder};
	int status;

	s.pid = fork();
	if (s.pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execl(program, program, (char *)NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	if (WIFEXITED(status))
		return "processes may not be traced here";
	ptrace(PTRACE_SETOPTIONS, s.pid, NULL, (void *)PTRACE_O_EXITKILL);
	for (int number = 0; WSTOPSIG(status) != SIGSTOP; number = WSTOPSIG(status)) {
		ptrace(PTRACE_CONT, s.pid, NULL,
		       (void *)(intptr_t)(number == SIGTRAP ? 0 : number));
		assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
		assert_true(WIFSTOPPED(status));
	}
	s.mapped = address_space_new(s.files, s.pid);
	assert_int_equal(address_space_read(s.mapped, NULL), DCK_OK);
	step_through(&s);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, &status, 0);
	address_space_free(s.mapped);
	address_space_files_free(s.files);
	print_message(
	    "# %s: %lu steps, %lu wrong, %lu by known faults of others, %lu need all registers\n",
	    program, s.steps, s.wrong, s.excused, s.needs);
	assert_true(s.steps > 1000);
	assert_int_equal(s.wrong, 0);
	assert_true(s.excused * 1000 <= s.steps * EXCUSED_MAX);
	return NULL;
}

static void compile_and_try(const char *command, const char *unwinder)
{
	if (system(command) != 0)
		skip();
	const char *why = try("./program", unwinder);

	if (why) {
		print_message("# skipped: %s\n", why);
		skip();
	}
}

static void test_c(void **state)
{
	(void)state;
	scratch_text("program.c", in_c);
	compile_and_try("cc -O2 -Wl,-z,lazy -o program program.c", NULL);
	compile_and_try("cc -O0 -Wl,-z,now -fcf-protection=full -o program program.c", NULL);
	compile_and_try("cc -O3 -march=native -fomit-frame-pointer -no-pie -o program program.c",
			NULL);
}

static void test_static(void **state)
{
	(void)state;
	scratch_text("program.c", in_c);
	compile_and_try("cc -O1 -static -o program program.c 2>/dev/null", NULL);
}

static void test_clang(void **state)
{
	(void)state;
	scratch_text("program.c", in_c);
	compile_and_try("clang -O2 -o program program.c 2>/dev/null", NULL);
}

static const char in_go[] =
    "package main\nimport (\"os\"; \"runtime\")\nvar sum int\nfunc init() { runtime.LockOSThread() }\n"
    "//go:noinline\nfunc leaf(n int) int {\n	return n*n%7 + n\n}\n"
    "//go:noinline\nfunc middle(n int) int { return leaf(n) + leaf(n/2) }\n"
    "//go:noinline\nfunc outer(n int) int { var a [90]int; a[n%90] = n; return middle(a[3]) + a[n%90] }\n"
    "func main() { os.Stdout.Write([]byte(\"!\")); for { sum += outer(sum % 100) } }\n";

/* The function names of a Go stack with one of the program's functions innermost: "leaf middle
 * outer main ". */
static unwind_result names_of_go(stepper *s, symbols *names, unwind_regs r, char *text, size_t size)
{
	unwind_memory memory = {read_child, s};
	unwind_result got = UNWIND_OK;
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; got == UNWIND_OK; i++) {
		uint64_t place;
		const unwind_module *m = module_of(s, unwind_lookup_pc(&r), &place);
		const mapped_module *in = address_space_find(s->mapped, unwind_lookup_pc(&r));
		symbols_frame f;

		if (in && in->file && symbolizer_lookup(names, in->file, place, &f, 1) &&
		    strncmp(f.function, "main.", 5) == 0 && (n || !i)) {
			n += (size_t)snprintf(text + n, size - n, "%s ", f.function + 5);
			assert_true(f.line > 1 && strstr(f.file, "program.go"));
		}
		got = unwind_step(m, place, &r, &memory);
	}
	return got;
}

/* Go functions without a frame, at each of their instructions, in a program without symbols. */
static void test_go(void **state)
{
	static const char *const whole = "leaf middle outer main ";
	stepper s = {.files = address_space_files_new()};
	symbols *names = symbols_new(NULL);
	unsigned seen = 0;
	int status, begun[2];
	char byte;

	(void)state;
	if (system("command -v go >/dev/null") != 0) {
		print_message("# skipped: go is not installed\n");
		skip();
	}
	scratch_text("program.go", in_go);
	if (system("HOME=$PWD go build -ldflags '-s -w' -o program program.go >go.log 2>&1") != 0)
		fail_msg("go build failed: %d", system("cat go.log"));
	assert_int_equal(pipe(begun), 0);
	s.pid = fork();
	if (s.pid == 0) {
		dup2(begun[1], STDOUT_FILENO);
		/* Go's runtime then sends itself fewer signals. */
		setenv("GODEBUG", "asyncpreemptoff=1", 1);
		execl("./program", "./program", (char *)NULL);
		_exit(1);
	}
	close(begun[1]);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	close(begun[0]);
	if (ptrace(PTRACE_SEIZE, s.pid, NULL, (void *)PTRACE_O_EXITKILL) != 0) {
		print_message("# skipped: processes may not be traced here\n");
		skip();
	}
	assert_int_equal(ptrace(PTRACE_INTERRUPT, s.pid, NULL, NULL), 0);
	assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
	s.mapped = address_space_new(s.files, s.pid);
	assert_int_equal(address_space_read(s.mapped, NULL), DCK_OK);
	for (int i = 0, number = 0; i < 8000 && seen < 50; i++) {
		char text[256];
		unwind_regs r;

		/* Lets it run for a while, then steps a few instructions. */
		if (i % 8 == 0) {
			assert_int_equal(ptrace(PTRACE_CONT, s.pid, NULL, (void *)(intptr_t)number),
					 0);
			usleep(500);
			assert_int_equal(ptrace(PTRACE_INTERRUPT, s.pid, NULL, NULL), 0);
			assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
			assert_true(WIFSTOPPED(status));
			number = WSTOPSIG(status);
		} else {
			number = step(&s, number);
		}
		number = number == SIGTRAP ? 0 : number;
		get_regs(&s, &r);
		unwind_result got = names_of_go(&s, names, r, text, sizeof text);
		const char *rest = strstr(whole, text);

		/* Each function is called by the next: none is left out. */
		if (*text && (got != UNWIND_END || !rest || strcmp(rest, text) != 0))
			fail_msg("step %d: result %d, %s", i, got, text);
		seen += strcmp(text, whole) == 0;
	}
	assert_int_equal(seen, 50);
	kill(s.pid, SIGKILL);
	waitpid(s.pid, &status, 0);
	symbols_free(names);
	address_space_free(s.mapped);
	address_space_files_free(s.files);
}

static void test_cxx(void **state)
{
	(void)state;
	scratch_text("program.cc", in_cxx);
	/* libgcc leaves several frames at once by __builtin_eh_return(). While it overwrites the
	 * registers saved in its own frame with the target, no rule finds a caller; at the end the
	 * rules give CFA = rcx + 8, the target frame, some instructions before the stack pointer
	 * reaches it and the frames between count as left. */
	compile_and_try("c++ -O2 -o program program.cc 2>/dev/null", "/libgcc_s.so");
}

#endif

int test_unwind_steps(void);
int test_unwind_steps(void)
{
#if defined(__x86_64__)
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_c),  SCRATCH_TEST(test_static), SCRATCH_TEST(test_clang),
	    SCRATCH_TEST(test_go), SCRATCH_TEST(test_cxx),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
#else
	(void)in_c, (void)in_cxx;
	printf("1..0 # skipped: calls are followed on x86-64 alone\n");
	return 0;
#endif
}
