#!/bin/sh
# installed.sh - what `make install` prints: where things are, in a few lines, and what to type
# next. CMake's own list, a line a file, is in BUILD/install.log.
#
#   sh cmake/installed.sh BUILD PREFIX [DESTDIR]
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1 prefix=${2%/} destdir=${3-}
echo "installed in $destdir$prefix:"
awk -v prefix="$prefix/" '
	index($0, prefix) != 1 { next }
	{
		n = split(substr($0, length(prefix) + 1), part, "/")
		dir = part[1]
		if (dir == "share" && n > 2)
			dir = dir "/" part[2] "/" (part[2] == "doc" ? part[3] : "")
		sub("/$", "", dir)
		files[dir]++
		if (dir == "bin")
			names = names " " part[n]
	}
	END {
		for (dir in files)
			printf "  %-22s %s\n", dir,
				dir == "bin" ? substr(names, 2) : files[dir] " files"
	}' "$build/install_manifest.txt" | sort
echo "each file: $build/install.log"
[ -z "$destdir" ] || exit 0

libdir=$(sed -n "s|^\($prefix/.*\)/libarmci\.so\.0\$|\1|p" "$build/install_manifest.txt" |
	head -n 1)
echo
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "now type:  export PATH=$prefix/bin:\$PATH" ;;
esac
if [ "$(id -u)" = 0 ] && ldconfig -v -N 2>/dev/null | grep -q "^$libdir:"; then
	echo "now run:   ldconfig       # once, so that programs linked without armcicc" \
		"find $libdir, too"
fi
echo "now try:   armcicc $prefix/share/doc/libarmci/examples/c/hello.c -o hello &&" \
	"armcirun -n 4 ./hello"
echo "then read: $prefix/share/doc/libarmci/html/index.html"
