/* headers_cupti.c - compares src/device/cupti_api.h with those of CUPTI; KERNEL,
 * COPY, COPY_PEER and SET are NVIDIA's newest records there. It is compiled only.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>
#include <generated_cuda_meta.h>

#define CUPTI_API_TYPES
typedef CUptiResult cupti_result;
typedef CUpti_ActivityKind cupti_kind;
typedef CUpti_CallbackDomain cupti_domain;
typedef CUpti_CallbackId cupti_call;
typedef CUpti_SubscriberHandle cupti_subscriber;
typedef CUcontext cupti_context;
typedef CUpti_Activity cupti_record;
typedef CUpti_CallbackFunc cupti_callback;
typedef CUpti_BuffersCallbackRequestFunc cupti_requested;
typedef CUpti_BuffersCallbackCompleteFunc cupti_completed;
typedef CUpti_TimestampCallbackFunc cupti_timestamp;
#include "device/cupti_api.h"

#define SAME(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a)
#define SIZE(a, b) _Static_assert(sizeof(a) == (b), #a)
#define IS(ours, theirs) \
	_Static_assert((unsigned long long)(ours) == (unsigned long long)(theirs), #theirs)
#define AT(ours, member, theirs, name)                                                 \
	_Static_assert(offsetof(ours, member) == offsetof(theirs, name) &&             \
			   sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->name), \
		       #theirs " " #name)

#define X(member, symbol, parameters) SAME(__typeof__(symbol), cupti_result parameters);
CUPTI_API(X)
#undef X

/* cupti_api.h defines them so without NVIDIA's header. */
SIZE(cupti_result, sizeof(unsigned));
SIZE(cupti_kind, sizeof(unsigned));
SIZE(cupti_domain, sizeof(unsigned));
SIZE(cupti_call, sizeof(uint32_t));
SIZE(cupti_subscriber, sizeof(void *));
SIZE(cupti_context, sizeof(void *));
AT(CUpti_Activity, kind, CUpti_Activity, kind);
SAME(CUpti_CallbackFunc, void (*)(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *));
SAME(CUpti_BuffersCallbackRequestFunc, void (*)(uint8_t **, size_t *, size_t *));
SAME(CUpti_BuffersCallbackCompleteFunc, void (*)(CUcontext, uint32_t, uint8_t *, size_t, size_t));
SAME(CUpti_TimestampCallbackFunc, uint64_t (*)(void));

AT(cupti_kernel, kind, KERNEL, kind);
AT(cupti_kernel, start, KERNEL, start);
AT(cupti_kernel, end, KERNEL, end);
AT(cupti_kernel, device, KERNEL, deviceId);
AT(cupti_kernel, context, KERNEL, contextId);
AT(cupti_kernel, stream, KERNEL, streamId);
AT(cupti_kernel, correlation, KERNEL, correlationId);
AT(cupti_kernel, name, KERNEL, name);
AT(cupti_copy, kind, COPY, kind);
AT(cupti_copy, copy_kind, COPY, copyKind);
AT(cupti_copy, bytes, COPY, bytes);
AT(cupti_copy, start, COPY, start);
AT(cupti_copy, end, COPY, end);
AT(cupti_copy, device, COPY, deviceId);
AT(cupti_copy, context, COPY, contextId);
AT(cupti_copy, stream, COPY, streamId);
AT(cupti_copy, correlation, COPY, correlationId);
AT(cupti_copy_peer, kind, COPY_PEER, kind);
AT(cupti_copy_peer, copy_kind, COPY_PEER, copyKind);
AT(cupti_copy_peer, bytes, COPY_PEER, bytes);
AT(cupti_copy_peer, start, COPY_PEER, start);
AT(cupti_copy_peer, end, COPY_PEER, end);
AT(cupti_copy_peer, device, COPY_PEER, deviceId);
AT(cupti_copy_peer, context, COPY_PEER, contextId);
AT(cupti_copy_peer, stream, COPY_PEER, streamId);
AT(cupti_copy_peer, correlation, COPY_PEER, correlationId);
AT(cupti_set, kind, SET, kind);
AT(cupti_set, value, SET, value);
AT(cupti_set, bytes, SET, bytes);
AT(cupti_set, start, SET, start);
AT(cupti_set, end, SET, end);
AT(cupti_set, device, SET, deviceId);
AT(cupti_set, context, SET, contextId);
AT(cupti_set, stream, SET, streamId);
AT(cupti_set, correlation, SET, correlationId);
AT(cupti_call_data, site, CUpti_CallbackData, callbackSite);
AT(cupti_call_data, function_name, CUpti_CallbackData, functionName);
AT(cupti_call_data, own, CUpti_CallbackData, correlationData);
AT(cupti_call_data, correlation, CUpti_CallbackData, correlationId);

IS(CUPTI_API_SUCCESS, CUPTI_SUCCESS);
IS(CUPTI_API_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
IS(CUPTI_API_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
IS(CUPTI_API_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
IS(CUPTI_API_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
IS(CUPTI_API_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
IS(CUPTI_API_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
IS(CUPTI_API_COPY, CUPTI_ACTIVITY_KIND_MEMCPY);
IS(CUPTI_API_SET, CUPTI_ACTIVITY_KIND_MEMSET);
IS(CUPTI_API_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
IS(CUPTI_API_COPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
IS(CUPTI_API_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
IS(CUPTI_API_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
IS(CUPTI_API_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
IS(CUPTI_API_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
IS(CUPTI_API_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
IS(CUPTI_API_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);

IS(CUPTI_CALL_BEGINS, CUPTI_API_ENTER);
IS(CUPTI_CALL_ENDS, CUPTI_API_EXIT);

AT(cupti_alloc, address, cuMemAlloc_v2_params, dptr);
AT(cupti_alloc, bytes, cuMemAlloc_v2_params, bytesize);
AT(cupti_alloc, bytes, cuMemAllocManaged_params, bytesize);
AT(cupti_alloc, address, cuMemAllocAsync_params, dptr);
AT(cupti_alloc, bytes, cuMemAllocAsync_params, bytesize);
AT(cupti_alloc, bytes, cuMemAllocFromPoolAsync_params, bytesize);
AT(cupti_free, address, cuMemFree_v2_params, dptr);
AT(cupti_free, address, cuMemFreeAsync_params, dptr);
AT(cupti_call_data, parameters, CUpti_CallbackData, functionParams);
AT(cupti_call_data, return_value, CUpti_CallbackData, functionReturnValue);
