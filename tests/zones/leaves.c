/* leaves.c [call] - exits the process without the C library's exit(): like programs in Go, or by
 * syscall().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		syscall(SYS_exit_group, 0);
	}
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"((long)SYS_exit_group), "D"(0L) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long number __asm__("x8") = SYS_exit_group, status __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
#endif
	return 1;
}
