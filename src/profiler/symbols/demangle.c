/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/demangle.h"

#include "base/names/function_name.h"
#include "base/mem.h"
#include "os/process/lazy_library.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1 << 14 };

/* The C++ ABI's own, in libstdc++. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *n, int *status);

#define CXX(X) X(__cxa_, demangle)
static struct cxx_functions {
	CXX(OS_LAZY_MEMBER)
} cxx;
static const char *const cxx_names[] = {CXX(OS_LAZY_NAME)};
static os_lazy_library cxx_library =
    OS_LAZY("libstdc++.so.6", "demangled C++ names", cxx_names, cxx);

/* Returns the bytes of a name before what LLVM appends where it moves a local function to another
 * unit. */
static size_t rust_bytes(const char *name)
{
	const char *suffix = strstr(name, ".llvm.");

	return suffix ? (size_t)(suffix - name) : strlen(name);
}

/* Rust's legacy mangling is C++'s, with a hash of 16 digits as the last part. */
static bool is_rust(const char *name)
{
	const size_t n = rust_bytes(name);

	return n > 23 && strncmp(name, "_ZN", 3) == 0 && name[n - 1] == 'E' &&
	       strncmp(name + n - 20, "17h", 3) == 0 &&
	       strspn(name + n - 17, "0123456789abcdef") == 16;
}

/* Escapes of punctuation in Rust's legacy mangling. */
static const struct {
	const char *written, *meant;
} rust_signs[] = {
    {"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"}, {"$GT$", ">"},
    {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","},	 {"..", "::"},
};

/* Decodes the escape at *from to *to, and advances both. */
static void rust_sign(const char **from, char **to)
{
	for (size_t i = 0; i < sizeof rust_signs / sizeof rust_signs[0]; i++) {
		size_t n = strlen(rust_signs[i].written);

		if (strncmp(*from, rust_signs[i].written, n) != 0)
			continue;
		*from += n;
		n = strlen(rust_signs[i].meant);
		memcpy(*to, rust_signs[i].meant, n);
		*to += n;
		return;
	}
	if (strncmp(*from, "$u", 2) == 0) { /* a code in hexadecimal: ASCII, in practice */
		char *end;
		unsigned long code = strtoul(*from + 2, &end, 16);

		if (*end == '$' && code >= ' ' && code < 127) {
			*(*to)++ = (char)code;
			*from = end + 1;
			return;
		}
	}
	*(*to)++ = *(*from)++;
}

/* "_ZN4core3fmt5write17h0123456789abcdefE": core::fmt::write */
static char *demangle_rust(const char *name)
{
	const char *at = name + 3, *end = name + rust_bytes(name) - 20;
	char *text = mem_alloc(2 * strlen(name) + 1), *to = text;

	while (text && at < end) {
		char *behind;
		unsigned long n = strtoul(at, &behind, 10);

		if (behind == at || n > (unsigned long)(end - behind)) {
			mem_free(text);
			return NULL;
		}
		if (to != text)
			to = (char *)memcpy(to, "::", 2) + 2;
		at = behind;
		/* A part that would start with a sign has "_" before it. */
		if (at[0] == '_' && at[1] == '$')
			at++;
		while (at < behind + n)
			rust_sign(&at, &to);
	}
	if (text)
		*to = '\0';
	return text;
}

char *demangle(const char *name)
{
	char *theirs, *ours;
	int status;

	if (strncmp(name, "_R", 2) == 0)
		return demangle_rust_v0(name);
	if (strncmp(name, "_Z", 2) != 0 || strlen(name) > NAME_MAX_BYTES)
		return NULL;
	if (is_rust(name))
		return demangle_rust(name);
	if (os_lazy_load(&cxx_library, NULL) != DCK_OK)
		return NULL;
	theirs = cxx.demangle(name, NULL, NULL, &status);
	ours = theirs ? mem_dup(function_name_begin(theirs)) : NULL;
	free(theirs);
	return ours;
}
