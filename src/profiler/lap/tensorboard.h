/* tensorboard.h - scalars for TensorBoard: an event file that can be read while it grows.
 * Format: https://github.com/tensorflow/tensorboard, tensorboard/compat/proto/event.proto and
 * summary/writer/record_writer.py.
 *
 *	tensorboard *t;
 *
 *	DCK_TRY(tensorboard_open("runs/first", &t, err));
 *	tensorboard_scalar(t, "epoch/loss", 3, os_unix_ns(), 0.21);
 *	DCK_TRY(tensorboard_flush(t, err));
 *	tensorboard_close(t);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAP_TENSORBOARD_H
#define LAP_TENSORBOARD_H

#include "deepclock/base.h"

typedef struct tensorboard tensorboard;

/* Makes the directory and a new file events.out.tfevents.SECONDS.HOST.PID.N in it. Errors: E_IO,
 * E_NOMEM. */
dck_status tensorboard_open(const char *directory, tensorboard **ret, dck_err *err);
/* A failure (no memory) is reported by the next flush. */
void tensorboard_scalar(tensorboard *t, const char *tag, uint64_t step, int64_t unix_ns, double v);
/* Writes the events since the last flush to the file. Errors: E_IO, E_NOMEM. */
dck_status tensorboard_flush(tensorboard *t, dck_err *err);
void tensorboard_close(tensorboard *t); /* NULL is allowed */

#endif
