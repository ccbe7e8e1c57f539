/* test_rank_link.c - ranks in one process that find each other: parts arrive, strangers and lost
 * ranks do not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "os/net/network.h"
#include "profiler/ranks/rank_link.h"
#include "profiler/ranks/rank_message.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

int test_rank_link(void);

/* Longer than any wait for a busy machine. */
#define PATIENCE_NS UINT64_C(50000000000)

static rank_meeting meeting_file(const char *name)
{
	rank_meeting m = {.host = "127.0.0.1"};

	snprintf(m.file, sizeof m.file, "%s", name);
	return m;
}

/* A rank sends its part. */
static void part_send(const rank_meeting *where, uint32_t rank, const void *bytes, size_t n)
{
	rank_meeting m = *where;
	const rank_exchange *e;
	rank_client *c;
	size_t exchanges;

	m.token[0] = '\0';
	assert_int_equal(rank_client_start(&m, rank, &c, NULL), DCK_OK);
	rank_client_clock(c, PATIENCE_NS, &e, &exchanges);
	assert_true(exchanges >= 8);
	for (size_t i = 0; i < exchanges; i++) {
		assert_true(e[i].sent_ns <= e[i].received_ns);
		assert_true(e[i].received_ns <= e[i].answered_ns);
		assert_true(e[i].answered_ns <= e[i].returned_ns);
	}
	assert_int_equal(rank_client_send(c, bytes, n, PATIENCE_NS, NULL), DCK_OK);
	rank_client_stop(c);
}

/* The file of a rank's part has these bytes. */
static void part_is(const rank_server *s, uint32_t rank, const char *bytes, size_t n)
{
	static char back[4000000];
	rank_absence absence;
	char path[200];

	assert_true(rank_server_part(s, rank, path, sizeof path, &absence));
	assert_null(absence.why);
	FILE *f = fopen(path, "rb");
	assert_int_equal(fread(back, 1, sizeof back, f), n);
	fclose(f);
	assert_memory_equal(back, bytes, n);
}

static void part_is_missing(const rank_server *s, uint32_t rank, const char *because)
{
	rank_absence absence;
	char path[200];

	assert_false(rank_server_part(s, rank, path, sizeof path, &absence));
	assert_string_equal(absence.why, because);
	assert_non_null(absence.remedy);
}

