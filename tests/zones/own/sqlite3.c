/* sqlite3.c - a bundled library with the name of a system library, and a function that the system's
 * lacks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
const char *sqlite3_of_its_own(void);

__attribute__((visibility("default"))) const char *sqlite3_of_its_own(void)
{
	return "its own library";
}
