/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/lap/tensorboard.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/sink.h"
#include "base/wire.h"
#include "os/os.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Fields of Event, Summary and Summary.Value. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2 };

struct tensorboard {
	int fd;
	uint64_t written; /* bytes of whole events in the file */
	wire_out event;	  /* the event under construction */
	wire_out ready;	  /* framed events, written by the flush */
	char path[];
};

/* CRC-32C (Castagnoli), reflected, a bit at a time: an event has some 60 bytes. */
static uint32_t crc32c(const uint8_t *p, size_t n)
{
	uint32_t c = UINT32_MAX;

	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? UINT32_C(0x82f63b78) : 0);
	}
	return ~c;
}

/* Masks the checksum, as the format requires for checksums of data that contain checksums. */
static uint32_t masked_crc(const uint8_t *p, size_t n)
{
	const uint32_t c = crc32c(p, n);

	return (c >> 15 | c << 17) + UINT32_C(0xa282ead8);
}

static void tensorboard_little_endian(uint8_t *to, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

/* length, sum of it, data, sum of them. */
static void frame(tensorboard *t)
{
	uint8_t *to = wire_reserve(&t->ready, t->event.n + 16);

	if (!to || t->event.failed)
		return;
	tensorboard_little_endian(to, t->event.n, 8);
	tensorboard_little_endian(to + 8, masked_crc(to, 8), 4);
	memcpy(to + 12, t->event.data, t->event.n);
	tensorboard_little_endian(to + 12 + t->event.n, masked_crc(t->event.data, t->event.n), 4);
}

static void tensorboard_event_begin(tensorboard *t, int64_t unix_ns)
{
	t->event.n = 0;
	wire_put_double(&t->event, EVENT_WALL_TIME, (double)unix_ns / 1e9);
}

void tensorboard_scalar(tensorboard *t, const char *tag, uint64_t step, int64_t unix_ns, double v)
{
	tensorboard_event_begin(t, unix_ns);
	wire_put_int(&t->event, EVENT_STEP, (int64_t)step);
	const size_t summary = wire_begin(&t->event, EVENT_SUMMARY);
	const size_t value = wire_begin(&t->event, SUMMARY_VALUE);
	wire_put_text(&t->event, VALUE_TAG, tag);
	wire_put_float(&t->event, VALUE_SIMPLE, (float)v);
	wire_end(&t->event, value);
	wire_end(&t->event, summary);
	frame(t);
}

dck_status tensorboard_flush(tensorboard *t, dck_err *err)
{
	dck_sink out;

	if (t->event.failed || t->ready.failed)
		return ERR_NO_MEMORY(err, "for TensorBoard's events");
	dck_sink_fd(&out, t->fd);
	sink_put(&out, t->ready.data, t->ready.n);
	const size_t n = t->ready.n;
	t->ready.n = 0;
	const dck_status status = dck_sink_finish(&out, err);
	if (status == DCK_OK) {
		t->written += n;
		return DCK_OK;
	}
	/* Readers stop at half an event, so that later ones would be lost with it. */
	(void)os_truncate(t->fd, t->path, t->written, NULL);
	return err_while(err, status, "writing '%s'", t->path);
}

void tensorboard_close(tensorboard *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		os_close(t->fd);
	wire_out_done(&t->event);
	wire_out_done(&t->ready);
	mem_free(t);
}

/* Ten digits of seconds: readers sort files by name. N distinguishes files of the same second. */
static char *tensorboard_path_make(const char *directory, int64_t unix_ns)
{
	static atomic_uint files;
	char host[128];
	const char *form = "%s/events.out.tfevents.%010lld.%s.%ld.%u";
	const unsigned n = atomic_fetch_add(&files, 1);
	const long long seconds = (long long)(unix_ns / 1000000000);

	os_machine_name(host, sizeof host);
	const int length = snprintf(NULL, 0, form, directory, seconds, host, os_process_id(), n);
	char *path = length > 0 ? mem_alloc((size_t)length + 1) : NULL;
	if (path)
		snprintf(path, (size_t)length + 1, form, directory, seconds, host, os_process_id(),
			 n);
	return path;
}

static dck_status event_file_start(tensorboard *t, int64_t unix_ns, dck_err *err)
{
	DCK_TRY(os_mkdir_parents(t->path, "TensorBoard's events", err));
	DCK_TRY(os_open_append(t->path, &t->fd, err));
	tensorboard_event_begin(t, unix_ns);
	wire_put_text(&t->event, EVENT_FILE_VERSION, "brain.Event:2");
	frame(t);
	return tensorboard_flush(t, err);
}

dck_status tensorboard_open(const char *directory, tensorboard **ret, dck_err *err)
{
	const int64_t unix_ns = os_unix_ns();
	char *path = tensorboard_path_make(directory, unix_ns);

	DCK_NEED(path, err, "for a file's name");
	const size_t n = strlen(path) + 1;
	tensorboard *t = mem_zalloc(1, sizeof *t + n);
	if (t) {
		memcpy(t->path, path, n);
		t->fd = -1;
	}
	mem_free(path);
	DCK_NEED(t, err, "for TensorBoard's events");
	const dck_status status = event_file_start(t, unix_ns, err);
	if (status == DCK_OK)
		*ret = t;
	else
		tensorboard_close(t);
	return status;
}
