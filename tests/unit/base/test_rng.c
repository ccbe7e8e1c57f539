/* SPDX-License-Identifier: Apache-2.0 */
/* Published reference values: seeds, file names and saved records depend on them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"

static void the_numbers_are_those_of_splitmix64(void **state)
{
	static const uint64_t expected[] = {UINT64_C(6457827717110365317),
					    UINT64_C(3203168211198807973),
					    UINT64_C(9817491932198370423)};
	uint64_t stream = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		assert_true(rng_at(1234567, i + 1) == expected[i]);
		assert_true(rng_next(&stream) == expected[i]);
	}
}

static void each_number_below_n_comes(void **state)
{
	uint64_t stream = 1;
	unsigned seen = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		const size_t k = rng_below(&stream, 7);

		assert_true(k < 7);
		seen |= 1u << k;
	}
	assert_int_equal(seen, (1u << 7) - 1);
}

static void the_hash_is_fnv_1a(void **state)
{
	(void)state;
	assert_true(hash_text(HASH_START, "") == HASH_START);
	assert_true(hash_text(HASH_START, "a") == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_text(HASH_START, "foobar") == UINT64_C(0x85944171f73967e8));
	assert_true(hash_bytes(hash_text(HASH_START, "foo"), "bar", 3) ==
		    hash_text(HASH_START, "foobar"));
	assert_true(hash_number(hash_number(0, 1), 2) != hash_number(hash_number(0, 2), 1));
}

int test_rng(void);
int test_rng(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_numbers_are_those_of_splitmix64),
	    cmocka_unit_test(each_number_below_n_comes),
	    cmocka_unit_test(the_hash_is_fnv_1a),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
