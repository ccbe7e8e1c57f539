/* cuda_errors.h - the driver's texts of errors, for cuda.c.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DOUBLES_CUDA_ERRORS_H
#define DOUBLES_CUDA_ERRORS_H

#include "device/cuda_api.h"

static const char *error_text(api_result result)
{
	switch (result) {
	case API_OUT_OF_MEMORY:
		return "out of memory";
	case API_NO_DEVICE:
		return "no CUDA-capable device is detected";
	case API_INVALID_PTX:
		return "a PTX JIT compilation failed";
	case API_UNSUPPORTED_PTX:
		return "the provided PTX was compiled with an unsupported toolchain.";
	case API_INVALID_HANDLE:
		return "invalid resource handle";
	case API_NOT_FOUND:
		return "named symbol not found";
	case API_NOT_READY:
		return "device not ready";
	case API_ILLEGAL_ADDRESS:
		return "an illegal memory access was encountered";
	case 803:
		return "system has unsupported display driver / cuda driver combination";
	default:
		return NULL;
	}
}

#endif
