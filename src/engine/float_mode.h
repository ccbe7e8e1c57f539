/* float_mode.h - gets and sets the calling thread's floating-point control register: flush-to-zero
 * of denormals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_FLOAT_MODE_H
#define ENGINE_FLOAT_MODE_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#define FLOAT_MODE_FLUSH 0x8040u /* MXCSR: results to zero, operands as zero */
static inline uint64_t float_mode_get(void)
{
	return _mm_getcsr();
}
static inline void float_mode_set(uint64_t mode)
{
	_mm_setcsr((unsigned)mode);
}
#elif defined(__aarch64__)
#define FLOAT_MODE_FLUSH 0x1000000u /* FPCR.FZ */
static inline uint64_t float_mode_get(void)
{
	uint64_t mode;
	__asm__ volatile("mrs %0, fpcr" : "=r"(mode));
	return mode;
}
static inline void float_mode_set(uint64_t mode)
{
	__asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
#define FLOAT_MODE_FLUSH 0u
static inline uint64_t float_mode_get(void)
{
	return 0;
}
static inline void float_mode_set(uint64_t mode)
{
	(void)mode;
}
#endif

#endif
