// SPDX-License-Identifier: BSD-3-Clause

// The exchange with which a job starts: which ranks are on which node, and what all must know of
// each node. It has two levels. The ranks of a node give their leader, its lowest rank, a card
// each; the leader makes one record of them; the leaders exchange these records, and every rank
// gets all of them. So what a process sends and receives grows with the number of nodes.
package core

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// The first record of a node begins with these and the leader's rank, in every version of this
// library: so that ranks with different versions can say so. What follows, all other records, and
// the cards may differ between versions.
const (
	recordMagic   = "AMS"
	recordVersion = 3
)

// secretBytes is the length of a job's secret.
const secretBytes = 16

// card is what a rank sends its leader first.
type card struct {
	rank     int
	listener string // where the ranks of its node connect to it
	problem  string // why it cannot take part
}

// encode returns the card as decodeCard reads it.
func (c *card) encode() (b record) {
	b.number(uint64(c.rank))
	b.text(c.listener)
	b.text(c.problem)
	return b
}

func decodeCard(b []byte, ranks int) (c card, err error) {
	d := reading{b: b}
	c = card{rank: d.rank(ranks), listener: d.text(), problem: d.text()}
	return c, d.end()
}

// nodeRecord is what all ranks must know of a node.
type nodeRecord struct {
	ranks   []transport.Rank // ascending; the first is the leader
	host    string
	machine uint64 // a hash that is the same for nodes of one machine
	netns   uint64 // a hash that is the same for nodes of one network namespace
	// address space of its arena: each of its ranks may allocate all memory of the machine; in
	// whole MiB
	need    int64
	secret  []byte // of the job; of the first node only
	reports []report
}

// encode returns the record as decodeNode reads it.
func (n *nodeRecord) encode() (b record) {
	b = append(record(recordMagic), recordVersion)
	b.number(uint64(n.ranks[0]))
	b.ranks(n.ranks)
	b.text(n.host)
	b.number(n.machine)
	b.number(n.netns)
	b.number(uint64(n.need+mib-1) / mib)
	b.bytes(n.secret)
	b.reports(n.reports)
	return b
}

const mib = 1 << 20

// decodeNode reads the record of a node of another rank. A record of another version is an error
// that says which.
func decodeNode(b []byte, ranks int) (n nodeRecord, err error) {
	const head = len(recordMagic) + 1
	if len(b) < head || string(b[:len(recordMagic)]) != recordMagic {
		return n, errRecord
	}
	d := reading{b: b[head:]}
	leader := d.rank(ranks)
	if v := b[head-1]; v != recordVersion && !d.bad {
		return n, &StartError{Text: fmt.Sprintf("the ranks have different versions of "+
			"this library: rank %d exchanges records of "+
			"version %d at the start, this rank of version %d", leader, v,
			recordVersion)}
	}
	n = nodeRecord{ranks: d.ranks(ranks), host: d.text(), machine: d.number(),
		netns: d.number(),
		need:  int64(d.number()) * mib, secret: d.bytes(), reports: d.reports(ranks)}
	if err := d.end(); err != nil {
		return n, fmt.Errorf("node of rank %d: %w", leader, err)
	}
	if len(n.ranks) == 0 || int(n.ranks[0]) != leader {
		return n, fmt.Errorf("node of rank %d: %w", leader, errRecord)
	}
	return n, nil
}

// exchange is collective: merge makes the record of a node from the cards of its ranks, nil if one
// is malformed. All ranks get the records of all nodes.
func (r *Runtime) exchange(mine record, merge func(cards [][]byte) record) (nodes [][]byte,
	err error) {
	cards, err := r.Job.GatherNode(mine)
	if err != nil {
		return nil, err
	}
	var node record
	if r.local == 0 {
		node = merge(cards)
	}
	return r.Job.ExchangeLeaders(node)
}

// found is what the first exchange has found beside the topology.
type found struct {
	secret    []byte
	need      int64    // address space that the arena of any node may use
	listeners []string // of the ranks of this node
}

// meet is the first exchange. Its error is the same on all ranks, unless the job is ending.
func (r *Runtime) meet(listener string, memory int64, problem error) (*found, error) {
	id, host := NodeID(r.Cfg.String("ARMCI_NODE"))
	log.SetIdentity(int(r.Me), host)
	var err error
	if r.local, _, err = r.Job.Split(fmt.Sprintf("%s %d %s", recordMagic, recordVersion,
		id)); err != nil {
		return nil, err
	}
	f := &found{}
	var malformed error
	mine := card{int(r.Me), listener, reportOf(problem)}
	cards, err := r.Job.GatherNode(mine.encode())
	if err != nil {
		return nil, err
	}
	node := nodeRecord{host: host, machine: hash(machine(id)), netns: hash(namespace(id)),
		need: memory * int64(len(cards))}
	for _, b := range cards {
		c, err := decodeCard(b, r.N)
		if err != nil {
			malformed = err
		}
		f.listeners = append(f.listeners, c.listener)
		node.ranks = append(node.ranks, transport.Rank(c.rank))
		node.reports = addReport(node.reports, c.problem, c.rank)
	}
	if r.Me == 0 {
		node.secret = make([]byte, secretBytes)
		rand.Read(node.secret)
	}
	var own record // nil, if malformed: then all ranks fail
	if malformed == nil {
		own = node.encode()
	}
	all, err := r.Job.ExchangeLeaders(own)
	if err != nil {
		return nil, err
	}
	return f, r.learn(f, all)
}

// learn reads the records of all nodes.
func (r *Runtime) learn(f *found, all [][]byte) error {
	nodes := make([]nodeRecord, len(all))
	var reports []report
	for i, b := range all {
		var err error
		if nodes[i], err = decodeNode(b, r.N); err != nil {
			return r.odd(err)
		}
		f.need = max(f.need, nodes[i].need)
		reports = append(reports, nodes[i].reports...)
	}
	if err := consensusError(reports, int(r.Me)); err != nil {
		return err
	}
	f.secret = nodes[0].secret
	topo, err := newTopology(r.Me, r.N, nodes)
	if err == nil && len(f.secret) != secretBytes {
		err = errRecord
	}
	r.Topo = topo
	return err
}

// odd makes one rank print an error that all have: the first of those that exchange records of this
// version.
func (r *Runtime) odd(err error) error {
	if s, ok := err.(*StartError); ok {
		s.Print = r.Me == 0
	}
	return err
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64() >> 8 // which a record has in 8 bytes
}
