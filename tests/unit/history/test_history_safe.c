/* test_history_safe.c - no loss of records and no change of other files: several writers, killed
 * writers, damaged and foreign files, full disks, locks and permissions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_test.h"
#include "base/hash.h"
#include "history/store.h"
#include "history/lazy_sqlite.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WRITERS 8
#define EACH	50

static void sound(uint64_t records)
{
	dck_history *h = history_here();
	dck_history_health health;
	dck_err err = {0};

	if (dck_history_check(h, &health, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(health.records == records);
	dck_history_close(h);
}

static uint64_t file_hash(const char *path)
{
	dck_buffer b = {0};
	uint64_t sum;

	assert_int_equal(os_read_file(path, SIZE_MAX / 2, &b, NULL), DCK_OK);
	sum = hash_bytes(HASH_START, b.data, b.n);
	dck_buffer_done(&b);
	return sum;
}

/* --- several writers; each opens the history again for every other record */

static int writer(int number)
{
	dck_history *h = NULL;

	for (int i = 0; i < EACH; i++) {
		dck_err err = {0};

		if (!h && history_open_file(file, &h, &err) != DCK_OK) {
			fprintf(stderr, "writer %d opens: %s\n", number, err.msg);
			return 1;
		}
		if (add_number(h, number * EACH + i, i, NULL, &err) != DCK_OK) {
			fprintf(stderr, "writer %d adds: %s\n", number, err.msg);
			return 1;
		}
		if (i % 2) {
			dck_history_close(h);
			h = NULL;
		}
	}
	dck_history_close(h);
	return 0;
}

static void many_writers(void **state)
{
	pid_t child[WRITERS];
	int status;

	(void)state;
	for (int i = 0; i < WRITERS; i++) {
		child[i] = fork();
		assert_true(child[i] >= 0);
		if (child[i] == 0)
			_exit(writer(i));
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	sound(WRITERS * EACH);
}

/* --- killed during a write: all records reported as saved are present */

static void killed_writers(void **state)
{
	/* The number of records that the writers reported as saved. */
	volatile int *said =
	    mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint32_t random = 12345;
	dck_history *h;
	int killed = 0;

	(void)state;
	assert_true(said != MAP_FAILED);
	for (int round = 0; round < 20; round++) {
		const pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			dck_history *mine;

			if (history_open_file(file, &mine, NULL) != DCK_OK)
				_exit(1);
			for (;;) { /* ids of earlier writers are not used again */
				char id[64];
				const int i = *said;

				snprintf(id, sizeof id, "%05d-%d", i, round);
				if (add_made(mine,
					     &(made){.id = id,
						     .began = BEGAN + i,
						     .median = i,
						     .samples = 2000},
					     NULL, NULL) != DCK_OK)
					_exit(1);
				*said = i + 1;
			}
		}
		/* Sends the signal after at least one save, during the next one. */
		for (const int before = *said;
		     *said == before && waitpid(child, &status, WNOHANG) == 0;)
			os_sleep_ns(1000000, NULL, NULL);
		random = random * 1103515245 + 12345;
		os_sleep_ns((random >> 8) % 30000000, NULL, NULL);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		killed += WIFSIGNALED(status);
	}
	assert_int_equal(killed, 20);
	assert_true(*said >= 20);
	h = history_here();
	/* A writer may be killed between commit and count: at most one record per writer. */
	assert_true(size_of(h) >= (uint64_t)*said && size_of(h) <= (uint64_t)*said + 20);
	for (int i = 0; i < *said; i++) {
		char begin[16], id[DCK_HISTORY_ID_SIZE];
		dck_record *r;
		dck_err err = {0};
		dck_status found;

		snprintf(begin, sizeof begin, "%05d-", i);
		found = dck_history_find(h, begin, id, &err);
		assert_true(found == DCK_OK || (found == DCK_E_ARG && strstr(err.msg, "several")));
		if (found == DCK_OK) {
			assert_int_equal(dck_history_get(h, id, &r, NULL), DCK_OK);
			dck_record_free(r);
		}
	}
	const uint64_t n = size_of(h);
	dck_history_close(h);
	sound(n);
	munmap((void *)said, sizeof *said);
}

/* --- foreign and damaged files, which stay unchanged */

static void filled(int n, size_t samples)
{
	dck_history *h = history_here();

	for (int i = 0; i < n; i++) {
		char id[40];

		snprintf(id, sizeof id, "%05d", i);
		assert_int_equal(
		    add_made(
			h,
			&(made){.id = id, .began = BEGAN + i, .median = i + 1, .samples = samples},
			NULL, NULL),
		    DCK_OK);
	}
	dck_history_close(h);
}

