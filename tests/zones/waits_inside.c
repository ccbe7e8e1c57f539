/* waits_inside.c - waits in system calls inside libc, or by syscall(): each waits at least 50 ms
 * for another thread. At the end a thread waits for ever. It does not use deepclock.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MS = 50, PIPE_BYTES = 4096, LINES = 6, BLOCKS = 5 };

static int in[2], out[2], never[2], failed;
static char block[2 * PIPE_BYTES + 1];

static void check(const char *what, int is)
{
	if (is)
		return;
	printf("%s went wrong\n", what);
	failed = 1;
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = MS * 1000000}, NULL);
}

/* Writes the next line only when its reader has read the previous one. */
static void *lines_write(void *turn)
{
	for (int i = 0; i < LINES; i++) {
		pthread_barrier_wait(turn);
		rest();
		check("write", write(in[1], "1234567\n", 8) == 8);
	}
	return NULL;
}

static void reads(FILE *f, pthread_barrier_t *turn)
{
	char text[64] = "", *line = NULL;
	size_t room = 0;
	int n = 0;

	pthread_barrier_wait(turn);
	check("fgets", fgets(text, sizeof text, f) && !strcmp(text, "1234567\n"));
	pthread_barrier_wait(turn);
	check("getline", getline(&line, &room, f) == 8 && !strcmp(line, "1234567\n"));
	pthread_barrier_wait(turn);
	check("fread", fread(text, 1, 8, f) == 8);
	pthread_barrier_wait(turn);
	check("fscanf", fscanf(f, "%d", &n) == 1 && n == 1234567 && fgetc(f) == '\n');
	pthread_barrier_wait(turn);
	check("fgetc", fgetc(f) == '1' && fgets(text, sizeof text, f));
	pthread_barrier_wait(turn);
	check("getc_unlocked", getc_unlocked(f) == '1' && fgets(text, sizeof text, f));
	free(line);
}

static void *blocks_read(void *turn)
{
	static char text[2 * PIPE_BYTES];

	for (int i = 0; i < BLOCKS; i++) {
		pthread_barrier_wait(turn);
		rest();
		for (size_t n = 0; n < sizeof text;) {
			ssize_t got = read(out[0], text, sizeof text - n);
			if (got <= 0)
				return NULL;
			n += (size_t)got;
		}
	}
	return NULL;
}

static void writes(FILE *f, pthread_barrier_t *turn)
{
	memset(block, 'x', sizeof block - 1);
	pthread_barrier_wait(turn);
	check("fwrite", fwrite(block, 1, sizeof block - 1, f) == sizeof block - 1);
	fflush(f);
	pthread_barrier_wait(turn);
	check("fputs", fputs(block, f) >= 0);
	fflush(f);
	pthread_barrier_wait(turn);
	check("fprintf", fprintf(f, "%s", block) == sizeof block - 1);
	fflush(f);
	static char room[4 * PIPE_BYTES];
	setvbuf(f, room, _IOFBF, sizeof room);
	pthread_barrier_wait(turn);
	check("fflush", fputs(block, f) >= 0 && fflush(f) == 0);
	pthread_barrier_wait(turn);
	check("fclose", fputs(block, f) >= 0 && fclose(f) == 0);
}

static void *wake_later(void *word)
{
	rest();
	__atomic_store_n((int *)word, 1, __ATOMIC_SEQ_CST);
	check("futex", syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) >= 0);
	return NULL;
}

static void *wait_for_ever(void *unused)
{
	char byte;

	pthread_setname_np(pthread_self(), "idle");
	check("a read of what never comes", read(never[0], &byte, 1) == 1);
	return unused;
}

int main(void)
{
	pthread_barrier_t turn;
	pthread_t t;
	int word = 0;

	pthread_barrier_init(&turn, NULL, 2);
	check("pipe", !pipe(in) && !pipe(out) && !pipe(never));
	check("pipe's size", fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES) >= PIPE_BYTES);
	FILE *from = fdopen(in[0], "r"), *to = fdopen(out[1], "w");

	pthread_create(&t, NULL, lines_write, &turn);
	reads(from, &turn);
	pthread_join(t, NULL);
	pthread_create(&t, NULL, blocks_read, &turn);
	writes(to, &turn);
	pthread_join(t, NULL);

	pthread_create(&t, NULL, wake_later, &word);
	while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	pthread_join(t, NULL);
	check("another call", syscall(SYS_getpid) == getpid());

	pthread_create(&t, NULL, wait_for_ever, NULL);
	rest();
	printf("%s\n", failed ? "failed" : "all as it should be");
	return failed;
}
