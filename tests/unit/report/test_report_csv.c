/* test_report_csv.c - the CSV writer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"
#include "record/build.h"
#include "report/ops.h"

static void golden_records_as_csv(void **state)
{
	(void)state;
	static const char *const names[] = {"typical", "absent", "empty",   "extreme", "incomplete",
					    "ops",     "cost",	 "profile", "tables"};
	char json[64], csv[64];
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(json, sizeof json, "record_%s.json", names[i]);
		snprintf(csv, sizeof csv, "record_%s.csv", names[i]);
		dck_record *r = golden_record(json);
		const dck_record *one = r;
		dck_buffer got = golden_report("csv", &one, 1, NULL);
		golden_compare(&got, csv);
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* --by: the operators, or sums by type and module. */
static void operators_as_csv(void **state)
{
	(void)state;
	static const struct {
		const char *json, *csv;
		dck_op_view view;
	} all[] = {{"record_cost.json", "record_cost_node.csv", {.by = OPS_BY_NODE}},
		   {"record_cost.json", "record_cost_type.csv", {.by = OPS_BY_TYPE}},
		   {"record_cost.json", "record_cost_module.csv", {.by = OPS_BY_MODULE}},
		   {"record_profile.json",
		    "record_profile_node.csv",
		    {.by = OPS_BY_ALL, .sort = OPS_SORT_TIME, .top = 5}}};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		const dck_style style = {.ops = all[i].view};
		dck_record *r = golden_record(all[i].json);
		const dck_record *one = r;
		dck_buffer got = golden_report("csv", &one, 1, &style);
		golden_compare(&got, all[i].csv);
		dck_buffer_done(&got);
		dck_record_free(r);
	}
}

/* --per run: all runs of every process, including warm-up. */
static void runs_as_csv(void **state)
{
	(void)state;
	static const uint64_t at[] = {5, 25, 40};
	static const double ns[] = {20, 15.5, 14};
	const dck_style style = {.runs = true};
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_set_id(b, "i");
	record_fact_text(b, "subject", "name", "a,b");
	record_series(b, "latency", DCK_UNIT_NS, at, ns, 3, 1);
	record_series(b, "cpu", DCK_UNIT_NS, at, ns, 3, 0);
	record_series(b, "latency/process/2", DCK_UNIT_NS, at, ns, 1, 0);
	record_series(b, "compare/rounds/=x", DCK_UNIT_NS, NULL, ns, 1, 0);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("csv", &one, 1, &style);
	assert_string_equal(got.data, "id,subject,process,run,phase,start_ns,time_ns\r\n"
				      "\"i\",\"a,b\",,1,warmup,5,20\r\n"
				      "\"i\",\"a,b\",,1,measured,25,15.5\r\n"
				      "\"i\",\"a,b\",,2,measured,40,14\r\n"
				      "\"i\",\"a,b\",2,1,measured,5,20\r\n"
				      "\"i\",\"'=x\",,1,measured,,20\r\n");
	dck_buffer_done(&got);
	dck_record_free(r);
}

static dck_record *one_metric(const char *command, double v, const char *how)
{
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_set_id(b, "i");
	record_set_command(b, command);
	record_metric_real(b, "latency/mean", v, how);
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	return r;
}

static void assert_row(const char *command, double v, const char *how, const char *row)
{
	dck_record *r = one_metric(command, v, how);
	const dck_record *one = r;
	dck_buffer got = golden_report("csv", &one, 1, NULL);
	const char *second = strchr(got.data, '\n');
	assert_non_null(second);
	assert_string_equal(second + 1, row);
	dck_buffer_done(&got);
	dck_record_free(r);
}

static void text_is_quoted_and_numbers_are_whole(void **state)
{
	(void)state;
	assert_row(
	    "a \"b\", c\nd", 17624011.25, "x",
	    "\"i\",\"a \"\"b\"\", c\nd\",\"latency/mean\",17624011.25,\"ns\",,,,,\"x\",\r\n");
	assert_row(NULL, 1.0 / 3, NULL,
		   "\"i\",,\"latency/mean\",0.3333333333333333,\"ns\",,,,,,\r\n");
	assert_row(NULL, 0.1, NULL, "\"i\",,\"latency/mean\",0.1,\"ns\",,,,,,\r\n");
}

