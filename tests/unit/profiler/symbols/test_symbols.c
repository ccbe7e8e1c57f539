/* Functions, lines and inlined frames of a call chain with known source, for every kind of symbols
 * that a library may have: debugging information, in a separate file, compressed, exported symbols
 * only, or only Go's own table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "profiler/symbols/demangle.h"
#include "profiler/symbols/dwarf_lines.h"
#include "profiler/unwind/address_space.h"
#include "profiler/symbols/symbolizer.h"
#include "profiler/unwind/unwind_self.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "scratch.h"

enum { MAX = 64 };
typedef int callback(void);

static const char source[] =
    "typedef int callback(void);\n"
    "static inline __attribute__((always_inline)) int inner(callback *c)\n"
    "{\n"
    "	return c() + 1;\n"
    "}\n"
    "static __attribute__((noinline, noclone)) int hidden(callback *c, int n)\n"
    "{\n"
    "	return inner(c) + n;\n"
    "}\n"
    "int exported(callback *c)\n"
    "{\n"
    "	return hidden(c, 2) + 1;\n"
    "}\n";

static bool run(const char *command)
{
	return system(command) == 0;
}

/* --- the stack seen by the callback */

static struct seen {
	uint64_t pcs[MAX];
	size_t n;
} seen;

static int look(void)
{
	static unwind_stack mine;

	seen.n = unwind_self_here(&mine, seen.pcs, MAX, NULL);
	return 0;
}

/* Prints the frames in the file with this path suffix: "inner:4 > hidden:8 exported:12". */
static void show(symbols *s, const char *file, char *text, size_t size)
{
	address_space_files *files = address_space_files_new();
	address_space *mine = address_space_new(files, getpid());
	size_t n = 0;

	text[0] = '\0';
	assert_int_equal(address_space_read(mine, NULL), DCK_OK);
	for (size_t i = 0; i < seen.n; i++) {
		const mapped_module *m = address_space_find(mine, seen.pcs[i]);
		symbols_frame frames[SYMBOLS_FRAMES_MAX];
		size_t found;

		assert_non_null(m);
		if (!strstr(m->path, file))
			continue;
		assert_non_null(m->file);
		found = symbolizer_lookup(s, m->file, seen.pcs[i] - m->bias, frames,
					  SYMBOLS_FRAMES_MAX);
		for (size_t k = 0; k < found || (k == 0 && !found); k++) {
			const symbols_frame *f = &frames[k];

			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? " " : "",
					      found && f->function ? f->function : "?");
			if (found && f->line)
				n += (size_t)snprintf(text + n, size - n, ":%u", f->line);
			if (found && f->line && !strstr(f->file, "chain.c"))
				n += (size_t)snprintf(text + n, size - n, "(%s)", f->file);
			if (found && f->inlined)
				n += (size_t)snprintf(text + n, size - n, " >");
		}
	}
	/* The symbols keep a reference to their files. */
	symbols_free(s);
	address_space_free(mine);
	address_space_files_free(files);
}

/* Loads the library, calls its function, and prints the frames observed in it. */
static const char *chain(const char *library, const symbols_config *config)
{
	static char text[4096];
	char path[PATH_MAX + 64];
	void *handle;
	int (*exported)(callback *);

	snprintf(path, sizeof path, "%s/%s", scratch_path, library);
	handle = dlopen(path, RTLD_NOW);
	if (!handle)
		return dlerror();
	void *found = dlsym(handle, "exported");

	memcpy(&exported, &found, sizeof exported);
	assert_int_equal(exported(look), 4);
	show(symbols_new(config), library, text, sizeof text);
	dlclose(handle);
	unwind_self_changed();
	return text;
}

static bool compile(const char *options, const char *library)
{
	char command[1024];

	scratch_text("chain.c", source);
	snprintf(command, sizeof command, "cc %s -fPIC -shared -o %s chain.c 2>/dev/null", options,
		 library);
	return run(command);
}

