/* symbolizer.h - maps an address to its function and line, with inlined functions.
 *
 *	symbols *s = symbols_new(NULL);
 *	symbols_frame frames[SYMBOLS_FRAMES_MAX];
 *
 *	size_t n = symbolizer_lookup(s, m->file, place - m->bias, frames, SYMBOLS_FRAMES_MAX);
 *	size_t n = symbols_find_generated(s, pid, place, frames, SYMBOLS_FRAMES_MAX);   m NULL or no
 * file
 *
 * `place` is inside the call (unwind_lookup_pc()). Frames are innermost first: inlined functions,
 * then the function itself. Names come from .symtab and .dynsym, a compressed table
 * (.gnu_debugdata), Go's own table, or a separate debug file (by build id or .gnu_debuglink); lines
 * and inlined frames are read by elfutils' libdw, which is loaded at its first use. Without libdw
 * only names are available, and symbolizer_missing_reason() returns the reason. C++ and Rust names
 * are demangled. Entries of .plt are "NAME@plt". Nothing is fetched from a network.
 *
 * Results are cached, and strings live until symbols_free(). Lookups sorted by file and address are
 * fastest: units of a debug file are read on demand and may be evicted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_SYMBOLIZER_H
#define SYMBOLS_SYMBOLIZER_H

#include "profiler/unwind/elf_file.h"
#include <sys/types.h>

enum { SYMBOLS_FRAMES_MAX = 32 };

typedef struct symbols_config {
	/* The directory of debug files; NULL: /usr/lib/debug. */
	const char *debug_directory;
	bool names_only; /* no lines, no inlined frames */
	bool mangled;	 /* do not demangle C++ and Rust names */
} symbols_config;

/* Strings are borrowed until symbols_free(). Equal strings have equal pointers. */
typedef struct symbols_frame {
	const char *function; /* NULL: not known */
	const char *file;     /* source file; NULL: unknown */
	unsigned line;	      /* 0: unknown */
	unsigned start_line;  /* of a lambda, or of a class in a function; 0: the name is enough */
	bool inlined;	      /* into the next frame */
} symbols_frame;

typedef struct symbols symbols;

symbols *symbols_new(
    const symbols_config *config); /* NULL: the defaults; @owned; NULL: no memory */
void symbols_free(symbols *s);

/* Writes the frames of a file's address, at most the `max` innermost. Returns their number; 0:
 * unknown, or no memory. `file` must remain open while s is used. */
size_t symbolizer_lookup(symbols *s, elf_file *file, uint64_t address, symbols_frame *ret,
			 size_t max);

/* Looks up a memory address of JIT-compiled code, by /tmp/perf-PID.map. The map is read at the
 * process's first lookup, which is best done after its exit. */
size_t symbols_find_generated(symbols *s, pid_t pid, uint64_t address, symbols_frame *ret,
			      size_t max);

/* The source of a file's names. */
typedef enum symbols_source {
	SYMBOLS_NONE,	 /* no names */
	SYMBOLS_DYNAMIC, /* exported functions: others have no name, or the preceding symbol's */
	SYMBOLS_TABLE,	 /* all functions */
	SYMBOLS_DEBUG	 /* and lines */
} symbols_source;
symbols_source symbols_source_of(symbols *s, elf_file *file);

/* Returns the reason why lines and inlined frames are unavailable on this machine; NULL: available.
 */
const char *symbolizer_missing_reason(symbols *s);

#endif