/* Opening, or the calls after it, fails with one message, and the file stays unchanged. */
static void refused(dck_status code, const char *said)
{
	const uint64_t before = file_hash(file);
	dck_history *h = NULL;
	dck_record *r = record_of(&(made){.id = "new", .began = BEGAN, .median = 1});
	dck_err err = {0};
	dck_status status = history_open_file(file, &h, &err);

	if (status == DCK_OK)
		status = dck_history_add(h, r, NULL, NULL, &err);
	dck_history_close(h);
	dck_record_free(r);
	if (status != code || !strstr(err.msg, said))
		fail_msg("%s: %s", dck_status_name(status), status ? err.msg : "");
	assert_null(strchr(err.msg, '\n'));
	assert_true(file_hash(file) == before);
}

static void write_at(long at, const void *bytes, size_t n)
{
	const int fd = open(file, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, at), (ssize_t)n);
	close(fd);
}

static void strange_files(void **state)
{
	static const char text[] = "this is a letter and no database, and it is to stay one";
	char noise[20000];

	(void)state;
	os_random_bytes(noise, sizeof noise);
	noise[0] = 'X';
	write_at(0, text, sizeof text);
	refused(DCK_E_FORMAT, "not an SQLite file");
	write_at(0, noise, sizeof noise);
	refused(DCK_E_FORMAT, "not an SQLite file");
	unlink(file);
	write_at(0, "SQ", 2);
	refused(DCK_E_FORMAT, "not an SQLite file");
	unlink(file);
	write_at(0, "SQLite format 3", 16);
	refused(DCK_E_FORMAT, "");
	/* A valid header followed by random bytes. */
	memcpy(noise, "SQLite format 3", 16);
	write_at(0, noise, sizeof noise);
	refused(DCK_E_FORMAT, "");
}

static void damaged_files(void **state)
{
	char noise[3000];
	struct stat st;

	(void)state;
	os_random_bytes(noise, sizeof noise);
	filled(40, 100);
	assert_int_equal(stat(file, &st), 0);
	assert_true(st.st_size > 100000);
	/* Truncated in the middle, and just before the end. */
	assert_int_equal(truncate(file, st.st_size - 1000), 0);
	refused(DCK_E_FORMAT, "damaged");
	assert_int_equal(truncate(file, st.st_size / 2), 0);
	refused(DCK_E_FORMAT, "damaged");
	assert_int_equal(truncate(file, 5000), 0);
	refused(DCK_E_FORMAT, "damaged");
	assert_int_equal(truncate(file, 100), 0);
	refused(DCK_E_FORMAT, "");
}

static void random_damage(void **state)
{
	char noise[4096];
	int found = 0;

	(void)state;
	for (long page = 1; page < 18; page++) {
		struct stat st;

		filled(20, 50);
		assert_int_equal(stat(file, &st), 0);
		assert_true(page * 4096 < st.st_size);
		memset(noise, 0x5a + (int)page, sizeof noise);
		write_at(page * 4096, noise, sizeof noise);
		const uint64_t before = file_hash(file);
		dck_history *h = NULL;
		dck_history_health health;
		dck_err err = {0};
		dck_status status = history_open_file(file, &h, &err);

		if (status == DCK_OK) /* inside a record's text: its checksum detects the change */
			status = dck_history_check(h, &health, &err);
		dck_history_close(h);
		if (status != DCK_E_FORMAT || !strstr(err.msg, "damaged"))
			fail_msg("page %ld: %s", page, status ? err.msg : "not seen");
		assert_true(file_hash(file) == before);
		found++;
		unlink(file);
	}
	assert_int_equal(found, 17);
}

static void sql(const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void other_databases(void **state)
{
	(void)state;
	sql("CREATE TABLE letters (text); INSERT INTO letters VALUES ('dear')");
	refused(DCK_E_FORMAT, "another program");
	unlink(file);
	filled(2, 1);
	sql("PRAGMA user_version=1000");
	refused(DCK_E_VERSION, "newer deepclock");
	/* A history with missing tables. */
	unlink(file);
	sql("CREATE TABLE x (y); PRAGMA application_id=1145260872; PRAGMA user_version=2");
	refused(DCK_E_FORMAT, "damaged");
}

/* Wrong checksums, and an index that contradicts the records. */
static void check_sees(void **state)
{
	static const struct {
		const char *sql, *said;
	} cases[] = {
	    {"UPDATE texts SET json = replace(json, 'zoo:a', 'zoo:b') WHERE seq = 2",
	     "has changed"},
	    {"UPDATE records SET subject = 'zoo:b' WHERE seq = 2", "index contradicts"},
	    {"DELETE FROM metrics WHERE seq = 2", "index contradicts"},
	    {"DELETE FROM texts WHERE seq = 2", "has no record 00001"},
	};
	dck_history_health health;
	dck_history *h;
	dck_record *r;
	dck_err err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		filled(3, 1);
		sql(cases[i].sql);
		h = history_here();
		assert_true(dck_history_check(h, &health, &err) != DCK_OK);
		assert_non_null(strstr(err.msg, cases[i].said));
		if (i == 0)
			assert_int_equal(dck_history_get(h, "00001", &r, &err), DCK_E_FORMAT);
		dck_history_close(h);
		unlink(file);
	}
}

