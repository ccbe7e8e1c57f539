/* test_record_copy.c - copies parts of one record into another.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/copy.h"

/* Copies the facts, metrics and notes of a record only. */
static dck_record *copy_of(const dck_record *from)
{
	dck_record *r = NULL;
	record_builder *b = record_new();

	record_set_id(b, from->id);
	record_set_began(b, from->began_unix_ns);
	record_set_command(b, from->command);
	record_set_incomplete(b, from->incomplete);
	record_copy_facts(b, from);
	for (size_t i = 0; i < from->nmetrics; i++)
		record_metric_copy(b, &from->metrics[i]);
	for (size_t i = 0; i < from->nnotes; i++)
		record_note_copy(b, &from->notes[i]);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void all_of_it_byte_for_byte(void **state)
{
	(void)state;
	dck_record *r = golden_record("record_tables.json"), *copy = copy_of(r);
	const dck_record *a = r, *b = copy;

	/* The version is that of the library which builds the record. */
	r->version = dck_version();
	dck_buffer first = golden_report("json", &a, 1, NULL),
		   second = golden_report("json", &b, 1, NULL);
	/* The text before and after the tables is the same. */
	const char *tables = strstr(first.data, "\"tables\"");
	assert_non_null(tables);
	assert_memory_equal(first.data, second.data, (size_t)(tables - first.data));
	assert_string_equal(strstr(first.data, "\"notes\""), strstr(second.data, "\"notes\""));
	dck_buffer_done(&first);
	dck_buffer_done(&second);
	dck_record_free(copy);

	/* Everything that a builder writes is copied. */
	dck_record *again = copy_of(r), *twice = copy_of(again);
	a = again;
	b = twice;
	first = golden_report("json", &a, 1, NULL);
	second = golden_report("json", &b, 1, NULL);
	assert_string_equal(first.data, second.data);
	dck_buffer_done(&first);
	dck_buffer_done(&second);
	dck_record_free(twice);
	dck_record_free(again);
	dck_record_free(r);
}

/* A record of a newer version may have metrics without a definition here; a whole number with an
 * interval is read as an integer. */
static void what_a_newer_version_wrote(void **state)
{
	(void)state;
	static const char json[] =
	    "{\"schema\": 1, \"deepclock\": \"9.0\", \"id\": \"\", \"incomplete\": false,"
	    "\"facts\": [], \"series\": [], \"metrics\": ["
	    "{\"tag\": \"future/thing\", \"value\": 7, \"unit\": \"B\", \"lo\": 6, \"hi\": 8.5,"
	    " \"level\": 0.95, \"narrow\": \"few\"}], \"ops\": [], \"notes\": [],"
	    "\"tables\": [{\"name\": \"t\", \"title\": \"T\", \"columns\": ["
	    "{\"key\": \"k\", \"title\": \"k\", \"unit\": \"ns\"}], \"rows\": ["
	    "[{\"value\": 3, \"lo\": 2, \"hi\": 4, \"level\": 0.9}], [\"9007199254740993\"]]}]}";
	dck_record *r = NULL, *copy = NULL;
	dck_err err = {0};
	record_builder *b = record_new();

	assert_int_equal(dck_record_parse(json, sizeof json - 1, &r, &err), DCK_OK);
	record_copy(b, r);
	record_copy_tables(b, r);
	assert_int_equal(record_finish(b, &copy, NULL), DCK_OK);
	const dck_metric *m = &copy->metrics[0];
	const dck_cell *c = copy->tables[0].cells;
	assert_string_equal(m->def->tag, "future/thing");
	assert_int_equal(m->def->unit, DCK_UNIT_BYTE);
	assert_true(m->value.as.i == 7 && m->lo == 6 && m->hi == 8.5 && m->level == 0.95);
	assert_string_equal(m->narrow, "few");
	assert_true(c[0].value.as.i == 3 && c[0].lo == 2 && c[0].hi == 4 && c[0].level == 0.9);
	assert_true(c[1].value.as.i == 9007199254740993 && c[1].level == 0);
	dck_record_free(copy);
	dck_record_free(r);
}

int test_record_copy(void);
int test_record_copy(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_it_byte_for_byte),
	    cmocka_unit_test(what_a_newer_version_wrote),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
