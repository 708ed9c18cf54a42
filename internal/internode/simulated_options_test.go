// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// The network and the settings of a simulated job, drawn from its seed.
package internode

import (
	"math/rand/v2"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/simulate"
	"libarmci/internal/transport"
)

// pick returns one of the values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// simNetwork draws a network.
func simNetwork(r *rand.Rand, seed uint64) pipe.Options {
	o := pipe.Options{Seed: seed, MaxFrame: pick(r, 0, 0, 1024, 4096),
		Credits: pick(r, 0, 2, 4, 16), Room: pick(r, 0, 0, 2048, 64<<10),
		Latency: pick(r, 0, 0, 2*time.Microsecond),
		Delay:   pick(r, 0, 10*time.Microsecond, time.Millisecond),
		Divide:  r.IntN(2) == 0, Defer: r.IntN(2) == 0, Straight: pick(r, 0, 64),
		Blocks: r.IntN(3) == 0, Shared: r.IntN(2) == 0, Direct: r.IntN(3) == 0,
		Refuse: pick(r, 0, 0, 3)}
	if o.Direct {
		o.Atomics = r.IntN(2) == 0
		o.Keys = pipe.KeyOptions{Range: pick[uintptr](r, 0, 4096, 16<<10),
			Holes: pick(r, 0, 0, 3), NoLend: r.IntN(3) == 0}
	}
	return o
}

// simModel is a cost model: nothing is measured.
const simModel = "copy=0,0,0.1"

// simSettings draws settings.
func simSettings(r *rand.Rand) Options {
	return Options{Poll: 20 * time.Microsecond, Servers: r.IntN(3),
		Connections: pick(r, 0, 0, 1, 2),
		Settings: transport.Settings{Timeout: time.Second,
			Eager: pick(r, 0, 256, 8<<10), Buffer: 16 << 20,
			Strided: pick(r, transport.ByPacking, transport.ByDevice,
				transport.ByTargetSide),
			Looks: func() int { return 1 + simulate.IntN(3) }}}
}

// simFault is what goes wrong with connections.
type simFault int

const (
	noFault simFault = iota
	breakNow
	breakLater // after some frames
	vanish     // a process falls silent
	leave      // a process leaves the job while others use it
	simFaults
)

// breakEndsTarget: a connection that breaks is not made again. The target is lost: its open
// operations and all later ones fail, and the job is told once.
const breakEndsTarget = true