/* Spreadsheets execute text that looks like a formula; a record may be untrusted. */
static void formulas_are_disarmed_and_numbers_are_not(void **state)
{
	(void)state;
	static const char first[] = "=+-@\t\r\n";
	char how[16], row[128];
	for (size_t i = 0; first[i] != '\0'; i++) {
		snprintf(how, sizeof how, "%c1+1", first[i]);
		snprintf(row, sizeof row, "\"i\",,\"latency/mean\",-2.5,\"ns\",,,,,\"'%s\",\r\n",
			 how);
		if (first[i] == '\r') /* a terminal would move the cursor back */
			strchr(row, '\'')[1] = ' ';
		assert_row(NULL, -2.5, how, row);
	}
	assert_row(NULL, -2.5, "\uff1d1+1",
		   "\"i\",,\"latency/mean\",-2.5,\"ns\",,,,,\"'\uff1d1+1\",\r\n");
	assert_row(NULL, -2.5, "\033[1m\xc2\x9b \u202e \xff",
		   "\"i\",,\"latency/mean\",-2.5,\"ns\",,,,,\" [1m? ? ?\",\r\n");
	assert_row(NULL, -2.5, "a=b", "\"i\",,\"latency/mean\",-2.5,\"ns\",,,,,\"a=b\",\r\n");
}

static void several_records_share_one_header(void **state)
{
	(void)state;
	dck_record *a = one_metric("a", 1, NULL), *b = one_metric("b", 2, NULL);
	const dck_record *both[] = {a, b};
	dck_buffer got = golden_report("csv", both, 2, NULL);
	assert_string_equal(got.data, "id,command,tag,value,unit,lo,hi,level,absent,how,narrow\r\n"
				      "\"i\",\"a\",\"latency/mean\",1,\"ns\",,,,,,\r\n"
				      "\"i\",\"b\",\"latency/mean\",2,\"ns\",,,,,,\r\n");
	dck_buffer_done(&got);
	got = golden_report("csv", NULL, 0, NULL);
	assert_string_equal(got.data,
			    "id,command,tag,value,unit,lo,hi,level,absent,how,narrow\r\n");
	dck_buffer_done(&got);
	dck_record_free(a);
	dck_record_free(b);
}

/* Each cell has a unique tag, whatever the names of the rows. */
static void rows_of_one_name_are_told_apart(void **state)
{
	(void)state;
	static const dck_column columns[] = {{"n", "n", DCK_UNIT_ONE}, {"v", "v", DCK_UNIT_NONE}};
	dck_record *r = NULL;
	record_builder *b = record_new();
	record_table(b, "=t", "t", columns, 2);
	for (int i = 0; i < 4; i++) {
		record_cell_int(b, i < 3 ? 8 : 1024);
		record_cell_text(b, "-x");
	}
	assert_int_equal(record_finish(b, &r, NULL), DCK_OK);
	const dck_record *one = r;
	dck_buffer got = golden_report("csv", &one, 1, NULL);
	assert_string_equal(strchr(got.data, '\n') + 1,
			    "\"\",,\"'=t/8/v\",\"'-x\",\"\",,,,,,\r\n"
			    "\"\",,\"'=t/8#2/v\",\"'-x\",\"\",,,,,,\r\n"
			    "\"\",,\"'=t/8#3/v\",\"'-x\",\"\",,,,,,\r\n"
			    "\"\",,\"'=t/1024/v\",\"'-x\",\"\",,,,,,\r\n");
	dck_buffer_done(&got);
	dck_record_free(r);
}

int test_report_csv(void);
int test_report_csv(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(golden_records_as_csv),
	    cmocka_unit_test(operators_as_csv),
	    cmocka_unit_test(runs_as_csv),
	    cmocka_unit_test(text_is_quoted_and_numbers_are_whole),
	    cmocka_unit_test(formulas_are_disarmed_and_numbers_are_not),
	    cmocka_unit_test(several_records_share_one_header),
	    cmocka_unit_test(rows_of_one_name_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
