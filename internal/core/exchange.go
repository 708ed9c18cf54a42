// SPDX-License-Identifier: BSD-3-Clause

// The exchange with which a job starts: which ranks are on which node, and what all must know of
// each node. It has two levels. The ranks of a node send their leader, its lowest rank, an address
// record each. The leader makes one record of them. The leaders exchange these records, and every
// rank gets all of them. So what a process sends and receives grows with the number of nodes.
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
// the address records may differ between versions.
const (
	recordMagic   = "AMS"
	recordVersion = 3
)

// secretBytes is the length of a job's secret.
const secretBytes = 16

// addressRecord is what a rank sends its leader first.
type addressRecord struct {
	rank     int
	listener string // where the ranks of its node connect to it
	problem  string // why it cannot take part
}

// encodeAddress returns the record as decodeAddressRecord reads it.
func (c *addressRecord) encodeAddress() (b recordWriter) {
	b.appendNumber(uint64(c.rank))
	b.appendText(c.listener)
	b.appendText(c.problem)
	return b
}

// decodeAddressRecord reads the record of a rank of the node, below ranks.
func decodeAddressRecord(b []byte, ranks int) (c addressRecord, err error) {
	d := recordReader{rest: b}
	c = addressRecord{rank: d.readRank(ranks), listener: d.readText(), problem: d.readText()}
	return c, d.checkEnd()
}

// nodeRecord is what all ranks must know of a node.
type nodeRecord struct {
	ranks   []transport.Rank // ascending; the first is the leader
	host    string
	machine uint64 // a hash that is the same for nodes of one machine
	netns   uint64 // a hash that is the same for nodes of one network namespace
	// address space of its arena: each of its ranks may allocate all memory of the machine; in
	// whole MiB
	arenaBytes int64
	secret     []byte // of the job; of the first node only
	reports    []report
}

// encodeNode returns the record as decodeNode reads it.
func (n *nodeRecord) encodeNode() (b recordWriter) {
	b = append(recordWriter(recordMagic), recordVersion)
	b.appendNumber(uint64(n.ranks[0]))
	b.appendRanks(n.ranks)
	b.appendText(n.host)
	b.appendNumber(n.machine)
	b.appendNumber(n.netns)
	b.appendNumber(uint64(n.arenaBytes+mib-1) / mib)
	b.appendBytes(n.secret)
	b.appendReports(n.reports)
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
	d := recordReader{rest: b[head:]}
	leader := d.readRank(ranks)
	if v := b[head-1]; v != recordVersion && !d.malformed {
		return n, &StartError{Text: fmt.Sprintf("the ranks have different versions of "+
			"this library: rank %d exchanges records of "+
			"version %d at the start, this rank of version %d", leader, v,
			recordVersion)}
	}
	n = nodeRecord{ranks: d.readRanks(ranks), host: d.readText(), machine: d.readNumber(),
		netns:      d.readNumber(),
		arenaBytes: int64(d.readNumber()) * mib, secret: d.readBytes(),
		reports: d.readReports(ranks)}
	if err := d.checkEnd(); err != nil {
		return n, fmt.Errorf("node of rank %d: %w", leader, err)
	}
	if len(n.ranks) == 0 || int(n.ranks[0]) != leader {
		return n, fmt.Errorf("node of rank %d: %w", leader, errRecord)
	}
	return n, nil
}

// exchangeRecords makes one record of each node from the records of its ranks, by merge at the
// leader, and returns the records of all nodes at all ranks. merge returns nil if a rank's record
// is malformed.
func (s *startup) exchangeRecords(mine recordWriter, merge func(records [][]byte) recordWriter) (
	nodes [][]byte,
	err error) {
	records, err := s.rt.Job.GatherNode(mine)
	if err != nil {
		return nil, err
	}
	var node recordWriter
	if s.rt.localRank == 0 {
		node = merge(records)
	}
	return s.rt.Job.ExchangeLeaders(node)
}

// startInfo is what the first exchange finds beside the topology.
type startInfo struct {
	secret     []byte
	arenaBytes int64    // address space that the arena of any node may use
	listeners  []string // of the ranks of this node
}

// exchangeAddresses is the first exchange: it sets the topology. Its error is the same on all
// ranks, unless the job is ending.
func (s *startup) exchangeAddresses(listener string, memory int64, problem error) (*startInfo,
	error) {
	id, host := NodeID(s.rt.Cfg.String("ARMCI_NODE"))
	log.SetIdentity(int(s.rt.Me), host)
	var err error
	if s.rt.localRank, _, err = s.rt.Job.Split(fmt.Sprintf("%s %d %s", recordMagic,
		recordVersion,
		id)); err != nil {
		return nil, err
	}
	f := &startInfo{}
	var malformed error
	mine := addressRecord{int(s.rt.Me), listener, reportOf(problem)}
	records, err := s.rt.Job.GatherNode(mine.encodeAddress())
	if err != nil {
		return nil, err
	}
	node := nodeRecord{host: host, machine: hashID(machineID(id)), netns: hashID(netnsID(id)),
		arenaBytes: memory * int64(len(records))}
	for _, b := range records {
		c, err := decodeAddressRecord(b, s.rt.N)
		if err != nil {
			malformed = err
		}
		f.listeners = append(f.listeners, c.listener)
		node.ranks = append(node.ranks, transport.Rank(c.rank))
		node.reports = addReport(node.reports, c.problem, c.rank)
	}
	if s.rt.Me == 0 {
		node.secret = make([]byte, secretBytes)
		rand.Read(node.secret)
	}
	var own recordWriter // nil, if malformed: then all ranks fail
	if malformed == nil {
		own = node.encodeNode()
	}
	all, err := s.rt.Job.ExchangeLeaders(own)
	if err != nil {
		return nil, err
	}
	return f, s.readNodeRecords(f, all)
}

// readNodeRecords reads the records of all nodes into f and the topology.
func (s *startup) readNodeRecords(f *startInfo, all [][]byte) error {
	nodes := make([]nodeRecord, len(all))
	var reports []report
	for i, b := range all {
		var err error
		if nodes[i], err = decodeNode(b, s.rt.N); err != nil {
			return s.markPrinter(err)
		}
		f.arenaBytes = max(f.arenaBytes, nodes[i].arenaBytes)
		reports = append(reports, nodes[i].reports...)
	}
	if err := consensusError(reports, int(s.rt.Me)); err != nil {
		return err
	}
	f.secret = nodes[0].secret
	topo, err := newTopology(s.rt.Me, s.rt.N, nodes)
	if err == nil && len(f.secret) != secretBytes {
		err = errRecord
	}
	s.rt.Topo = topo
	return err
}

// markPrinter makes one rank print an error that all have: the first of those that exchange records
// of this version.
func (s *startup) markPrinter(err error) error {
	if e, ok := err.(*StartError); ok {
		e.Print = s.rt.Me == 0
	}
	return err
}

// hashID is a hash of 56 bits, which a record has in 8 bytes.
func hashID(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64() >> 8 // which a record has in 8 bytes
}
