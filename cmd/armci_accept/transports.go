// SPDX-License-Identifier: BSD-3-Clause

// Transports between nodes by name, what chooses one, and which of them are tried.

package main

import (
	"fmt"
	"slices"
	"strings"

	"libarmci/internal/config"
)

// transport is one of the library's, over libfabric with a provider.
type transport struct {
	name, provider string
}

// withinNode stands for shared memory, where there is one node.
var withinNode = transport{name: "node"}

// notNetworks are providers that are tried only if they are asked for: those that reach no other
// machine, that lose what UDP loses, or that libfabric has for its development.
var notNetworks = []string{"shm", "sm2", "udp", "net", "sockets"}

// onlyIfAsked tells whether a transport is not tried by itself.
func (t transport) onlyIfAsked() bool {
	core, _, _ := strings.Cut(t.provider, ";")
	return slices.Contains(notNetworks, core)
}

func parseTransport(text string) (transport, error) {
	name, provider, _ := strings.Cut(text, ":")
	switch {
	case provider == "" && (name == "tcp" || name == "rdma"), provider != "" && name == "ofi":
		return transport{name, provider}, nil
	}
	return transport{}, fmt.Errorf("%q: a transport is tcp, rdma, or ofi:PROVIDER", text)
}

func (t transport) String() string {
	if t.provider != "" {
		return t.name + ":" + t.provider
	}
	return t.name
}

// settings are those that choose it and nothing else.
func (t transport) settings() []string {
	switch {
	case t == withinNode:
		return nil
	case t.provider != "":
		// a program that is linked with libfabric has PSM, too, which would handle signals
		return []string{"ARMCI_TRANSPORT=ofi", "ARMCI_OFI_PROVIDER=" + t.provider,
			"IPATH_NO_BACKTRACE=1"}
	}
	return []string{"ARMCI_TRANSPORT=" + t.name}
}

// asked are the transports that have to be usable: those of the command line or of
// ARMCI_TRANSPORT.
func (o *options) asked() (names []string, err error) {
	if len(o.transports) > 0 {
		return o.transports, nil
	}
	cfg, err := config.LoadFrom(config.Passed(nil))
	if err != nil || !cfg.IsSet("ARMCI_TRANSPORT") {
		return nil, err
	}
	name, provider := cfg.String("ARMCI_TRANSPORT"), cfg.String("ARMCI_OFI_PROVIDER")
	switch {
	case name == "auto":
		return nil, nil
	case name == "ofi" && provider != "":
		return []string{"ofi:" + provider}, nil
	}
	return []string{name}, nil
}

// choose finds the transports to be tried, the best first. What was asked for and cannot be used is
// a failure; what else cannot be used is a check that was skipped.
func (a *acceptance) choose() (some []transport, err error) {
	asked, err := a.asked()
	if err != nil {
		return nil, err
	}
	if len(a.report.Nodes) == 1 {
		for _, name := range asked {
			a.refuse(name, failed, "there is one node")
		}
		return []transport{withinNode}, nil
	}
	for _, p := range a.report.Nodes[0].Transports {
		t, err := parseTransport(p.Transport)
		if err != nil {
			return nil, err
		}
		if a.isTried(t, asked) {
			some = append(some, t)
		}
	}
	for _, name := range asked {
		known := func(p Probe) bool {
			return p.Transport == name || anyProvider([]string{name}, p.Transport)
		}
		if !slices.ContainsFunc(a.report.Nodes[0].Transports, known) {
			why := "libfabric has no such provider on node 0"
			if f := factOf(a.report.Nodes[0], noProviders); f != "" {
				why = "libfabric offers no provider on node 0: " + f
			}
			a.refuse(name, failed, why)
		}
	}
	slices.SortStableFunc(some, func(s, t transport) int {
		return s.preference() - t.preference()
	})
	if len(some) == 0 && len(a.report.Failures) == 0 {
		a.report.fail("no transport between nodes can be used")
	}
	return some, nil
}

// isTried tells whether a transport is tried; why not is in the report.
func (a *acceptance) isTried(t transport, asked []string) bool {
	name := t.String()
	named := slices.Contains(asked, name)
	if asked != nil && !named && !anyProvider(asked, name) {
		return false
	}
	why := a.unusable(name)
	switch {
	case why != "" && named:
		a.refuse(name, failed, why)
	case why != "":
		a.refuse(name, "skipped", why)
		a.oddDevice(name)
	case t.onlyIfAsked() && !named:
		a.refuse(name, "skipped", "only if -transports asks for it")
	default:
		return true
	}
	return false
}

// anyProvider tells whether a transport is one of libfabric where ofi was asked for without a
// provider: ARMCI_TRANSPORT=ofi.
func anyProvider(asked []string, name string) bool {
	return slices.Contains(asked, "ofi") && strings.HasPrefix(name, "ofi:")
}

// timed are the good transports with a speed of interest: not a provider over TCP beside TCP
// itself, unless it was asked for.
func (a *acceptance) timed() []transport {
	if asked, err := a.asked(); err != nil || asked != nil {
		return a.good
	}
	return slices.DeleteFunc(slices.Clone(a.good), func(t transport) bool {
		return t.preference() == leastPreferred && t != a.good[0]
	})
}

// preference orders transports as the library prefers them, 0 first: verbs, networks by libfabric,
// TCP.
func (t transport) preference() int {
	switch {
	case t.name == "rdma":
		return 0
	case t.name == "ofi" && !strings.HasPrefix(t.provider, "tcp"):
		return 1
	case t.name == "tcp":
		return 2
	}
	return leastPreferred
}

// leastPreferred is a provider over TCP.
const leastPreferred = 3

// unusable says on which node a transport cannot be used, and why; "": on none.
func (a *acceptance) unusable(name string) string {
	for i, n := range a.report.Nodes {
		k := slices.IndexFunc(n.Transports,
			func(p Probe) bool { return p.Transport == name })
		if k < 0 {
			return fmt.Sprintf("node %d does not have it", i)
		}
		if p := n.Transports[k]; !p.Usable {
			return fmt.Sprintf("not usable on node %d: %s", i, p.Text)
		}
	}
	return ""
}

// refuse reports a transport that is not tried.
func (a *acceptance) refuse(name, result, why string) {
	a.report.Checks = append(a.report.Checks, Check{Transport: name, Result: result,
		Detail: why})
	if result == failed {
		a.report.fail("%s was asked for: %s", name, why)
	}
}

// oddDevice notes a verbs device that has an active port and that the library does not use.
func (a *acceptance) oddDevice(name string) {
	for i, n := range a.report.Nodes {
		for _, f := range n.Facts {
			if name == "rdma" && strings.HasPrefix(f.Name, "verbs ") &&
				strings.Contains(f.Value, "ACTIVE") {
				a.report.note("Node %d has %s, which is active, but RDMA is not "+
					"usable: please report it.", i, f.Name)
			}
		}
	}
}