/* With line numbers, if the library that reads them is installed. */
static const char *with_lines(void)
{
	symbols *s = symbols_new(NULL);
	const char *lacking = symbolizer_missing_reason(s);

	symbols_free(s);
	return lacking ? "hidden exported" : "inner:4 > hidden:8 exported:12";
}

static void test_debug(void **state)
{
	static const char *const options[] = {"-g -O2", "-g -O1 -gdwarf-4", "-g -O2 -gz",
					      "-g -O2 -fomit-frame-pointer -Wl,--build-id=none"};
	char library[32];

	(void)state;
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		snprintf(library, sizeof library, "full%zu.so", i);
		if (!compile(options[i], library))
			skip();
		assert_string_equal(chain(library, NULL), with_lines());
	}
	assert_string_equal(chain("full0.so", &(symbols_config){.names_only = true}),
			    "hidden exported");
}

static void test_names(void **state)
{
	(void)state;
	if (!compile("-O2", "plain.so"))
		skip();
	assert_string_equal(chain("plain.so", NULL), "hidden exported");
	if (!run("cp plain.so bare.so && strip bare.so"))
		skip();
	/* No name, rather than the name of an adjacent symbol. */
	assert_string_equal(chain("bare.so", NULL), "? exported");
}

static void test_debug_link(void **state)
{
	(void)state;
	/* Without a build id the checksum decides. */
	if (!compile("-g -O2 -Wl,--build-id=none", "linked.so") ||
	    !run("objcopy --only-keep-debug linked.so linked.debug && strip linked.so &&"
		 "objcopy --add-gnu-debuglink=linked.debug linked.so"))
		skip();
	assert_string_equal(chain("linked.so", NULL), with_lines());
	assert_true(run("mkdir .debug && mv linked.debug .debug/ && cp linked.so linked2.so"));
	assert_string_equal(chain("linked2.so", NULL), with_lines());
	/* Another file with that name is not used. */
	assert_true(run("cp linked.so linked3.so && printf x >> .debug/linked.debug"));
	assert_string_equal(chain("linked3.so", NULL), "? exported");
	/* The same path below the directory of debug files. */
	assert_true(run("mkdir -p \"debug$PWD\" && cp linked.so linked4.so &&"
			"head -c -1 .debug/linked.debug > \"debug$PWD/linked.debug\""));
	assert_string_equal(chain("linked4.so", &(symbols_config){.debug_directory = "debug"}),
			    with_lines());
}

static void test_build_id(void **state)
{
	(void)state;
	if (!compile("-g -O2 -Wl,--build-id=0x1234567890abcdef", "named.so") ||
	    !run("mkdir -p debug/.build-id/12 &&"
		 "objcopy --only-keep-debug named.so debug/.build-id/12/34567890abcdef.debug &&"
		 "strip named.so"))
		skip();
	assert_string_equal(chain("named.so", &(symbols_config){.debug_directory = "debug"}),
			    with_lines());
	/* A file with another build id is not used. */
	if (!compile("-g -O2 -Wl,--build-id=0x1234567890abcdee", "other.so") ||
	    !run(
		"cp debug/.build-id/12/34567890abcdef.debug debug/.build-id/12/34567890abcdee.debug &&"
		"strip other.so"))
		skip();
	assert_string_equal(chain("other.so", &(symbols_config){.debug_directory = "debug"}),
			    "? exported");
}

static void test_packed(void **state)
{
	(void)state;
	if (!compile("-O2", "packed.so") ||
	    !run("cp packed.so names && objcopy -S --remove-section .text names 2>/dev/null;"
		 "objcopy --keep-file-symbols --only-keep-debug packed.so names && xz -k names &&"
		 "strip packed.so && objcopy --add-section .gnu_debugdata=names.xz packed.so"))
		skip();
	assert_string_equal(chain("packed.so", NULL), "hidden exported");
}

