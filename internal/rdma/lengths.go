// SPDX-License-Identifier: BSD-3-Clause

// How long send queues are: as long as a process can use in jobs of usual size; in larger ones
// shorter, so that all of a process together stay bounded. docs/growth.md has what that takes.
package rdma

const (
	// originRequests is how many requests an origin may have in flight to one target: enough to
	// keep the device busy with chains of small rows. allOriginRequests is how many to all
	// targets, leastOriginRequests half a chain.
	originRequests      = 256
	allOriginRequests   = 64 * originRequests
	leastOriginRequests = chainLength / 2

	// targetRequests is how many frames and writes to one origin may be in flight.
	// allTargetRequests is how many to all origins.
	targetRequests    = 32
	allTargetRequests = 1024 * targetRequests
)

// queueShare returns the length of each of so many queues: most, if all of them together are not
// longer than all then, but never below least.
func queueShare(most, least, all, queues int) int {
	return max(min(most, all/max(queues, 1)), least)
}

// originLength is the length of the queue to each target in a job on so many nodes.
func originLength(nodes int) int {
	return queueShare(originRequests, leastOriginRequests, allOriginRequests, nodes-1)
}

// targetLength is the length of the queue to each origin where there may be so many.
func targetLength(origins int) int {
	return queueShare(targetRequests, minRequests, allTargetRequests, origins)
}

// remoteRanks is how many ranks may be origins of this process.
func (f *Fabric) remoteRanks() (n int) {
	for node, ranks := range f.cfg.Nodes {
		if node != f.cfg.MyNode {
			n += len(ranks)
		}
	}
	return n
}
