// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite of fabrics over networks with different options.
package pipe

import (
	"testing"
	"time"

	"libarmci/internal/testutil/transporttest"
)

// TestFabric shows that networks with any options pass the conformance suite of fabrics.
func TestFabric(t *testing.T) {
	for name, o := range map[string]Options{
		"plain":   {},
		"credits": {Credits: 2, MaxFrame: 9000, Seed: 1},
		"divided": {Divide: true, Defer: true, Delay: 100 * time.Microsecond, Seed: 2},
		"narrow":  {Room: 10000, Shared: true, Divide: true, Defer: true, Seed: 3},
		"device": {Direct: true, Atomics: true, Delay: 100 * time.Microsecond, Credits: 10,
			Defer: true, Shared: true, Seed: 4},
		"holes": {Direct: true, Atomics: true, Divide: true, Seed: 5,
			Keys: KeyOptions{Range: 64 << 10, Holes: 3}},
	} {
		t.Run(name, func(t *testing.T) { transporttest.RunFabric(t, New(o).Driver()) })
	}
}