/* Go's symbol table, with two functions at 0x8000 and 0x8040 of .text. */
static void test_go(void **state)
{
	enum { HEAD = 72, NAMES = 24 };
	static const uint64_t head[] = {2, 0, 0x8000, HEAD, HEAD, HEAD, HEAD, HEAD + NAMES};
	static const uint32_t rows[] = {0, 20, 0x40, 28, 0x80, 0, 0, 0x40, 10};
	unsigned char table[HEAD + NAMES + sizeof rows] = {0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8};
	symbols *s = symbols_new(NULL);
	symbols_frame found;
	elf_file *f;

	(void)state;
	memcpy(table + 8, head, sizeof head);
	memcpy(table + HEAD, "main.main\0main.leaf", 20);
	memcpy(table + HEAD + NAMES, rows, sizeof rows);
	scratch_file("table", table, sizeof table);
	if (!compile("-O2", "go.so") ||
	    !run("strip go.so && objcopy --add-section .gopclntab=table go.so"))
		skip();
	assert_int_equal(elf_file_open("go.so", &f, NULL), DCK_OK);
	assert_int_equal(symbols_source_of(s, f), SYMBOLS_TABLE);
	assert_int_equal(symbolizer_lookup(s, f, 0x8040 - 1, &found, 1), 1);
	assert_string_equal(found.function, "main.main");
	assert_int_equal(symbolizer_lookup(s, f, 0x807f, &found, 1), 1);
	assert_string_equal(found.function, "main.leaf");
	symbols_free(s);
	elf_file_close(f);
}

/* Without section headers only the loader's symbols are available. */
static void test_no_sections(void **state)
{
	(void)state;
	if (!compile("-O2", "sectionless.so"))
		skip();
	FILE *f = fopen("sectionless.so", "r+b");
	const unsigned char none[8] = {0};

	assert_non_null(f);
	fseek(f, 40, SEEK_SET); /* e_shoff */
	assert_int_equal(fwrite(none, 1, 8, f), 8);
	fseek(f, 60, SEEK_SET); /* e_shnum, e_shstrndx */
	assert_int_equal(fwrite(none, 1, 4, f), 4);
	fclose(f);
	assert_string_equal(chain("sectionless.so", NULL), "? exported");
}

/* A library replaced during the run is not mistaken for the mapped one; a deleted one can still be
 * read if the kernel permits it. */
static void test_replaced(void **state)
{
	char path[PATH_MAX + 64];
	address_space_files *files = address_space_files_new();
	address_space *mine = address_space_new(files, getpid());
	const mapped_module *m;
	void *handle;

	(void)state;
	if (!compile("-O2", "moving.so"))
		skip();
	snprintf(path, sizeof path, "%s/moving.so", scratch_path);
	handle = dlopen(path, RTLD_NOW);
	assert_non_null(handle);
	uint64_t at = (uintptr_t)dlsym(handle, "exported");

	assert_true(run("cp /bin/true other && mv other moving.so"));
	assert_int_equal(address_space_read(mine, NULL), DCK_OK);
	m = address_space_find(mine, at);
	assert_non_null(m);
	assert_string_equal(m->path, path);
	if (m->file) {
		symbols *s = symbols_new(NULL);
		symbols_frame f;

		assert_int_equal(symbolizer_lookup(s, m->file, at - m->bias, &f, 1), 1);
		assert_string_equal(f.function, "exported");
		symbols_free(s);
	} else {
		assert_non_null(strstr(m->missing_reason, "moving.so"));
	}
	dlclose(handle);
	address_space_free(mine);
	address_space_files_free(files);
}

