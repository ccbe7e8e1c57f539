/* demangle_rust.c - Rust's v0 mangling, which its standard library has since 2025: a
 * recursive-descent parser that prints while it reads.
 *
 * Source: RFC 2603 and The rustc book, "v0 Symbol Format"; the text is that of rustc-demangle
 * without hashes of crates and types of constants.
 *
 * Safe against any bytes: each read is bounded by the end, recursion by RUST_DEPTH_MAX, the result
 * by TEXT_MAX. A back reference leads to an earlier position, and is not followed while nothing is
 * printed, so work is bounded by the text. After the first error nothing more is read or printed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/symbols/demangle.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { RUST_DEPTH_MAX = 200, TEXT_MAX = 1 << 14, LETTERS_MAX = 128 };

typedef struct rust_name {
	const char *begin, *at, *end; /* behind "_R" */
	char *text;
	size_t n;
	unsigned depth;
	uint64_t lifetimes; /* of the binders around */
	bool silent, failed;
} rust_name;

typedef struct identifier {
	const char *bytes;
	size_t n;
	bool punycode;
} identifier;

static void path_print(rust_name *r, bool in_value);
static void type_print(rust_name *r);
static void const_print(rust_name *r);

/* --- reading */

static char rust_peek(const rust_name *r)
{
	return !r->failed && r->at < r->end ? *r->at : '\0';
}

static char rust_next(rust_name *r)
{
	const char c = rust_peek(r);

	if (c)
		r->at++;
	else
		r->failed = true;
	return c;
}

static bool rust_eat(rust_name *r, char c)
{
	if (rust_peek(r) != c)
		return false;
	r->at++;
	return true;
}

static bool rust_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool rust_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* "_" is 0, "0_" 1, "Z_" 62. */
static uint64_t base62_read(rust_name *r)
{
	uint64_t x = 0;

	if (rust_eat(r, '_'))
		return 0;
	while (!r->failed && !rust_eat(r, '_')) {
		const char c = rust_next(r);
		const unsigned digit = rust_is_digit(c)	      ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
				       : rust_is_upper(c)     ? (unsigned)(c - 'A') + 36
							      : 62;

		if (digit == 62 || x > UINT64_MAX / 62 - 2)
			r->failed = true;
		else
			x = x * 62 + digit;
	}
	return x + 1;
}

/* A number after its tag; 0: there is no tag. */
static uint64_t tagged_read(rust_name *r, char tag)
{
	return rust_eat(r, tag) ? base62_read(r) + 1 : 0;
}

static identifier identifier_read(rust_name *r)
{
	identifier ret = {.punycode = rust_eat(r, 'u')};
	size_t n = 0;

	if (!rust_is_digit(rust_peek(r)))
		r->failed = true;
	if (!rust_eat(r, '0'))
		while (rust_is_digit(rust_peek(r)) && n < TEXT_MAX)
			n = n * 10 + (size_t)(rust_next(r) - '0');
	rust_eat(r, '_');
	if (r->failed || n > (size_t)(r->end - r->at)) {
		r->failed = true;
		return ret;
	}
	ret.bytes = r->at;
	ret.n = n;
	r->at += n;
	return ret;
}

/* --- printing */

static void rust_put(rust_name *r, const char *bytes, size_t n)
{
	if (r->silent || r->failed)
		return;
	if (n > TEXT_MAX - r->n) {
		r->failed = true;
		return;
	}
	memcpy(r->text + r->n, bytes, n);
	r->n += n;
}

static void rust_text_put(rust_name *r, const char *text)
{
	rust_put(r, text, strlen(text));
}

static void rust_number_put(rust_name *r, uint64_t x)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)x);
	rust_text_put(r, text);
}

