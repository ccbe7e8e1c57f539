/* test_server_cache.c - the counters of a server's cache in Prometheus' text format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/server/server_cache.h"

static cache_counters counters_of(const char *text)
{
	cache_counters c;

	cache_counters_read(text, strlen(text), &c);
	return c;
}

static void known_servers(void **state)
{
	cache_counters c =
	    counters_of("# HELP vllm:prefix_cache_hits_total 7\n"
			"vllm:prefix_cache_hits_total{a=\"x} 5 \\\" \",b=\"\"} 12.0\n"
			"vllm:prefix_cache_hits_total{a=\"y\"} 3 1700000000000\n"
			"vllm:prefix_cache_hits_created{a=\"y\"} 1e9\n"
			"vllm:prefix_cache_queries_total 1e2");

	(void)state;
	assert_string_equal(c.server, "vLLM");
	assert_true(c.hits == 15 && c.tokens == 100);
	c = counters_of(
	    "sglang:cached_tokens_total{m=\"a\"} 4\r\nsglang:prompt_tokens_total 9\r\n");
	assert_string_equal(c.server, "SGLang");
	assert_true(c.hits == 4 && c.tokens == 9);
	c = counters_of("vllm:gpu_prefix_cache_hits 1\nvllm:gpu_prefix_cache_queries 2\n");
	assert_true(c.hits == 1 && c.tokens == 2);
}

static void other_texts(void **state)
{
	static const char *const texts[] = {
	    "",
	    "\n\n\n",
	    "vllm:prefix_cache_hits_total 5\n", /* without the other one */
	    "vllm:prefix_cache_hits_total{ 5\nvllm:prefix_cache_queries_total{a=\"} 6\n",
	    "vllm:prefix_cache_hits_total\nvllm:prefix_cache_queries_total\n",
	    "vllm:prefix_cache_hits_total -1\nvllm:prefix_cache_queries_total 1\n",
	    "vllm:prefix_cache_hits_total NaN\nvllm:prefix_cache_queries_total +Inf\n",
	    "vllm:prefix_cache_hits_total 1x\nvllm:prefix_cache_queries_total 1\n",
	    "vllm:prefix_cache_hits_total{a=\"\\",
	    "<html>not found</html>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_null(counters_of(texts[i]).server);
}

int test_server_cache(void);
int test_server_cache(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(known_servers),
	    cmocka_unit_test(other_texts),
	};

	return cmocka_run_group_tests_name("server_cache", tests, NULL, NULL);
}
