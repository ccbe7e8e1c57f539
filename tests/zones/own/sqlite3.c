/* sqlite3.c - a library of a program's own that has the name of one of the system's, and what that
 * one has not.
 *
 * SPDX-License-Identifier: Apache-2.0 */
const char *sqlite3_of_its_own(void);

__attribute__((visibility("default"))) const char *sqlite3_of_its_own(void)
{
	return "its own library";
}
