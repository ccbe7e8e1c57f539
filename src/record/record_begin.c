/* SPDX-License-Identifier: Apache-2.0 */
#include "record/record_begin.h"
#include "os/os.h"
#include <stdio.h>

enum { RECORD_TITLE_SIZE = 4096 };

void record_id_make(char ret[RECORD_ID_SIZE])
{
	unsigned char bytes[RECORD_ID_SIZE / 2];

	os_random_bytes(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

record_builder *record_begin(const char *title)
{
	record_builder *b = record_new();
	char id[RECORD_ID_SIZE];

	if (!b)
		return NULL;
	record_id_make(id);
	record_set_id(b, id);
	record_set_command(b, title);
	return b;
}

void record_program_title(char *ret, size_t size, char *const *argv)
{
	size_t n = 0;

	ret[0] = '\0';
	for (; argv && *argv && n < size; argv++)
		n += (size_t)snprintf(ret + n, size - n, "%s%s", n ? " " : "", *argv);
}

record_builder *record_begin_program(char *const *argv)
{
	char title[RECORD_TITLE_SIZE];

	record_program_title(title, sizeof title, argv);
	return record_begin(title);
}

/* Adds the value of an option row's field as a fact. */
static void fact_option(record_builder *b, const char *section, const dck_opt *o, const void *field)
{
	const bool number =
	    o->kind == DCK_OPT_COUNT || o->kind == DCK_OPT_TIME || o->kind == DCK_OPT_BYTES;

	/* Without a default 0 means "not given". */
	if (number && !o->def && *(const uint64_t *)field == 0) {
		record_fact_absent(b, section, o->name, "not given");
		return;
	}
	switch (o->kind) {
	case DCK_OPT_FLAG:
		record_fact_bool(b, section, o->name, *(const bool *)field);
		break;
	case DCK_OPT_COUNT:
	case DCK_OPT_TIME:
	case DCK_OPT_BYTES:
		record_fact_int(b, section, o->name,
				o->kind == DCK_OPT_TIME	   ? DCK_UNIT_NS
				: o->kind == DCK_OPT_BYTES ? DCK_UNIT_BYTE
							   : DCK_UNIT_ONE,
				(int64_t) * (const uint64_t *)field);
		break;
	case DCK_OPT_REAL:
	case DCK_OPT_SHARE:
		record_fact_real(b, section, o->name, DCK_UNIT_ONE, *(const double *)field);
		break;
	case DCK_OPT_CHOICE:
		record_fact_text(b, section, o->name, o->choices[*(const int *)field]);
		break;
	case DCK_OPT_TEXT:
		record_fact(b, section, o->name, DCK_UNIT_NONE,
			    *(const char *const *)field ? RECORD_TEXT(*(const char *const *)field)
							: RECORD_ABSENT("not given"));
		break;
	case DCK_OPT_LIST: {
		const dck_list *list = field;
		char key[80];

		for (size_t i = 0; i < list->n; i++) {
			snprintf(key, sizeof key, "%s/%zu", o->name, i + 1);
			record_fact_text(b, section, key, list->item[i]);
		}
		break;
	}
	}
}

void record_fact_options(record_builder *b, const char *section, const dck_opt *table,
			 const void *cfg)
{
	for (const dck_opt *o = table; o->name; o++)
		fact_option(b, section, o, (const char *)cfg + o->at);
}
