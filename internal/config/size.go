// SPDX-License-Identifier: BSD-3-Clause

// How sizes are printed, everywhere in messages and tools.
package config

import (
	"fmt"
	"strconv"
)

// SizeText is a number of bytes in the largest unit in which it is at least 1, rounded down to
// three digits or so.
func SizeText(nbytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(nbytes), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 || x >= 100 {
		return fmt.Sprintf("%d %s", int64(x), units[i])
	}
	return strconv.FormatFloat(float64(int64(x*10))/10, 'f', -1, 64) + " " + units[i]
}