/* An entry of .plt is named after its target, and the code of .init and .fini after its section. */
static void test_plt(void **state)
{
	static const char uses[] =
	    "#include <stdlib.h>\nint exported(int *x) { qsort(x, 1, 4, NULL); return abs(*x); }\n";
	symbols *s = symbols_new(NULL);
	elf_file *f;
	symbols_frame found;

	(void)state;
	scratch_text("uses.c", uses);
	for (int lazy = 0; lazy < 2; lazy++) {
		if (!run(lazy ? "cc -O1 -fPIC -shared -Wl,-z,lazy -o uses.so uses.c 2>/dev/null"
			      : "cc -O1 -fPIC -shared -Wl,-z,now -o uses.so uses.c 2>/dev/null"))
			skip();
		bool seen_it = false;

		assert_int_equal(elf_file_open("uses.so", &f, NULL), DCK_OK);
		for (size_t i = 0; elf_file_section(f, i); i++) {
			const elf_section *x = elf_file_section(f, i);

			for (uint64_t at = 0; strncmp(x->name, ".plt", 4) == 0 && at < x->size;
			     at++) {
				if (symbolizer_lookup(s, f, x->address + at, &found, 1) == 1)
					seen_it |= strcmp(found.function, "qsort@plt") == 0;
			}
		}
		assert_true(seen_it);
		if (elf_file_find_section(f, ".init")) {
			const uint64_t at = elf_file_find_section(f, ".init")->address;

			assert_int_equal(symbolizer_lookup(s, f, at, &found, 1), 1);
			assert_string_equal(found.function, "_init");
		}
		/* Another file may be mapped at the same address. */
		symbols_free(s);
		s = symbols_new(NULL);
		elf_file_close(f);
	}
	symbols_free(s);
}

static void test_demangle(void **state)
{
	static const char *const names[][2] = {
	    {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	    {"_ZN4core3fmt5write17h0123456789abcdefE.llvm.12345", "core::fmt::write"},
	    {"_ZN71_$LT$alloc..vec..Vec$LT$T$C$A$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
	     NULL},
	    {"_ZN41_$LT$u8$u20$as$u20$core..fmt..LowerHex$GT$3fmt17h0123456789abcdefE", NULL},
	    {"_ZN99999999999999999999core17h0123456789abcdefE", NULL},
	    {"malloc", NULL},
	    {"_Z", NULL},
	    {"", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *plain = demangle(names[i][0]);

		if (names[i][1])
			assert_string_equal(plain, names[i][1]);
		mem_free(plain);
	}
	char *plain =
	    demangle("_ZN42_$LT$u8$u20$as$u20$core..fmt..LowerHex$GT$3fmt17h0123456789abcdefE");

	assert_string_equal(plain, "<u8 as core::fmt::LowerHex>::fmt");
	mem_free(plain);
	plain = demangle("_Z1fIiEvT_");
	if (plain) /* without the type that it returns, which names of templates have */
		assert_string_equal(plain, "f<int>(int)");
	mem_free(plain);
	plain = demangle("_ZNSt6vectorIiSaIiEE9push_backERKi");
	if (plain) /* libstdc++ is available */
		assert_string_equal(
		    plain, "std::vector<int, std::allocator<int> >::push_back(int const&)");
	mem_free(plain);
}

/* The expected names are binutils' c++filt's, without hashes of crates and types of constants. */
static void test_demangle_rust_v0(void **state)
{
	static const char *const names[][2] = {
	    {"_RNvC6_123foo3bar", "123foo::bar"},
	    {"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	    {"_RNvCs1234_7mycrate3foo.llvm.123", "mycrate::foo"},
	    {"_RNvCs1234_7mycrate3foo.cold", "mycrate::foo.cold"},
	    {"_RNvMC7mycrateINtB2_3FooyE3new", "<mycrate::Foo<u64>>::new"},
	    {"_RNCNvC7mycrate4mains_0", "mycrate::main::{closure#1}"},
	    {"_RNSNvC1a1b6vtable", "a::b::{shim:vtable#0}"},
	    {"_RNvXs_C7mycrateNtB4_3FooNtNtC4core3fmt5Debug3fmt",
	     "<mycrate::Foo as core::fmt::Debug>::fmt"},
	    {"_RNvC7mycrateu8gdel_5qa", "mycrate::g\xc3\xb6"
					"del"},
	    {"_RINvC7mycrate3fooFG_RL0_hEuDNtB2_5TraitEL_Kln5_E",
	     "mycrate::foo::<for<'a> fn(&'a u8), dyn mycrate::Trait, -5>"},
	    {"_RINvC7mycrate3fooAhj8_TsETEFKCPuOzEuE",
	     "mycrate::foo::<[u8; 8], (i16,), (), extern \"C\" fn(*const (), *mut !)>"},
	    {"_RINvC1a1bDINtC1a1TlEp3OuthEL_E", "a::b::<dyn a::T<i32, Out = u8>>"},
	    {"_RINvC1a1bKb1_Kc41_KpE", "a::b::<true, 'A', _>"},
	    {"_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner11finish_growCsduwmD7cSIQq_"
	     "5gimli",
	     "<alloc::raw_vec::RawVecInner>::finish_grow"},
	    /* Wrong: cut, a number out of range, references to themselves and forward, a lifetime
	     * without a binder. */
	    {"_R", NULL},
	    {"_RNvC7mycrat", NULL},
	    {"_RNvC99999999999999999999a1b", NULL},
	    {"_RB_", NULL},
	    {"_RIC1aTB2_E", NULL},
	    {"_RIC1aTB9_EE", NULL},
	    {"_RINvC1a1bRL0_hE", NULL},
	    {"_RNvC1au5_zzzz1b", NULL},
	};
	static const char base62[] =
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char deep[8192] = "_RI";

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *plain = demangle(names[i][0]);

		if (names[i][1])
			assert_string_equal(plain, names[i][1]);
		else
			assert_null(plain);
		mem_free(plain);
	}
	/* Recursion, and text that doubles 50 times by references to the element before. */
	memset(deep + 3, 'I', sizeof deep - 4);
	assert_null(demangle(deep));
	strcpy(deep, "_RIC1aTuuE");
	for (size_t i = 0, at = 4; i < 50; i++) {
		const size_t before = at - 1;
		char digits[8];

		at = strlen(deep) - 2;
		snprintf(digits, sizeof digits, "%.*s%c", before >= 62, &base62[before / 62],
			 base62[before % 62]);
		snprintf(deep + strlen(deep), 32, "TB%s_B%s_E", digits, digits);
	}
	strcat(deep, "E");
	assert_null(demangle(deep));
}

static void test_generated(void **state)
{
	symbols *s = symbols_new(NULL);
	symbols_frame f;
	char path[64], text[] =
			   "1000 20 first\n1020 10 second with blanks\nnonsense\n"
			   "1000 8 again\n\nffffffffffffffff 20 wraps\n2000 0 empty\n3000 10\n";
	/* A process id that does not exist. */
	long pid = 1 << 22;

	(void)state;
	snprintf(path, sizeof path, "/tmp/perf-%ld.map", pid + getpid());
	pid += getpid();
	FILE *map = fopen(path, "w");

	if (!map)
		skip();
	fputs(text, map);
	fclose(map);
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0x1004, &f, 1), 1);
	assert_string_equal(f.function, "again");
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0x101f, &f, 1), 1);
	assert_string_equal(f.function, "first");
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0x1020, &f, 1), 1);
	assert_string_equal(f.function, "second with blanks");
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0x1030, &f, 1), 0);
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0xfff, &f, 1), 0);
	assert_int_equal(symbols_find_generated(s, (pid_t)pid, 0x3004, &f, 1), 0);
	assert_int_equal(symbols_find_generated(s, (pid_t)pid + 1, 0x1004, &f, 1), 0);
	remove(path);
	symbols_free(s);
}

