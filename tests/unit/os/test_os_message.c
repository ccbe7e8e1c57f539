/* test_os_message.c - whole messages between two processes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool at_once(void *asked)
{
	++*(unsigned *)asked;
	return true;
}

static void messages_are_whole(void **state)
{
	int ends[2];
	char got[8] = "";
	unsigned asked = 0;

	(void)state;
	assert_int_equal(os_message_pair(ends, NULL), DCK_OK);
	assert_int_equal(os_message_receive(ends[0], got, 4, at_once, &asked),
			 OS_MESSAGE_CANCELLED);
	assert_int_equal(asked, 1);
	assert_true(os_message_send(ends[1], "four", 4));
	assert_true(os_message_send(ends[1], "seven77", 7));
	assert_true(os_message_send(ends[1], "one", 3));
	assert_int_equal(os_message_receive(ends[0], got, 4, NULL, NULL), OS_MESSAGE_DONE);
	assert_memory_equal(got, "four", 4);
	/* Longer and shorter ones are those of another version. */
	assert_int_equal(os_message_receive(ends[0], got, 4, NULL, NULL), OS_MESSAGE_FOREIGN);
	assert_int_equal(os_message_receive(ends[0], got, 4, NULL, NULL), OS_MESSAGE_FOREIGN);
	os_close(ends[1]);
	assert_int_equal(os_message_receive(ends[0], got, 4, NULL, NULL), OS_MESSAGE_ENDED);
	assert_false(os_message_send(ends[0], "four", 4)); /* and no SIGPIPE */
	os_close(ends[0]);
}

int test_os_message(void);
int test_os_message(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(messages_are_whole),
	};

	return cmocka_run_group_tests_name("os_message", tests, NULL, NULL);
}
