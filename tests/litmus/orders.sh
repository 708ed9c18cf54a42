#!/bin/sh
# Weakens each order that the node's C code asks for, one place at a time, and writes which case
# fails: orders.sh LITMUS OUTPUT
# A line for each place: file, function, operation, its order in the code, the weakest order with
# which no case fails, and the case that fails with a weaker one. A place is an operation of a
# source line, wherever it was inlined.
# SPDX-License-Identifier: BSD-3-Clause
set -eu
litmus=$1 output=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in $("$litmus" -names); do
	"$litmus" -places "$name" | sed -n "s/^place 0x\([0-9a-f]*\) \(.*\)/\1 \2 $name/p"
done >"$work/places"

# ADDRESS FUNCTION FILE LINE. A return address belongs to the instruction before it.
cut -d' ' -f1 "$work/places" | sort -u | while read -r at; do
	printf '%s %x\n' "$at" $((0x$at - 1))
done >"$work/addresses"
cut -d' ' -f2 "$work/addresses" | addr2line -f -s -e "$litmus" |
	sed 's/ (discriminator.*//; s/:\([0-9]*\)$/ \1/' | paste -d' ' - - |
	paste -d' ' "$work/addresses" - | cut -d' ' -f1,3- >"$work/names"

# FILE FUNCTION OPERATION ORDER LINE ADDRESSES CASES, in the order of the lines; without the cases'
# own.
awk -v own=' locks.c sync.c tables.c flags.c ' '
	NR == FNR { function_of[$1] = $2; file[$1] = $3; line[$1] = $4; next }
	$3 != "relaxed" && !index(own, " " file[$1] " ") {
		key = file[$1] " " function_of[$1] " " $2 " " $3 " " line[$1]
		if (!index(at[key], "," $1 ",")) at[key] = (at[key] ? at[key] : ",") $1 ","
		if (!index(cases[key], " " $4 " "))
			cases[key] = (cases[key] ? cases[key] : " ") $4 " "
	}
	END { for (key in at) print key, at[key], cases[key] }' "$work/names" "$work/places" |
	LC_ALL=C sort -k1,1 -k5,5n -k3,3 >"$work/all"

# refuted LEVEL ADDRESSES CASE...: the case that fails, if one does
refuted() {
	level=$1 at=$2
	shift 2
	"$litmus" -weaken "$level$at" "$@" | sed -n 's/^FAILED \([^:]*\):.*/\1/p'
}

while read -r file function operation order line at cases; do
	weakest=relaxed
	# shellcheck disable=SC2086
	by=$(refuted r "$at" $cases)
	if [ -n "$by" ]; then
		weakest=$order stronger=""
		# shellcheck disable=SC2086
		[ "$order" != seq_cst ] || stronger=$(refuted a "$at" $cases)
		[ "$order$stronger" != seq_cst ] || case $operation in
		load) weakest=acquire ;;
		store) weakest=release ;;
		*) weakest=acq_rel ;;
		esac
		by=${stronger:-$by}
	fi
	echo "$file $function $operation $order $weakest ${by:--}"
done <"$work/all" >"$output"