/* --- malformed debugging information */

enum { REQUEST_MAX = 256 << 20 };

static bool too_much;

static void *bounded_resize(void *self, void *old, size_t bytes)
{
	(void)self;
	too_much |= bytes > REQUEST_MAX;
	return bytes > REQUEST_MAX ? NULL : realloc(old, bytes);
}

static void *bounded_alloc(void *self, size_t bytes)
{
	return bounded_resize(self, NULL, bytes);
}

static void bounded_release(void *self, void *old)
{
	(void)self;
	free(old);
}

/* 2000 functions share one list of 10000 ranges: 200 KB of file expand to 20 million ranges. */
static const char shared_ranges[] = ".section .debug_abbrev,\"\",%progbits\n"
				    ".byte 1,0x11,1, 0x11,1, 0x12,7, 0,0\n"
				    ".byte 2,0x2e,0, 0x55,0x17, 0,0, 0\n"
				    ".section .debug_info,\"\",%progbits\n"
				    ".4byte 2f-1f\n1:\n.2byte 4\n.4byte 0\n.byte 8\n"
				    ".byte 1\n.8byte 0x1000,0x100000\n"
				    ".rept 2000\n.byte 2\n.4byte 0\n.endr\n.byte 0\n2:\n"
				    ".section .debug_ranges,\"\",%progbits\n"
				    ".rept 10000\n.8byte 0x10,0x20\n.endr\n.8byte 0,0\n";

