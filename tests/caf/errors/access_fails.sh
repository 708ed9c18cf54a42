#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Accesses that cannot succeed: runs access_fails with each case of access_fails.txt, on two images,
# and looks for the message and for an exit status that is not 0.
# usage: access_fails.sh LAUNCHER PROGRAM LIST
launcher=$1 program=$2 list=$3 bad=0
while IFS=: read -r which message; do
	case $which in '#'*) continue ;; esac
	output=$("$launcher" -n 2 "$program" "$which" 2>&1 </dev/null)
	status=$?
	case $output in
	*"libcaf_armci: image 1: "*"${message# }"*) ;;
	*) status=0 ;;
	esac
	if [ "$status" = 0 ]; then
		printf '%s: status %s, expected "%s", printed:\n%s\n' "$which" "$status" \
			"${message# }" "$output"
		bad=1
	fi
done <"$list"
[ $bad = 0 ] && echo "ok access_fails"
exit $bad
