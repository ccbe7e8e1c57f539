/* plugged.c - loaded and unloaded by program.c under two names: two functions that occupy the same
 * address, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
void plugged(void);
void PLUGGED(void);

static volatile int done;

__attribute__((noinline)) void PLUGGED(void)
{
	done++;
}

__attribute__((no_instrument_function)) void plugged(void)
{
	PLUGGED();
	done++;
}
