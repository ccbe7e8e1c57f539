/* no_symbol.c - a shared object that is neither a plug-in nor ONNX Runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 */
int dck_engine_got(void);

int dck_engine_got(void)
{
	return 0;
}
