/* leaving.c - a plug-in that exits the program at the point named by the variable LEAVE, with
 * status 0: this is forbidden, and must not give a result. Or it creates the file "hung" and
 * hangs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <deepclock/plugin.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dck_engine_model {
	int used;
};

struct dck_engine_context {
	unsigned runs;
};

static struct dck_engine_model model;
static struct dck_engine_context context;

static int is(const char *place)
{
	const char *leave = getenv("LEAVE");

	return leave && strcmp(leave, place) == 0;
}

static void leave_at(const char *place)
{
	if (is(place))
		exit(0);
}

static void late(void)
{
	exit(0);
}

__attribute__((constructor)) static void load(void)
{
	leave_at("load");
	if (is("end"))
		atexit(late);
}

static void *leave(void *unused)
{
	exit(0);
	return unused;
}

static void hang(void)
{
	FILE *f = fopen("hung", "w");

	if (f && fputs("here", f) >= 0)
		fclose(f);
	for (;;)
		pause();
}

/* The first process creates the file. */
static int first_of_two(void)
{
	return open("first", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;
}

static dck_status open_it(const dck_open_params *p, dck_engine_model **ret, dck_err *err)
{
	(void)p, (void)err;
	leave_at("open");
	if (is("hang in open"))
		hang();
	*ret = &model;
	return DCK_OK;
}

static void close_it(dck_engine_model *m)
{
	(void)m;
	leave_at("close");
}

static dck_status context_new(dck_engine_model *m, dck_engine_context **ret, dck_err *err)
{
	(void)m, (void)err;
	*ret = &context;
	return DCK_OK;
}

static void context_free(dck_engine_context *c)
{
	(void)c;
}

static dck_status run(dck_engine_context *c, dck_err *err)
{
	pthread_t thread;

	(void)err;
	if (is("hang in first run"))
		hang();
	if (++c->runs < 3)
		return DCK_OK;
	leave_at("run");
	if (is("hang"))
		hang();
	if (is("hang later") && c->runs > 100)
		hang();
	if (is("hang in second process") && c->runs == 3 && !first_of_two())
		hang();
	if (is("quick"))
		quick_exit(0);
	if (is("thread") && pthread_create(&thread, NULL, leave, NULL) == 0)
		pthread_join(thread, NULL);
	return is("end") ? DCK_E_ENGINE : DCK_OK;
}

static const dck_engine engine = {
    .struct_size = sizeof(dck_engine),
    .abi_major = DCK_ABI_MAJOR,
    .abi_minor = DCK_ABI_MINOR,
    .caps = DCK_CAP_NO_MODEL | DCK_CAP_NO_TENSORS,
    .name = "leaving",
    .version = "1",
    .help = "ends the program",
    .open = open_it,
    .close = close_it,
    .context_new = context_new,
    .context_free = context_free,
    .run = run,
};

DCK_API const dck_engine *dck_engine_get(uint32_t host_abi_major);

const dck_engine *dck_engine_get(uint32_t host_abi_major)
{
	return host_abi_major == DCK_ABI_MAJOR ? &engine : NULL;
}