/* Decodes RFC 3492, with "_" as the delimiter. */
static size_t punycode_decode(const identifier *id, uint32_t letters[LETTERS_MAX])
{
	const char *at = id->bytes, *end = at + id->n, *last = NULL;
	uint32_t code = 128, i = 0, bias = 72, damp = 700;
	size_t n = 0;

	for (const char *p = at; p < end; p++)
		if (*p == '_')
			last = p;
	for (; last && at < last; at++) {
		if (n == LETTERS_MAX)
			return 0;
		letters[n++] = (unsigned char)*at;
	}
	at = last ? last + 1 : at;
	while (at < end) {
		const uint32_t before = i;
		uint32_t weight = 1;

		for (uint32_t k = 36;; k += 36) {
			const char c = at < end ? *at++ : '\0';
			const uint32_t digit = c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a')
					       : rust_is_digit(c)   ? (uint32_t)(c - '0') + 26
								    : 36;
			const uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

			if (digit == 36 || weight > UINT32_MAX / 36 / 36 ||
			    digit * weight > 1 << 24)
				return 0;
			i += digit * weight;
			if (digit < t)
				break;
			weight *= 36 - t;
		}
		if (n == LETTERS_MAX || i > 1 << 26)
			return 0;
		n++;
		uint32_t delta = (i - before) / damp;
		damp = 2;
		delta += delta / (uint32_t)n;
		for (bias = 0; delta > 35 * 26 / 2; bias += 36)
			delta /= 35;
		bias += 36 * delta / (delta + 38);
		code += i / (uint32_t)n;
		i %= (uint32_t)n;
		if (code > 0x10ffff)
			return 0;
		memmove(letters + i + 1, letters + i, (n - 1 - i) * sizeof *letters);
		letters[i++] = code;
	}
	return n;
}

static void rust_identifier_put(rust_name *r, const identifier *id)
{
	uint32_t letters[LETTERS_MAX];
	char bytes[UTF8_BYTES_MAX];

	if (!id->punycode) {
		rust_put(r, id->bytes, id->n);
		return;
	}
	const size_t n = punycode_decode(id, letters);
	if (n == 0)
		r->failed = true;
	for (size_t i = 0; i < n; i++)
		rust_put(r, bytes, utf8_put(bytes, letters[i]));
}

static void rust_lifetime_put(rust_name *r, uint64_t index)
{
	if (index == 0) {
		rust_text_put(r, "'_");
	} else if (index > r->lifetimes) {
		r->failed = true;
	} else {
		const uint64_t depth = r->lifetimes - index;
		const char letter[] = {'\'', (char)('a' + depth % 26)};

		rust_put(r, letter, sizeof letter);
		if (depth >= 26)
			rust_number_put(r, depth / 26);
	}
}

/* --- the grammar */

static bool rust_enter(rust_name *r)
{
	if (r->failed || ++r->depth > RUST_DEPTH_MAX)
		r->failed = true;
	return !r->failed;
}

/* Prints what the position behind "B" refers to. */
static bool back_print(rust_name *r, bool (*print)(rust_name *r, bool flag), bool flag)
{
	const uint64_t to = base62_read(r);
	const char *const behind = r->at;

	if (r->failed || to >= (uint64_t)(behind - r->begin)) {
		r->failed = true;
		return false;
	}
	if (r->silent || !rust_enter(r))
		return false;
	r->at = r->begin + to;
	const bool ret = print(r, flag);
	r->at = behind;
	r->depth--;
	return ret;
}

static bool path_again(rust_name *r, bool in_value)
{
	path_print(r, in_value);
	return false;
}

static bool type_again(rust_name *r, bool unused)
{
	(void)unused;
	type_print(r);
	return false;
}

static bool const_again(rust_name *r, bool unused)
{
	(void)unused;
	const_print(r);
	return false;
}

/* Prints elements up to "E"; returns their number. */
static size_t list_print(rust_name *r, void (*print)(rust_name *r), const char *between)
{
	size_t n = 0;

	for (; !r->failed && !rust_eat(r, 'E'); n++) {
		if (n)
			rust_text_put(r, between);
		print(r);
	}
	return n;
}

static void generic_print(rust_name *r)
{
	if (rust_eat(r, 'L'))
		rust_lifetime_put(r, base62_read(r));
	else if (rust_eat(r, 'K'))
		const_print(r);
	else
		type_print(r);
}

/* A closure or a shim has braces: "main::{closure#0}". */
static void nested_print(rust_name *r, bool in_value)
{
	const char space = rust_next(r);

	path_print(r, in_value);
	const uint64_t number = tagged_read(r, 's');
	const identifier id = identifier_read(r);

	if (rust_is_upper(space)) {
		rust_text_put(r, "::{");
		if (space == 'C' || space == 'S')
			rust_text_put(r, space == 'C' ? "closure" : "shim");
		else
			rust_put(r, &space, 1);
		if (id.n)
			rust_text_put(r, ":");
		rust_identifier_put(r, &id);
		rust_text_put(r, "#");
		rust_number_put(r, number);
		rust_text_put(r, "}");
	} else if (id.n) {
		rust_text_put(r, "::");
		rust_identifier_put(r, &id);
	}
}

