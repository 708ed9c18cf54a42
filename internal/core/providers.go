// SPDX-License-Identifier: BSD-3-Clause

// The start of a job on several nodes: all ranks choose the same transport between nodes , open it and exchange
// addresses. All take part, or all fail. The platform lists the transports.
package core

import (
	"encoding/json"
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

// providerInfo is what a rank sends the others about one of its providers.
type providerInfo struct {
	Name, Problem string
	Hint          []byte
}

// chosen is the provider that all ranks use; nil if there is one node only.
type chosen struct {
	provider transport.Provider
	hints    [][]byte // by rank
}

// chooseProvider is collective: the first provider that every rank can use. Its error is the same on all ranks.
func (r *Runtime) chooseProvider(p transport.Platform) (*chosen, error) {
	if len(r.Topo.Nodes) == 1 {
		return nil, nil
	}
	providers, err := r.candidates(p)
	mine := make([]providerInfo, len(providers))
	for i, w := range providers {
		mine[i] = providerInfo{Name: w.Name, Problem: textOf(w.Probe())}
		if mine[i].Problem == "" {
			mine[i].Hint = w.Hint()
		}
	}
	all, lost := exchangeJSON(r, mine)
	switch {
	case lost != nil:
		return nil, fmt.Errorf("exchange of transports: %w", lost)
	case err != nil:
		return nil, err
	}
	reasons := ""
	for i, w := range providers {
		reason := r.unusable(all, i)
		if reason != "" {
			reasons += fmt.Sprintf("; %s: %s", w.Name, reason)
			continue
		}
		c := &chosen{provider: w, hints: make([][]byte, r.N)}
		for rank, infos := range all {
			c.hints[rank] = infos[i].Hint
		}
		return c, nil
	}
	return nil, fmt.Errorf("the job spans %d nodes (%s) and has no usable transport between nodes%s", len(r.Topo.Nodes),
		r.Topo, reasons)
}

// candidates are all providers of the platform, or the one that ARMCI_TRANSPORT names.
func (r *Runtime) candidates(p transport.Platform) ([]transport.Provider, error) {
	name, providers := r.Cfg.String("ARMCI_TRANSPORT"), p.Providers()
	if name == "auto" {
		return providers, nil
	}
	if i := slices.IndexFunc(providers, func(p transport.Provider) bool { return p.Name == name }); i >= 0 {
		return providers[i : i+1], nil
	}
	names := ""
	for _, w := range providers {
		names += " " + w.Name
	}
	return nil, fmt.Errorf("ARMCI_TRANSPORT: there is no transport %q between nodes; known are: auto%s", name, names)
}

// unusable says why a rank cannot use the i-th provider, "" if all can. One reason is enough.
func (r *Runtime) unusable(all [][]providerInfo, i int) string {
	for rank, infos := range all {
		switch {
		case i >= len(infos) || infos[i].Name != all[r.Me][i].Name:
			return fmt.Sprintf("rank %d (%s) does not have it", rank, r.host(transport.Rank(rank)))
		case infos[i].Problem != "":
			return fmt.Sprintf("%s (rank %d, %s)", infos[i].Problem, rank, r.host(transport.Rank(rank)))
		}
	}
	return ""
}

func (r *Runtime) host(rank transport.Rank) string { return r.Topo.Hosts[r.Topo.Node(rank)] }

// exchangeJSON exchanges a value of each rank.
func exchangeJSON[T any](r *Runtime, mine T) ([]T, error) {
	blob, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := r.Job.Exchange(blob)
	if err != nil {
		return nil, err
	}
	values := make([]T, len(all))
	for i, b := range all {
		if err := json.Unmarshal(b, &values[i]); err != nil {
			return nil, fmt.Errorf("rank %d: %w", i, err)
		}
	}
	return values, nil
}

// openProvider opens the transport, so that other ranks can connect.
func (r *Runtime) openProvider(c *chosen, secret []byte) (transport.Transport, error) {
	tr, err := c.provider.Open(transport.OpenInfo{Me: r.Me, Nodes: r.Topo.Nodes, MyNode: r.Topo.MyNode(), Hosts: r.Topo.Hosts,
		Hints: c.hints, Secret: secret, Node: r.Memory, Memory: r.transports[0], Handle: r.handleMessage, Place: r.place, Lost: r.lostAsync})
	if err != nil {
		return nil, fmt.Errorf("transport %s: %w", c.provider.Name, err)
	}
	r.transports = append(r.transports, tr)
	return tr, nil
}

// connectProvider gives the transport the addresses of the ranks of other nodes, and routes operations to them through it.
func (r *Runtime) connectProvider(tr transport.Transport, addrs [][]byte) error {
	peers := make([]transport.PeerAddr, r.N)
	info := tr.Info()
	for i := range peers {
		rank := transport.Rank(i)
		peers[i] = transport.PeerAddr{Rank: rank, Addr: addrs[i]}
		if !r.Topo.SameNode(rank) {
			r.routes[i] = newRoute(tr, transport.Peer(i), info)
		}
	}
	if err := tr.Connect(peers); err != nil {
		return fmt.Errorf("transport %s: %w", info.Name, err)
	}
	if d, ok := tr.(transport.DeviceAtomics); ok && d.DeviceAtomics() {
		r.deviceAtomics = tr
	}
	return nil
}
