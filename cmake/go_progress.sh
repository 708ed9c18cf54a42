#!/bin/sh
# go_progress.sh NAME GO build ARGUMENT... - runs go build, which is silent for minutes when its
# cache is empty, and shows how far it is: one line every EVERY seconds (5) at most. Errors come out
# as they are, and the exit status is that of go.
# SPDX-License-Identifier: BSD-3-Clause
name=$1 go=$2
shift 3
every=${EVERY:-5}

seconds() {
	read -r now _ </proc/uptime 2>/dev/null || now=0
	echo "${now%.*}"
}

# shorten: go build -v writes the path of each package that it compiles, all else is for the user.
shorten() {
	packages=0 shown=$(seconds)
	while IFS= read -r line; do
		case $line in
		'# '* | *' '* | *:*)
			printf '%s\n' "$line"
			continue
			;;
		esac
		packages=$((packages + 1))
		[ "$(seconds)" -ge $((shown + every)) ] || continue
		shown=$(seconds)
		echo "       $name: $packages packages compiled, now ${line#libarmci/}"
	done
}

{
	status=$({ { "$go" build -v "$@" 2>&1 3>&- 4>&-; echo $? >&3; } | shorten >&4; } 3>&1)
} 4>&1
exit "$status"
