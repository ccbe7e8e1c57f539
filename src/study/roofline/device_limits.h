/* device_limits.h - the limits of a device (src/device): peaks, bandwidth of its memory, transfers,
 * cost of launches and marks.
 *
 *	device_limits *r = mem_zalloc(1, sizeof *r);
 *
 *	DCK_TRY(device_limits_measure(d, &clock, false, watch, r, err));
 *	r->item[i].value[0..n)		of the limit whose tag is device_limit_rows[i].tag
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOFLINE_DEVICE_LIMITS_H
#define ROOFLINE_DEVICE_LIMITS_H

#include "deepclock/bench.h"
#include "device/device.h"
#include "study/roofline/device_kernels.h"

enum { DEVICE_LIMITS = 19, DEVICE_ROUNDS_MAX = 200 };

typedef enum device_limit_kind {
	DEVICE_LIMIT_PEAK,
	DEVICE_LIMIT_MEMORY,
	DEVICE_LIMIT_TRANSFER,
	DEVICE_LIMIT_ENQUEUE, /* these two are measured together */
	DEVICE_LIMIT_COMPLETE,
	DEVICE_LIMIT_RECORD, /* and these */
	DEVICE_LIMIT_TICK
} device_limit_kind;

typedef struct device_limit_row {
	const char *tag;
	dck_unit unit;
	device_limit_kind kind;
	device_work work;     /* peak, memory */
	device_direction way; /* transfer */
	bool pinned;
} device_limit_row;
extern const device_limit_row device_limit_rows[DEVICE_LIMITS];

typedef struct device_limit {
	double value[DEVICE_ROUNDS_MAX];
	unsigned n;	     /* 0: absent, because of `why` */
	double round_amount; /* FLOPs or bytes of a round */
	char why[200];
} device_limit;

typedef struct device_limits {
	device_limit item[DEVICE_LIMITS];
	device_wait_kind wait;
	double array_bytes;    /* of each array of the memory loops; 0: none was measured */
	double transfer_bytes; /* of a transfer; 0: none was measured */
	bool cached;	       /* the arrays may fit the device's cache */
	bool interrupted;
	double took_ns;
} device_limits;

/* Measures all limits that the device offers; *ret is zeroed. `clock` is the host's. E_CANCEL:
 * cancelled before the first result. */
dck_status device_limits_measure(device *d, const dck_clock *clock, bool quick,
				 const dck_observer *watch, device_limits *ret, dck_err *err);

#endif
