/* webgpu_test.h - finds the build's WebGPU provider of ONNX Runtime and a GPU in software.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEBGPU_TEST_H
#define TESTS_WEBGPU_TEST_H

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SWIFTSHADER "/usr/lib/chromium/vk_swiftshader_icd.json"

/* Skips the test where one is missing; needs <cmocka.h>. */
static inline void need_webgpu(void)
{
	const char *build = getenv("BUILD_DIR");
	char provider[PATH_MAX], file[PATH_MAX + 64];

	snprintf(provider, sizeof provider, "%s/webgpu/onnxruntime_ep_webgpu", build ? build : ".");
	snprintf(file, sizeof file, "%s/libonnxruntime_providers_webgpu.so", provider);
	if (access(SWIFTSHADER, R_OK) != 0 || access(file, R_OK) != 0) {
		print_message("skipped: no ONNX Runtime on WebGPU here (tools/setup.sh BUILD test "
			      "extras brings it)\n");
		skip();
	}
	setenv("VK_DRIVER_FILES", SWIFTSHADER, 1);
	setenv("VK_ICD_FILENAMES", SWIFTSHADER, 1); /* for older loaders */
	setenv("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER", "1", 1);
	setenv("DEEPCLOCK_ORT_PROVIDER", provider, 1);
}

#endif
