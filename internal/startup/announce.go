// SPDX-License-Identifier: BSD-3-Clause

// What is told when the library has started: to the user, the line of ARMCI_VERBOSE and warnings
// about settings; to crash reports, whose memory is where.
package startup

import (
	"fmt"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/drivers"
	"libarmci/internal/guest"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Announce is called when the library can be used; rt is Start's. It prints once per job, and from
// then on information (log.Infof) only if ARMCI_VERBOSE asks for it. fast: does the library
// complete calls without entering Go?
func (s *Startup) Announce(rt *core.Runtime, fast bool) {
	r := s.platform.ArenaRanges
	guest.Foreign(r.Base, uintptr(r.Bytes), foreign(rt.Topo, r, s.library.Access))
	if rt.Me != 0 {
		return
	}
	for _, u := range s.Cfg.Unknown() {
		log.WarnOnce(u.Name, "%s is no setting of this library%s", u.Name,
			didYouMean(u.Nearest))
	}
	for _, f := range s.Cfg.Former() {
		log.WarnOnce(f.Name, "%s", f)
	}
	if s.Cfg.Bool("ARMCI_VERBOSE") {
		path := "off"
		if fast {
			path = "on"
		}
		log.SetLevel(log.LevelInfo)
		log.Infof("%s %s: %s, arena %s at %#x, fast path %s", s.library.Name,
			config.Version, rt.Summary(),
			config.SizeText(s.platform.Node.Bytes()), s.platform.Node.Base(), path)
	}
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// foreign says whose memory each range of addresses is, for guest.Foreign; nothing if all nodes
// have one.
func foreign(topo *core.Topology, r drivers.ArenaRanges, access string) []string {
	if r.Count < 2 {
		return nil
	}
	whose := make([]string, r.Count)
	for node, ranks := range topo.Nodes {
		switch i := node % r.Count; {
		case i == r.Mine:
		case whose[i] != "":
			whose[i] = "another node" // several nodes have this range
		default:
			whose[i] = members(ranks, topo.Hosts[node])
		}
	}
	for i, who := range whose {
		if who != "" {
			whose[i] = fmt.Sprintf("%.400s: only its ranks can dereference it, "+
				"others use %s", who, access)
		}
	}
	return whose
}

func members(ranks []transport.Rank, host string) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d (host %s)", ranks[0], host)
	}
	return fmt.Sprintf("ranks %d and %d others of its node (host %s)", ranks[0], len(ranks)-1,
		host)
}