static void path_silent(rust_name *r)
{
	const bool silent = r->silent;

	r->silent = true;
	path_print(r, false);
	r->silent = silent;
}

static void path_print(rust_name *r, bool in_value)
{
	const char tag = rust_next(r);

	if (!rust_enter(r))
		return;
	if (tag == 'C') {
		tagged_read(r, 's');
		const identifier id = identifier_read(r);
		rust_identifier_put(r, &id);
	} else if (tag == 'N') {
		nested_print(r, in_value);
	} else if (tag == 'M' || tag == 'X' || tag == 'Y') {
		if (tag != 'Y') {
			tagged_read(r, 's');
			path_silent(r);
		}
		rust_text_put(r, "<");
		type_print(r);
		if (tag != 'M') {
			rust_text_put(r, " as ");
			path_print(r, false);
		}
		rust_text_put(r, ">");
	} else if (tag == 'I') {
		path_print(r, in_value);
		rust_text_put(r, in_value ? "::<" : "<");
		list_print(r, generic_print, ", ");
		rust_text_put(r, ">");
	} else if (tag == 'B') {
		back_print(r, path_again, in_value);
	} else {
		r->failed = true;
	}
	r->depth--;
}

static const char *basic_type(char c)
{
	static const char *const names[26] = {
	    ['a' - 'a'] = "i8",	  ['b' - 'a'] = "bool",	 ['c' - 'a'] = "char",
	    ['d' - 'a'] = "f64",  ['e' - 'a'] = "str",	 ['f' - 'a'] = "f32",
	    ['h' - 'a'] = "u8",	  ['i' - 'a'] = "isize", ['j' - 'a'] = "usize",
	    ['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",	 ['n' - 'a'] = "i128",
	    ['o' - 'a'] = "u128", ['p' - 'a'] = "_",	 ['s' - 'a'] = "i16",
	    ['t' - 'a'] = "u16",  ['u' - 'a'] = "()",	 ['v' - 'a'] = "...",
	    ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",	 ['z' - 'a'] = "!",
	};

	return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static uint64_t binder_begin(rust_name *r)
{
	const uint64_t n = tagged_read(r, 'G');

	if (n > RUST_DEPTH_MAX)
		r->failed = true;
	for (uint64_t i = 0; i < n && !r->failed; i++) {
		rust_text_put(r, i ? ", " : "for<");
		r->lifetimes++;
		rust_lifetime_put(r, 1);
	}
	if (n)
		rust_text_put(r, "> ");
	return n;
}

static void function_print(rust_name *r)
{
	const uint64_t bound = binder_begin(r);

	if (rust_eat(r, 'U'))
		rust_text_put(r, "unsafe ");
	if (rust_eat(r, 'K')) {
		identifier abi = {.bytes = "C", .n = 1};

		if (!rust_eat(r, 'C'))
			abi = identifier_read(r);
		rust_text_put(r, "extern \"");
		for (size_t i = 0; i < abi.n; i++)
			rust_put(r, abi.bytes[i] == '_' ? "-" : abi.bytes + i, 1);
		rust_text_put(r, "\" ");
	}
	rust_text_put(r, "fn(");
	list_print(r, type_print, ", ");
	rust_text_put(r, ")");
	if (!rust_eat(r, 'u')) {
		rust_text_put(r, " -> ");
		type_print(r);
	}
	r->lifetimes -= bound;
}

/* Returns whether "<" is still open, for associated types. */
static bool open_path_print(rust_name *r, bool unused)
{
	(void)unused;
	if (rust_eat(r, 'B'))
		return back_print(r, open_path_print, false);
	if (!rust_eat(r, 'I')) {
		path_print(r, false);
		return false;
	}
	path_print(r, false);
	rust_text_put(r, "<");
	list_print(r, generic_print, ", ");
	return true;
}

static void dyn_trait_print(rust_name *r)
{
	bool open = open_path_print(r, false);

	for (; rust_eat(r, 'p'); open = true) {
		rust_text_put(r, open ? ", " : "<");
		const identifier id = identifier_read(r);
		rust_identifier_put(r, &id);
		rust_text_put(r, " = ");
		type_print(r);
	}
	if (open)
		rust_text_put(r, ">");
}

static void dyn_print(rust_name *r)
{
	rust_text_put(r, "dyn ");
	const uint64_t bound = binder_begin(r);
	list_print(r, dyn_trait_print, " + ");
	r->lifetimes -= bound;
	if (!rust_eat(r, 'L'))
		r->failed = true;
	const uint64_t lifetime = base62_read(r);
	if (lifetime) {
		rust_text_put(r, " + ");
		rust_lifetime_put(r, lifetime);
	}
}

static void reference_print(rust_name *r, char tag)
{
	rust_text_put(r, "&");
	if (rust_eat(r, 'L')) {
		const uint64_t lifetime = base62_read(r);

		if (lifetime) {
			rust_lifetime_put(r, lifetime);
			rust_text_put(r, " ");
		}
	}
	rust_text_put(r, tag == 'Q' ? "mut " : "");
	type_print(r);
}

static void type_print(rust_name *r)
{
	const char tag = rust_peek(r), *basic = basic_type(tag);

	if (!rust_enter(r))
		return;
	r->at++;
	if (basic) {
		rust_text_put(r, basic);
	} else if (tag == 'R' || tag == 'Q') {
		reference_print(r, tag);
	} else if (tag == 'P' || tag == 'O') {
		rust_text_put(r, tag == 'P' ? "*const " : "*mut ");
		type_print(r);
	} else if (tag == 'A' || tag == 'S') {
		rust_text_put(r, "[");
		type_print(r);
		if (tag == 'A') {
			rust_text_put(r, "; ");
			const_print(r);
		}
		rust_text_put(r, "]");
	} else if (tag == 'T') {
		rust_text_put(r, "(");
		const size_t n = list_print(r, type_print, ", ");
		rust_text_put(r, n == 1 ? ",)" : ")");
	} else if (tag == 'F') {
		function_print(r);
	} else if (tag == 'D') {
		dyn_print(r);
	} else if (tag == 'B') {
		back_print(r, type_again, false);
	} else {
		r->at--;
		path_print(r, false);
	}
	r->depth--;
}

/* Hexadecimal digits up to "_". */
static void const_number_print(rust_name *r, char type)
{
	const char *const from = r->at;
	uint64_t x = 0;
	char byte[UTF8_BYTES_MAX];

	for (; rust_is_digit(rust_peek(r)) || (rust_peek(r) >= 'a' && rust_peek(r) <= 'f'); r->at++)
		x = x << 4 | (uint64_t)(rust_is_digit(*r->at) ? *r->at - '0' : *r->at - 'a' + 10);
	const size_t digits = (size_t)(r->at - from);
	if (!rust_eat(r, '_')) {
		r->failed = true;
	} else if (digits > 16) {
		rust_text_put(r, "0x");
		rust_put(r, from, digits);
	} else if (type == 'b') {
		rust_text_put(r, x ? "true" : "false");
	} else if (type == 'c') {
		rust_text_put(r, "'");
		rust_put(r, byte, utf8_put(byte, x <= 0x10ffff ? (uint32_t)x : 0xfffd));
		rust_text_put(r, "'");
	} else {
		rust_number_put(r, x);
	}
}

static void const_print(rust_name *r)
{
	const char type = rust_next(r);

	if (!rust_enter(r))
		return;
	if (type == 'B') {
		back_print(r, const_again, false);
	} else if (type == 'p') {
		rust_text_put(r, "_");
	} else if (strchr("asxnil", type)) {
		rust_text_put(r, rust_eat(r, 'n') ? "-" : "");
		const_number_print(r, type);
	} else if (strchr("htmyojbc", type)) {
		const_number_print(r, type);
	} else {
		r->failed = true;
	}
	r->depth--;
}

char *demangle_rust_v0(const char *name)
{
	static const char optimiser[] = ".llvm.";
	const char *const begin = name + 2, *const end = begin + strcspn(begin, ".");
	rust_name r = {.begin = begin, .at = begin, .end = end};

	if (strncmp(name, "_R", 2) != 0 || !rust_is_upper(*begin))
		return NULL;
	r.text = mem_alloc(TEXT_MAX + 1);
	if (!r.text)
		return NULL;
	path_print(&r, true);
	if (rust_is_upper(rust_peek(&r)))
		path_silent(&r); /* the crate that instantiated it */
	if (!r.failed && r.at == r.end && strncmp(end, optimiser, sizeof optimiser - 1) != 0)
		rust_text_put(&r, end);
	r.text[r.n] = '\0';
	char *const ret = !r.failed && r.at == r.end ? mem_dup(r.text) : NULL;
	mem_free(r.text);
	return ret;
}