/* --- older versions */

/* What version 5 added. */
#define UNDO_5 "ALTER TABLE records DROP COLUMN host; ALTER TABLE records DROP COLUMN branch; "

static void older_versions(void **state)
{
	dck_history *h;
	dck_record *r, *base;

	(void)state;
	assert_true(dck_history_schema() > 1);
	/* The schema of the first version, with a record in it. */
	filled(1, 1);
	sql(UNDO_5 "DROP INDEX records_alike; PRAGMA user_version=1");
	h = history_here();
	assert_int_equal(size_of(h), 1);
	r = record_of(&(made){.id = "now", .began = BEGAN + 9, .median = 1, .samples = 1});
	assert_int_equal(dck_history_baseline(h, r, &base, NULL), DCK_OK);
	assert_string_equal(base->id, "00000");
	dck_record_free(base);
	dck_record_free(r);
	dck_history_close(h);
	/* A failed migration step rolls back everything. */
	sql("PRAGMA user_version=1");
	refused(DCK_E_IO, "records_alike");
	sql(UNDO_5 "DROP INDEX records_alike");
	sound(1);
}

/* Keys written by an older version are computed again, except for a damaged record. */
static void older_keys(void **state)
{
	dck_history_trend_config c;
	dck_history_trend *t;
	dck_history *h;

	(void)state;
	filled(4, 1);
	sql(UNDO_5
	    "UPDATE records SET method = seq, machine = 'old'; UPDATE texts SET json = '{' WHERE "
	    "seq = "
	    "2; PRAGMA user_version=2");
	h = history_here();
	dck_history_trend_config_init(&c);
	assert_int_equal(dck_history_trend_get(h, NULL, &c, &t, NULL), DCK_OK);
	assert_int_equal(t->n, 3);
	assert_int_equal(t->other, 1);
	dck_history_trend_free(t);
	dck_history_close(h);
}

/* --- full disks */

static void limited(void *self, dck_sink *out)
{
	const struct rlimit most = {300000, 300000};
	dck_history *h = NULL;
	dck_err err = {0};
	dck_status status;
	int added = 0;
	char id[40], said[600];
	ssize_t n;

	(void)self;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &most);
	status = history_open_file(file, &h, &err);
	while (status == DCK_OK && added < 1000) {
		snprintf(id, sizeof id, "x%05d", added);
		status = add_made(
		    h, &(made){.id = id, .began = BEGAN + added, .median = 1, .samples = 1000},
		    NULL, &err);
		added += status == DCK_OK;
	}
	snprintf(said, sizeof said, "%d %d %s", added, (int)status, err.msg);
	n = write(out->fd, said, strlen(said));
	(void)n;
	/* Without closing: the next process that opens the file reads the log. */
	_exit(0);
}

/* Limits the size of every file, as on a full disk. */
static void full_disk(void **state)
{
	dck_buffer out = {0};
	int added = 0, status = 0;

	(void)state;
	filled(3, 100);
	assert_int_equal(os_in_child(limited, NULL, UINT64_C(60000000000), 4096, &out, NULL),
			 DCK_OK);
	assert_int_equal(sscanf(out.data, "%d %d", &added, &status), 2);
	if (added < 1 || added > 100 || status != DCK_E_IO || !strstr(out.data, "the history") ||
	    !strstr(out.data, "File too large"))
		fail_msg("%s", out.data);
	dck_buffer_done(&out);
	sound((uint64_t)(3 + added));
}

static void no_room_to_begin(void *self, dck_sink *out)
{
	const struct rlimit most = {1000, 1000};
	dck_history *h = NULL;
	dck_err err = {0};
	dck_status status;
	ssize_t n;

	(void)self;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &most);
	status = history_open_file(file, &h, &err);
	n = write(out->fd, status == DCK_E_IO ? "E_IO " : "no ", 5);
	n = write(out->fd, err.msg, strlen(err.msg));
	(void)n;
	_exit(0);
}

