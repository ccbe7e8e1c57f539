/* opencl_api.c - loads libOpenCL.so.1, and errors of OpenCL as errors of this library.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "device/opencl.h"

#include "base/err.h"

#include <stdio.h>

struct opencl_functions opencl;

static const char *const opencl_names[] = {OPENCL_FUNCTIONS(OS_LAZY_NAME)};
static os_lazy_library opencl_library = OS_LAZY("libOpenCL.so.1", "OpenCL", opencl_names, opencl);

dck_status opencl_load(dck_err *err)
{
	return os_lazy_load(&opencl_library, err);
}

/* Errors that a user may see; other codes are shown as numbers. */
static const struct {
	cl_int code;
	dck_status status;
	const char *text;
} codes[] = {
    {OPENCL_DEVICE_NOT_FOUND, DCK_E_ABSENT, "there is no device"},
    {OPENCL_DEVICE_NOT_AVAILABLE, DCK_E_DEVICE, "the device is not available"},
    {OPENCL_COMPILER_NOT_AVAILABLE, DCK_E_UNSUP, "the driver has no compiler"},
    {OPENCL_MEM_OBJECT_ALLOCATION_FAILURE, DCK_E_NOMEM, "device memory is exhausted"},
    {OPENCL_OUT_OF_RESOURCES, DCK_E_DEVICE, "the device is out of resources, or a command failed"},
    {OPENCL_OUT_OF_HOST_MEMORY, DCK_E_NOMEM, "the driver has no memory of the host"},
    {OPENCL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, DCK_E_DEVICE, "a command failed"},
    {OPENCL_INVALID_VALUE, DCK_E_ARG, "invalid value"},
    {OPENCL_INVALID_KERNEL_NAME, DCK_E_ARG, "the source has no kernel of this name"},
    {OPENCL_INVALID_ARG_INDEX, DCK_E_ARG, "the kernel takes fewer arguments"},
    {OPENCL_INVALID_ARG_VALUE, DCK_E_ARG, "an argument is not of the kernel's type"},
    {OPENCL_INVALID_ARG_SIZE, DCK_E_ARG, "an argument is not of the kernel's type"},
    {OPENCL_INVALID_KERNEL_ARGS, DCK_E_ARG, "the kernel takes more arguments"},
    {OPENCL_INVALID_WORK_GROUP_SIZE, DCK_E_ARG,
     "the work group is larger than this kernel's may be"},
    {OPENCL_INVALID_BUFFER_SIZE, DCK_E_NOMEM, "the buffer is larger than the device allows"},
    {OPENCL_PLATFORM_NOT_FOUND_KHR, DCK_E_ABSENT, "no driver is installed"},
};

dck_status opencl_fail(dck_err *err, const device *d, const char *what, cl_int code)
{
	const char *text = "the driver failed";
	dck_status status = DCK_E_DEVICE;
	char where[32] = "";

	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].code == code) {
			text = codes[i].text;
			status = codes[i].status;
		}
	if (d)
		snprintf(where, sizeof where, "opencl:%u, ", d->index);
	err_set(err, status, __FILE__, __LINE__, "%s%s: %s (OpenCL error %d)", where, what, text,
		(int)code);
	return err_native(status, code, err);
}