static void test_shared_ranges(void **state)
{
	dwarf_frame frames[4];
	dwarf_lines *d;
	dck_err err;

	(void)state;
	const char *path = scratch_file("ranges.s", shared_ranges, sizeof shared_ranges - 1);
	assert_non_null(path);
	if (!run("cc -c ranges.s -o ranges.o"))
		skip();
	const int fd = open("ranges.o", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	if (dwarf_lines_open("ranges.o", fd, &d, &err) != DCK_OK) {
		print_message("skipped: %s\n", err.msg);
		close(fd);
		skip();
	}
	dck_set_allocator(&(dck_allocator){bounded_alloc, bounded_resize, bounded_release, NULL});
	assert_int_equal(dwarf_lines_find(d, 0x1018, frames, 4), 1);
	assert_null(frames[0].name);
	dwarf_lines_close(d);
	dck_set_allocator(NULL);
	assert_false(too_much);
}

/* GCC gives no linkage name to functions that other units cannot call. */
static const char scopes[] =
    "namespace outer { namespace {\n"
    "template <int N> struct T { static int turn(int n) { return n * N; } };\n"
    "} }\n"
    "static int plain(int n) { return n; }\n"
    "static int (*in_function())(int) { struct U { static int get(int n) { return n; } }; "
    "return U::get; }\n"
    "extern \"C\" { int (*functions[])(int) = {outer::T<3>::turn, outer::T<7>::turn, plain, "
    "in_function()}; }\n";

static void test_scopes(void **state)
{
	static const char *const names[] = {"outer::(anonymous namespace)::T<3>::turn",
					    "outer::(anonymous namespace)::T<7>::turn", "plain",
					    "in_function::U::get"};
	address_space_files *files = address_space_files_new();
	address_space *space = address_space_new(files, getpid());
	symbols *s = symbols_new(NULL);
	symbols_frame found[4];

	(void)state;
	assert_non_null(scratch_file("scopes.cpp", scopes, sizeof scopes - 1));
	if (symbolizer_missing_reason(s) ||
	    !run("g++ -g -shared -fPIC scopes.cpp -o libscopes.so 2>/dev/null"))
		skip();
	void *library = dlopen("./libscopes.so", RTLD_NOW);
	assert_non_null(library);
	void **functions = dlsym(library, "functions");
	assert_non_null(functions);
	assert_int_equal(address_space_read(space, NULL), DCK_OK);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const uint64_t at = (uint64_t)(uintptr_t)functions[i];
		const mapped_module *m = address_space_find(space, at);

		assert_true(m && m->file);
		assert_int_equal(symbolizer_lookup(s, m->file, at - m->bias, found, 4), 1);
		assert_string_equal(found[0].function, names[i]);
		assert_int_equal(found[0].start_line, i == 3 ? 5 : 0);
	}
	dlclose(library);
	symbols_free(s);
	address_space_free(space);
	address_space_files_free(files);
}

int test_symbols(void);
int test_symbols(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(test_debug),
	    SCRATCH_TEST(test_names),
	    SCRATCH_TEST(test_debug_link),
	    SCRATCH_TEST(test_build_id),
	    SCRATCH_TEST(test_packed),
	    SCRATCH_TEST(test_no_sections),
	    SCRATCH_TEST(test_go),
	    SCRATCH_TEST(test_replaced),
	    SCRATCH_TEST(test_plt),
	    cmocka_unit_test(test_demangle),
	    cmocka_unit_test(test_demangle_rust_v0),
	    SCRATCH_TEST(test_shared_ranges),
	    SCRATCH_TEST(test_scopes),
	    cmocka_unit_test(test_generated),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