static void parts_arrive(void **state)
{
	rank_meeting m = meeting_file("parts");
	static char large[3000000];
	rank_server *s;
	struct stat st;

	(void)state;
	memset(large, 'x', sizeof large);
	assert_int_equal(rank_server_start(&m, 4, ".", false, &s, NULL), DCK_OK);
	assert_int_equal(stat(m.file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	part_send(&m, 1, "one", 3);
	part_send(&m, 2, large, sizeof large);
	/* Rank 3 never comes: the wait ends at its deadline. */
	rank_server_wait(s, os_now_ns() + 1000000, NULL, NULL);
	rank_server_close(s);
	part_is(s, 1, "one", 3);
	part_is(s, 2, large, sizeof large);
	part_is_missing(s, 3, "it never connected to rank 0");
	rank_server_stop(s);
	assert_int_equal(access(m.file, F_OK), -1);
}

/* A part that cannot be stored costs itself alone. */
static void a_directory_is_gone(void **state)
{
	rank_meeting m = meeting_file("gone");
	rank_server *s;

	(void)state;
	assert_int_equal(rank_server_start(&m, 2, "no-such", false, &s, NULL), DCK_OK);
	part_send(&m, 1, "one", 3);
	rank_server_wait(s, os_now_ns() + PATIENCE_NS, NULL, NULL);
	rank_server_close(s);
	part_is_missing(s, 1, "its part could not be stored below $TMPDIR at rank 0");
	rank_server_stop(s);
}

static void bytes_write(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

/* A trace of several chunks comes to a file of rank 0; where none was requested, it is
 * refused with the rank. */
static void traces_arrive(void **state)
{
	rank_meeting m = meeting_file("traces"), own;
	static char large[RANK_CHUNK_MAX + 12345], back[sizeof large + 1];
	const rank_exchange *e;
	rank_server *s;
	rank_client *c;
	char path[200];
	size_t n;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof large; i++)
		large[i] = (char)(i * 31 >> 3);
	bytes_write("own.pftrace", large, sizeof large);
	for (int stores = 1; stores >= 0; stores--) {
		assert_int_equal(rank_server_start(&m, 2, ".", stores, &s, NULL), DCK_OK);
		own = m;
		assert_int_equal(rank_client_start(&own, 1, &c, NULL), DCK_OK);
		rank_client_clock(c, PATIENCE_NS, &e, &n);
		assert_int_equal(rank_client_trace(c, "no-such", PATIENCE_NS, &err), DCK_E_IO);
		assert_non_null(strstr(err.msg, "no-such"));
		assert_int_equal(rank_client_trace(c, "own.pftrace", PATIENCE_NS, NULL), DCK_OK);
		assert_int_equal(rank_client_send(c, "part", 4, PATIENCE_NS, NULL),
				 stores ? DCK_OK : DCK_E_IO);
		rank_client_stop(c);
		rank_server_wait(s, os_now_ns() + PATIENCE_NS, NULL, NULL);
		rank_server_close(s);
		assert_int_equal(rank_server_trace(s, 1, path, sizeof path), stores);
		rank_server_stop(s);
	}
	FILE *f = fopen(path, "rb");
	assert_int_equal(fread(back, 1, sizeof back, f), sizeof large);
	fclose(f);
	assert_memory_equal(back, large, sizeof large);
}

static int meeting_dial(const rank_meeting *m)
{
	char port[8];
	int fd;

	snprintf(port, sizeof port, "%u", m->port);
	assert_int_equal(os_net_dial(m->host, port, 60000, NULL, &fd, NULL), DCK_OK);
	return fd;
}

/* Sends a hello, and returns whether the server welcomes it. */
static bool welcomed(const rank_meeting *m, const char *token, uint32_t rank, int *ret_fd)
{
	struct {
		rank_head head;
		rank_hello hello;
	} message = {{RANK_HELLO, sizeof(rank_hello)}, {.rank = rank}};
	rank_head answer;
	const uint64_t deadline = os_now_ns() + PATIENCE_NS;

	memcpy(message.hello.token, token, sizeof message.hello.token);
	*ret_fd = meeting_dial(m);
	assert_true(os_net_send_all(*ret_fd, &message, sizeof message, deadline));
	if (!os_net_receive_all(*ret_fd, &answer, sizeof answer, deadline))
		return false;
	return answer.kind == RANK_WELCOME;
}

static void strangers_are_refused(void **state)
{
	static const char wrong[RANK_TOKEN_SIZE] = "00000000000000000000000000000000";
	const rank_head huge = {RANK_RESULT, UINT32_MAX};
	rank_meeting m = meeting_file("strangers");
	rank_server *s;
	size_t n;
	int fd[6];

	(void)state;
	assert_int_equal(rank_server_start(&m, 3, ".", false, &s, NULL), DCK_OK);
	assert_int_equal(strlen(m.token), RANK_TOKEN_SIZE - 1);
	assert_false(welcomed(&m, wrong, 1, &fd[0]));
	assert_false(welcomed(&m, m.token, 0, &fd[1])); /* nobody else is rank 0 */
	assert_false(welcomed(&m, m.token, 3, &fd[2]));
	assert_true(welcomed(&m, m.token, 1, &fd[3]));
	assert_false(welcomed(&m, m.token, 1, &fd[4])); /* a second one of that rank */
	/* A rank that announces more than is allowed is lost; the other one is not. */
	assert_true(os_net_send_all(fd[3], &huge, sizeof huge, os_now_ns() + PATIENCE_NS));
	assert_false(os_net_receive_all(fd[3], &n, 1, os_now_ns() + PATIENCE_NS));
	/* Some bytes of nothing. */
	fd[5] = meeting_dial(&m);
	assert_true(
	    os_net_send_all(fd[5], "GET / HTTP/1.1\r\n\r\n", 18, os_now_ns() + PATIENCE_NS));
	assert_false(os_net_receive_all(fd[5], &n, 1, os_now_ns() + PATIENCE_NS));
	part_send(&m, 2, "two", 3);
	rank_server_wait(s, os_now_ns() + PATIENCE_NS, NULL, NULL);
	rank_server_close(s);
	part_is_missing(s, 1, "its connection ended before its part came");
	part_is(s, 2, "two", 3);
	rank_server_stop(s);
	for (size_t i = 0; i < sizeof fd / sizeof fd[0]; i++)
		os_close(fd[i]);
}

/* Two processes with one rank: the second learns it at once, and the first is not disturbed. */
static void a_rank_is_taken(void **state)
{
	rank_meeting m = meeting_file("taken"), own = m;
	const rank_exchange *e;
	rank_server *s;
	rank_client *c;
	dck_err err;
	size_t n;
	int fd;

	(void)state;
	assert_int_equal(rank_server_start(&m, 3, ".", false, &s, NULL), DCK_OK);
	assert_true(welcomed(&m, m.token, 1, &fd));
	assert_int_equal(rank_client_start(&own, 1, &c, NULL), DCK_OK);
	rank_client_clock(c, PATIENCE_NS, &e, &n);
	assert_int_equal(n, 0);
	assert_int_equal(rank_client_send(c, "x", 1, PATIENCE_NS, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "another process of the job has that rank"));
	rank_client_stop(c);
	rank_server_stop(s);
	os_close(fd);
}

static bool always(void *self)
{
	(void)self;
	return true;
}

/* An interruption ends the wait, after a grace for parts that are on their way. */
static void an_interruption_has_a_grace(void **state)
{
	rank_meeting m = meeting_file("interrupted");
	rank_server *s;
	int fd;

	(void)state;
	assert_int_equal(rank_server_start(&m, 3, ".", false, &s, NULL), DCK_OK);
	part_send(&m, 1, "one", 3);
	assert_true(welcomed(&m, m.token, 2, &fd));
	rank_server_wait(s, os_now_ns() + 10 * PATIENCE_NS, always, NULL);
	rank_server_close(s);
	part_is(s, 1, "one", 3);
	part_is_missing(s, 2, "the job was interrupted before its part came");
	rank_server_stop(s);
	os_close(fd);
}

/* Without rank 0 the others get a message, and the wait is bounded. */
static void nobody_answers(void **state)
{
	rank_meeting m = meeting_file("nobody");
	const rank_exchange *e;
	rank_client *c;
	dck_err err;
	size_t n;

	(void)state;
	assert_int_equal(rank_client_start(&m, 1, &c, NULL), DCK_OK);
	rank_client_clock(c, 1000000, &e, &n);
	assert_int_equal(n, 0);
	assert_int_equal(rank_client_send(c, "x", 1, 1000000, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "nobody answered"));
	rank_client_stop(c);
}

/* A host that drops packets, as one whose queue of connections is full does: an attempt ends after
 * its time, where the kernel would try for two minutes. */
static void packets_are_dropped(void **state)
{
	rank_meeting m = {.host = "127.0.0.1", .token = "-"};
	const rank_exchange *e;
	os_net_address at;
	rank_client *c;
	char port[8];
	int fd, queued[4], n = 0;
	dck_err err;
	size_t exchanges;

	(void)state;
	assert_int_equal(os_net_listen(m.host, "0", &at, &fd, NULL), DCK_OK);
	assert_int_equal(listen(fd, 0), 0);
	m.port = os_net_port(&at);
	snprintf(port, sizeof port, "%u", m.port);
	while (n < 4 && os_net_dial(m.host, port, 100, NULL, &queued[n], &err) == DCK_OK)
		n++;
	assert_in_range(n, 1, 3);
	assert_int_equal(err.code, DCK_E_IO);
	assert_non_null(strstr(err.msg, "timed out"));
	assert_int_equal(rank_client_start(&m, 1, &c, NULL), DCK_OK);
	rank_client_clock(c, 100000000, &e, &exchanges);
	assert_int_equal(rank_client_send(c, "x", 1, 1000000, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "timed out"));
	rank_client_stop(c);
	while (n > 0)
		os_close(queued[--n]);
	os_close(fd);
}

/* A file that others can write is not believed. */
static void a_file_of_others(void **state)
{
	rank_meeting m = meeting_file("others"), read = m;

	(void)state;
	m.port = 4711;
	assert_false(rank_meeting_read(&read));
	assert_int_equal(rank_meeting_publish(&m, NULL), DCK_OK);
	assert_true(rank_meeting_read(&read));
	assert_int_equal(read.port, 4711);
	assert_string_equal(read.token, m.token);
	assert_int_equal(chmod(m.file, 0666), 0);
	assert_false(rank_meeting_read(&read));
	assert_int_equal(os_private_write(m.file, "deepclock ranks 1\nhost\n", NULL), DCK_OK);
	assert_false(rank_meeting_read(&read));
	rank_meeting_end(&m);
}

static void where_ranks_meet(void **state)
{
	os_job one = {.launcher = "torchrun",
		      .size = 4,
		      .local_size = 4,
		      .address = "head",
		      .id = "29500/a/0"};
	os_job many = one, other = one, nowhere = one;
	rank_meeting m, n;
	dck_err err;

	(void)state;
	many.local_size = nowhere.local_size = 2;
	strcpy(other.id, "29501/a/0");
	nowhere.address[0] = '\0';
	unsetenv("DEEPCLOCK_RANKS_TOKEN");
	assert_int_equal(rank_meeting_choose(&one, NULL, &m, NULL), DCK_OK);
	assert_int_equal(rank_meeting_choose(&other, NULL, &n, NULL), DCK_OK);
	assert_string_equal(m.host, "127.0.0.1");
	assert_string_not_equal(m.file, n.file);
	/* Several nodes: the same port and token for all, which a secret changes. */
	assert_int_equal(rank_meeting_choose(&many, NULL, &m, NULL), DCK_OK);
	assert_string_equal(m.file, "");
	assert_string_equal(m.host, "head");
	assert_in_range(m.port, 16384, 32767);
	setenv("DEEPCLOCK_RANKS_TOKEN", "secret", 1);
	assert_int_equal(rank_meeting_choose(&many, NULL, &n, NULL), DCK_OK);
	unsetenv("DEEPCLOCK_RANKS_TOKEN");
	assert_int_equal(m.port, n.port);
	assert_string_not_equal(m.token, n.token);
	assert_int_equal(rank_meeting_choose(&nowhere, NULL, &m, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "--rendezvous"));
	/* Given. */
	assert_int_equal(rank_meeting_choose(&many, "[::1]:99", &m, NULL), DCK_OK);
	assert_string_equal(m.host, "::1");
	assert_int_equal(m.port, 99);
	assert_int_equal(rank_meeting_choose(&many, "/shared/file:1", &m, NULL), DCK_OK);
	assert_string_equal(m.file, "/shared/file:1");
	assert_string_equal(m.host, "head");
	assert_int_equal(rank_meeting_choose(&many, "", &m, &err), DCK_E_ARG);
}

int test_rank_link(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts_arrive),	   cmocka_unit_test(strangers_are_refused),
	    cmocka_unit_test(traces_arrive),	   cmocka_unit_test(nobody_answers),
	    cmocka_unit_test(a_rank_is_taken),	   cmocka_unit_test(an_interruption_has_a_grace),
	    cmocka_unit_test(packets_are_dropped), cmocka_unit_test(a_file_of_others),
	    cmocka_unit_test(where_ranks_meet),	   cmocka_unit_test(a_directory_is_gone),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
