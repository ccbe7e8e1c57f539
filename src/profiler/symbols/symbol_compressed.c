/* symbol_compressed.c - reads .gnu_debugdata, an xz-compressed ELF file in which some distributions
 * store the symbols of functions that are not exported (MiniDebugInfo).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/symbol_table.h"

#include "base/mem.h"
#include "os/process/lazy_library.h"

enum { PACKED_MAX = 1 << 27, UNPACKED_MAX = 1 << 29, TOO_SMALL = 10 /* LZMA_BUF_ERROR */ };

/* lzma/container.h, as every liblzma since 5.0 has it. */
extern int lzma_stream_buffer_decode(uint64_t *memory_limit, uint32_t flags, const void *allocator,
				     const uint8_t *in, size_t *in_at, size_t in_size, uint8_t *out,
				     size_t *out_at, size_t out_size);

#define LZMA(X) X(lzma_, stream_buffer_decode)
static struct lzma_functions {
	LZMA(OS_LAZY_MEMBER)
} lzma;
static const char *const lzma_names[] = {LZMA(OS_LAZY_NAME)};
static os_lazy_library lzma_library =
    OS_LAZY("liblzma.so.5", "packed names of functions", lzma_names, lzma);

/* NULL: it cannot be. */
static uint8_t *compressed_unpack(const uint8_t *packed, size_t n, size_t *ret_n)
{
	for (size_t cap = 8 * n + 4096; cap <= UNPACKED_MAX; cap *= 4) {
		uint64_t limit = UNPACKED_MAX;
		size_t in = 0, out = 0;
		uint8_t *to = mem_alloc(cap);
		int got =
		    to ? lzma.stream_buffer_decode(&limit, 0, NULL, packed, &in, n, to, &out, cap)
		       : -1;

		*ret_n = out;
		if (got == 0)
			return to;
		mem_free(to);
		if (got != TOO_SMALL)
			break;
	}
	return NULL;
}

size_t symbol_table_add_compressed(symbol_table *t, const elf_file *f)
{
	const elf_section *s = elf_file_find_section(f, ".gnu_debugdata");
	uint8_t *packed, *bytes;
	elf_file *inner;
	size_t n, added = 0;

	if (!s || s->size > PACKED_MAX || os_lazy_load(&lzma_library, NULL) != DCK_OK)
		return 0;
	packed = elf_file_read(f, s->offset, s->size);
	bytes = packed ? compressed_unpack(packed, (size_t)s->size, &n) : NULL;
	if (bytes && elf_file_open_bytes(bytes, n, ".gnu_debugdata", &inner, NULL) == DCK_OK) {
		added = symbol_table_add(t, inner);
		elf_file_close(inner);
	}
	mem_free(bytes);
	mem_free(packed);
	return added;
}
