#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the symbols file of a library from the list of what it exports: symbols.sh LIBRARY LIST
# Package and soname have the major number of debian/changelog. A program may need what the minor version added. ITT's entry point
# is not in the list, which has no names that begin with an underscore.
set -eu
since=$(dpkg-parsechangelog -SVersion | sed 's/\.[^.]*$//')
major=${since%%.*}
package=$(echo "$1" | tr _ -)$major
{
	echo "$1.so.$major $package #MINVER#"
	echo " __itt_api_init@Base $since"
	sed '/^#/d; s/ .*//; /^$/d; s/.*/ &@Base '"$since"'/' "$2"
} >"debian/$package.symbols"