static void full_from_the_start(void **state)
{
	dck_buffer out = {0};

	(void)state;
	assert_int_equal(
	    os_in_child(no_room_to_begin, NULL, UINT64_C(60000000000), 4096, &out, NULL), DCK_OK);
	if (strncmp(out.data, "E_IO cannot", 11) != 0)
		fail_msg("%s", out.data);
	dck_buffer_done(&out);
	/* With space available again it works. */
	filled(1, 1);
	sound(1);
}

/* --- locks and permissions */

/* Counts the records that prune would remove of two if one is to stay. */
static dck_status would_prune(dck_history *h, dck_err *err)
{
	dck_history_pruned n = {0};
	const dck_status status = dck_history_prune(
	    h, NULL, &(dck_history_prune_config){.keep = 1, .dry_run = true}, &n, err);

	return status == DCK_OK && (n.removed != 1 || n.kept != 1) ? DCK_E_FORMAT : status;
}

static void locked(void **state)
{
	dck_history_config c;
	dck_history *h, *second;
	sqlite3 *db;
	dck_err err;

	(void)state;
	filled(2, 1);
	dck_history_config_init(&c);
	c.path = file;
	c.wait_ns = 200000000;
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	/* Reading works while another process writes, and so does a dry run of prune. */
	assert_int_equal(dck_history_open(&c, &h, &err), DCK_OK);
	assert_int_equal(size_of(h), 2);
	assert_int_equal(would_prune(h, &err), DCK_OK);
	assert_int_equal(add_number(h, 7, 1, NULL, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "another program holds it"));
	assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(add_number(h, 7, 1, NULL, &err), DCK_OK);
	dck_history_close(h);
	assert_int_equal(
	    sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL),
	    SQLITE_OK);
	assert_int_equal(dck_history_open(&c, &second, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "another program holds it"));
	sqlite3_close(db);
	sound(3);
}

/* Drops root's privileges, because root may do anything. */
static void unprivileged(void)
{
	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		_exit(1);
}

typedef struct permission {
	mode_t scratch_path, file;
	bool reads, adds;
	const char *said;
} permission;

static void permission_try(void *self, dck_sink *out)
{
	const permission *p = self;
	dck_history *h = NULL;
	dck_err err = {.msg = "nothing"};
	uint64_t n = 0;
	dck_status status;
	bool reads, adds, said;
	ssize_t w;

	unprivileged();
	status = history_open_file(file, &h, &err);
	reads = status == DCK_OK && dck_history_size(h, NULL, &n, &err) == DCK_OK && n == 2 &&
		would_prune(h, &err) == DCK_OK;
	adds = reads && add_number(h, 9, 1, NULL, &err) == DCK_OK;
	said = !p->said || strstr(err.msg, p->said);
	dck_history_close(h);
	if (reads == p->reads && adds == p->adds && said)
		w = write(out->fd, "as it should", 12);
	else
		w = write(out->fd, err.msg, strlen(err.msg));
	(void)w;
	_exit(0);
}

static void permissions(void **state)
{
	static const permission cases[] = {
	    {0777, 0666, true, true, NULL},
	    {0777, 0444, true, false, "may only be read"},
	    {0555, 0444, true, false, "may only be read"},
	    {0777, 0000, false, false, "Permission denied"},
	    {0000, 0666, false, false, "Permission denied"},
	};
	dck_buffer out = {0};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		filled(2, 1);
		assert_int_equal(chmod(file, cases[i].file), 0);
		assert_int_equal(chmod(scratch_path, cases[i].scratch_path), 0);
		assert_int_equal(os_in_child(permission_try, (void *)&cases[i],
					     UINT64_C(60000000000), 4096, &out, NULL),
				 DCK_OK);
		assert_int_equal(chmod(scratch_path, 0700), 0);
		if (strcmp(out.data, "as it should") != 0)
			fail_msg("case %zu: %s", i, out.data);
		out.n = 0;
		char path[sizeof file + 8];
		unlink(file);
		snprintf(path, sizeof path, "%s-wal", file);
		unlink(path);
		snprintf(path, sizeof path, "%s-shm", file);
		unlink(path);
	}
	dck_buffer_done(&out);
}

int test_history_safe(void);
int test_history_safe(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(many_writers),	       SCRATCH_TEST(killed_writers),
	    SCRATCH_TEST(strange_files),       SCRATCH_TEST(damaged_files),
	    SCRATCH_TEST(random_damage),       SCRATCH_TEST(other_databases),
	    SCRATCH_TEST(check_sees),	       SCRATCH_TEST(older_versions),
	    SCRATCH_TEST(older_keys),	       SCRATCH_TEST(full_disk),
	    SCRATCH_TEST(full_from_the_start), SCRATCH_TEST(locked),
	    SCRATCH_TEST(permissions),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
