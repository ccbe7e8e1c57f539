#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the symbols file of a library from the list of what it exports: symbols.sh LIBRARY VERSION LIST
# ITT's entry point is not in the list, which has no names that begin with an underscore.
set -eu
package=$(echo "$1" | tr _ -)$2
{
	echo "$1.so.$2 $package #MINVER#"
	echo " __itt_api_init@Base $2"
	sed '/^#/d; s/ .*//; /^$/d; s/.*/ &@Base '"$2"'/' "$3"
} >"debian/$package.symbols"
