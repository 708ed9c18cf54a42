# SPDX-License-Identifier: BSD-3-Clause
# beside.sh - for scripts with parts that need nothing of each other, to be sourced: runs them at
# the same time, since launchers mostly wait. What a part counts as failures is added to those of
# the script.

# beside FUNCTION NAME...: calls the function with each name, in a directory of that name in WORK.
# What the parts print comes in the order of the names.
beside() {
	part=$1
	shift
	for name; do
		mkdir -p "$WORK/$name"
		(cd "$WORK/$name" && failures=0 && $part "$name" && [ $failures -eq 0 ]) \
			>"$WORK/$name.log" 2>&1 &
		eval "beside_$name=\$!"
	done
	for name; do
		eval "wait \$beside_$name" || failures=$((failures + 1))
		cat "$WORK/$name.log"
	done
}
