/* brings.c - a program with a bundled library, like programs of conda.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>

const char *sqlite3_of_its_own(void);

int main(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
	return puts(sqlite3_of_its_own()) < 0;
}
