/* cupti_api.h - declarations of the parts of NVIDIA's CUPTI that are used here, so that it compiles
 * without NVIDIA's headers: functions, constants, and the first bytes of its records.
 * tests/doubles/headers.py compares them with the headers; for that it defines CUPTI_API_TYPES and
 * the types.
 *
 * NVIDIA extends a record at its end and gives it a new number (CUpti_ActivityKernel3 to 13). The
 * members declared here have the same offsets in all versions from CUPTI 8 on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEVICE_CUPTI_API_H
#define DEVICE_CUPTI_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUPTI_API_TYPES
typedef unsigned cupti_result;
typedef unsigned cupti_kind;
typedef unsigned cupti_domain;
typedef uint32_t cupti_call;
typedef struct cupti_subscriber_s *cupti_subscriber;
typedef void *cupti_context;
typedef struct cupti_record cupti_record;
typedef void (*cupti_callback)(void *self, cupti_domain domain, cupti_call call, const void *data);
typedef void (*cupti_requested)(uint8_t **buffer, size_t *size, size_t *records_max);
typedef void (*cupti_completed)(cupti_context context, uint32_t stream, uint8_t *buffer,
				size_t size, size_t valid);
typedef uint64_t (*cupti_timestamp)(void);
#endif

/* X(member, symbol, parameters); each returns cupti_result. */
#define CUPTI_API(X)                                                                            \
	X(version, cuptiGetVersion, (uint32_t *))                                               \
	X(result_text, cuptiGetResultString, (cupti_result, const char **))                     \
	X(subscribe, cuptiSubscribe, (cupti_subscriber *, cupti_callback, void *))              \
	X(enable_callback, cuptiEnableCallback,                                                 \
	  (uint32_t, cupti_subscriber, cupti_domain, cupti_call))                               \
	X(unsubscribe, cuptiUnsubscribe, (cupti_subscriber))                                    \
	X(call_name, cuptiGetCallbackName, (cupti_domain, uint32_t, const char **))             \
	X(register_buffers, cuptiActivityRegisterCallbacks, (cupti_requested, cupti_completed)) \
	X(enable, cuptiActivityEnable, (cupti_kind))                                            \
	X(disable, cuptiActivityDisable, (cupti_kind))                                          \
	X(next_record, cuptiActivityGetNextRecord, (uint8_t *, size_t, cupti_record **))        \
	X(dropped, cuptiActivityGetNumDroppedRecords, (cupti_context, uint32_t, size_t *))      \
	X(flush, cuptiActivityFlushAll, (uint32_t))                                             \
	X(timestamp, cuptiGetTimestamp, (uint64_t *))                                           \
	/* from CUPTI 11.7 on */                                                                \
	X(register_timestamp, cuptiActivityRegisterTimestampCallback, (cupti_timestamp))

enum {
	CUPTI_API_SUCCESS = 0,
	CUPTI_API_LIMIT = 12, /* of subscribers */
	CUPTI_API_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_API_MULTIPLE_SUBSCRIBERS = 39
};

enum { CUPTI_API_FLUSH_FORCED = 1 };

enum { CUPTI_API_DRIVER = 1, CUPTI_API_RUNTIME = 2 }; /* domains of calls */

enum { CUPTI_API_COPY = 1, CUPTI_API_SET = 2, CUPTI_API_KERNEL = 10, CUPTI_API_COPY_PEER = 22 };

/* Kinds of copies; arrays (A) are device memory too. */
enum {
	CUPTI_API_HTOD = 1,
	CUPTI_API_DTOH = 2,
	CUPTI_API_HTOA = 3,
	CUPTI_API_ATOH = 4,
	CUPTI_API_ATOA = 5,
	CUPTI_API_ATOD = 6,
	CUPTI_API_DTOA = 7,
	CUPTI_API_DTOD = 8,
	CUPTI_API_HTOH = 9,
	CUPTI_API_PTOP = 10
};

enum { CUPTI_CALL_BEGINS = 0, CUPTI_CALL_ENDS = 1 };

/* What a callback of a call gets. */
typedef struct cupti_call_data {
	unsigned site; /* CUPTI_CALL_BEGINS, CUPTI_CALL_ENDS */
	const char *function_name;
	const void *parameters;
	void *return_value;
	const char *symbol_name;
	cupti_context context;
	uint32_t context_id;
	uint64_t *own; /* from the beginning of a call to its end */
	uint32_t correlation;
} cupti_call_data;

/* The first parameters of calls that allocate: where the address goes, and how much; and that free.
 */
typedef struct cupti_alloc {
	const uint64_t *address;
	uint64_t bytes;
} cupti_alloc;

typedef struct cupti_free {
	uint64_t address;
} cupti_free;

#ifndef CUPTI_API_TYPES
struct cupti_record {
	cupti_kind kind;
};
#endif

typedef struct cupti_kernel {
	cupti_kind kind;
	uint8_t unused_0[12];
	uint64_t start, end;
	uint8_t unused_1[8];
	uint32_t device, context, stream;
	uint8_t unused_2[40];
	uint32_t correlation;
	uint8_t unused_3[8];
	const char *name;
} cupti_kernel;

typedef struct cupti_copy {
	cupti_kind kind;
	uint8_t copy_kind, unused[3];
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
} cupti_copy;

/* Between two devices. */
typedef struct cupti_copy_peer {
	cupti_kind kind;
	uint8_t copy_kind, unused_0[3];
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint8_t unused_1[16];
	uint32_t correlation;
} cupti_copy_peer;

typedef struct cupti_set {
	cupti_kind kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
} cupti_set;

#endif
