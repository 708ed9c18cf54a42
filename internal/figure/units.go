// SPDX-License-Identifier: BSD-3-Clause

// How numbers are written for people: in the unit that suits them.

package figure

import (
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes in the largest binary unit that divides it.
func Size(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

// steps are the units that a worker's units grow into, each a thousand times the one before.
var steps = map[string][]string{"ns": {"ns", "us", "ms", "s"}, "MB/s": {"kB/s", "MB/s", "GB/s",
	"TB/s"}}

// Suited is a value in the unit that suits it.
func Suited(v float64, unit string) (float64, string) {
	names := steps[unit]
	if unit == "MB/s" {
		v *= 1e3
	}
	for len(names) > 1 && math.Abs(v) >= 1e3 {
		v, names = v/1e3, names[1:]
	}
	if len(names) > 0 {
		unit = names[0]
	}
	return v, unit
}

// Amount is a value with at least three digits that count, and its unit.
func Amount(v float64, unit string) string {
	v, unit = Suited(v, unit)
	decimals := 0
	switch a := math.Abs(v); {
	case a < 10:
		decimals = 2
	case a < 100:
		decimals = 1
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'f', decimals, 64) + " " + unit)
}

// tick is a value at an axis: no more digits than it needs.
func tick(v float64, unit string) string {
	if v == 0 && unit != "%" {
		return "0"
	}
	v, unit = Suited(v, unit)
	if unit == "us" {
		unit = "µs"
	}
	return strings.TrimSpace(strconv.FormatFloat(v, 'g', 4, 64) + " " + unit)
}
