/* test_history_address.c - addresses of PostgreSQL among names of histories, shown without
 * passwords.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_test.h"
#include "history/database.h"

static void what_is_an_address(void **state)
{
	static const char *const yes[] = {"postgresql://", "postgres://h/d", "host=h dbname=d",
					  "service = fleet"},
				 *const no[] = {"history.db", "./host=h", "postgresql", "a=b", ""};

	(void)state;
	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
		assert_true(history_is_address(yes[i]));
	for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
		assert_false(history_is_address(no[i]));
}

static void no_password_is_shown(void **state)
{
	static const char *const rows[][2] = {
	    {"postgresql://u:p@h:5/d", "postgresql://u@h:5/d"},
	    {"postgres://u:p@h/d?sslmode=require&password=p", "postgres://u@h/d?sslmode=require"},
	    {"postgresql://h/d?sslpassword=p&a=b", "postgresql://h/d?a=b"},
	    {"postgresql://u:p@p/p@h/d", "postgresql://u@h/d"},
	    {"postgresql://u@h/d", "postgresql://u@h/d"},
	    {"host=h password=p user=u", "host=h user=u"},
	    {"host=h password = 'p \\' p' user=u", "host=h user=u"},
	    {"password=p\\ p host=h", "host=h"},
	    {"host='a b' sslpassword='p", "host='a b'"},
	    {"a/password=p.db", "a/password=p.db"},
	};
	char shown[200];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		history_address_show(rows[i][0], shown, sizeof shown);
		assert_string_equal(shown, rows[i][1]);
	}
	history_address_show("postgresql://user@host/d", shown, 5);
	assert_string_equal(shown, "post");
	assert_true(history_address_is_doubtful("postgresql://u:p@p@h/d"));
	assert_true(history_address_is_doubtful("postgresql://u:p/p@h/d"));
	assert_false(history_address_is_doubtful("postgresql://u:p@h/d?a=/b"));
	assert_false(history_address_is_doubtful("postgresql:///d?host=/tmp"));
}

int test_history_address(void);
int test_history_address(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_an_address),
	    cmocka_unit_test(no_password_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
