/* symbolizer.h - which function and line an address is, and what was inlined there.
 *
 *	symbols *s = symbols_new(NULL);
 *	symbols_frame frames[SYMBOLS_FRAMES_MAX];
 *
 *	size_t n = symbolizer_lookup(s, m->file, place - m->bias, frames, SYMBOLS_FRAMES_MAX);
 *	size_t n = symbols_find_generated(s, pid, place, frames, SYMBOLS_FRAMES_MAX);   m NULL or no
 * file
 *
 * `place` is inside the call (unwind_lookup_pc()). Frames come innermost first: what was inlined,
 * then the function itself. Names are those of .symtab and .dynsym, of a compressed table
 * (.gnu_debugdata), of Go's own table, or of a separate debug file (by build id or .gnu_debuglink);
 * lines and inlined frames are read by elfutils' libdw, which is loaded when it is first needed.
 * Without it there are names alone, and symbolizer_missing_reason() says so. C++ and Rust names are
 * demangled. Entries of .plt are "NAME@plt". Nothing is ever fetched from a network.
 *
 * Answers are cached, and texts are kept until symbols_free(). Addresses in order of file and
 * address are found fastest: units of a debug file are read on demand and may be forgotten again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_SYMBOLS_SYMBOLS_H
#define STACK_SYMBOLS_SYMBOLS_H

#include "profiler/unwind/elf_file.h"
#include <sys/types.h>

enum { SYMBOLS_FRAMES_MAX = 32 };

typedef struct symbols_config {
	/* Where debug files are looked for; NULL: /usr/lib/debug. */
	const char *debug_folder;
	bool names_only; /* no lines, no inlined frames */
	bool mangled;	 /* C++ and Rust names as they are in the file */
} symbols_config;

/* Texts are borrowed until symbols_free(). Same text, same pointer. */
typedef struct symbols_frame {
	const char *function; /* NULL: not known */
	const char *file;     /* of the source; NULL: not known */
	unsigned line;	      /* 0: not known */
	bool inlined;	      /* into the next frame */
} symbols_frame;

typedef struct symbols symbols;

symbols *symbols_new(
    const symbols_config *config); /* NULL: the defaults; @owned; NULL: no memory */
void symbols_free(symbols *s);

/* address: in the file's own numbering. Returns how many frames, at most `max` of the innermost; 0:
 * nothing is known of it, or no memory. `file` must stay open as long as s is used. */
size_t symbolizer_lookup(symbols *s, elf_file *file, uint64_t address, symbols_frame *ret,
			 size_t max);

/* The same of code that a process made while it ran, by /tmp/perf-PID.map. address: in memory. The
 * map is read when a process's code is first asked for: when it has ended, best. */
size_t symbols_find_generated(symbols *s, pid_t pid, uint64_t address, symbols_frame *ret,
			      size_t max);

/* What names of a file are from. */
typedef enum symbols_source {
	SYMBOLS_NONE,	 /* it has none */
	SYMBOLS_DYNAMIC, /* what it exports: other functions have no name, or their neighbour's */
	SYMBOLS_TABLE,	 /* all functions */
	SYMBOLS_DEBUG	 /* and lines */
} symbols_source;
symbols_source symbols_source_of(symbols *s, elf_file *file);

/* A sentence on what is missing for lines and inlined frames on this machine; NULL: nothing. */
const char *symbolizer_missing_reason(symbols *s);

#endif
