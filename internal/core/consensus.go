// SPDX-License-Identifier: BSD-3-Clause

// Startup consensus: all ranks learn whether one of them cannot take part, so that none waits for
// it, and so that a reason is printed once, not once per rank. The leader of each node puts the
// reports of its ranks together.
package core

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"libarmci/internal/transport"
)

// StartError is why the library cannot start. Every rank gets one; the one that is to print it has
// Print set.
type StartError struct {
	Text  string
	Print bool
}

func (e *StartError) Error() string { return e.Text }

// textOf is the text of an error, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// consequence marks the report of a rank that failed only because another one did.
const consequence = "consequence: "

// isConsequence tells whether an error only says that another rank has left.
func isConsequence(err error) bool {
	for _, of := range []error{io.EOF, syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNREFUSED,
		os.ErrDeadlineExceeded} {
		if errors.Is(err, of) {
			return true
		}
	}
	return false
}

// report is that ranks fail with the same text.
type report struct {
	text  string
	rank  int // the lowest of them
	ranks int
}

const (
	maxReports     = 8    // different ones of a node; what is beyond is counted with the last
	maxReportBytes = 2000 // bytes of one
)

// reportOf is the text of a rank's report, "" if it has none.
func reportOf(err error) string {
	text := textOf(err)
	if err != nil && isConsequence(err) {
		text = consequence + text
	}
	return text[:min(len(text), maxReportBytes)]
}

// addReport adds the report of a rank, in ascending order of ranks.
func addReport(all []report, text string, rank int) []report {
	if text == "" {
		return all
	}
	if i := slices.IndexFunc(all, func(r report) bool { return r.text == text }); i >= 0 {
		all[i].ranks++
		return all
	}
	if len(all) == maxReports {
		all[maxReports-1].ranks++
		return all
	}
	return append(all, report{text, rank, 1})
}

// appendReports writes the reports of a node.
func (b *recordWriter) appendReports(all []report) {
	b.appendNumber(uint64(len(all)))
	for _, r := range all {
		b.appendText(r.text)
		b.appendNumber(uint64(r.rank))
		b.appendNumber(uint64(r.ranks))
	}
}

// readReports reads reports on a job of so many ranks.
func (d *recordReader) readReports(ranks int) []report {
	var all []report
	for range d.readCount() {
		all = append(all, report{text: d.readText(), rank: d.readRank(ranks),
			ranks: d.readRank(ranks + 1)})
	}
	return all
}

// consensus is collective: it succeeds if all ranks have reached this step without an error.
func (s *startup) consensus(err error) error {
	_, _, err = s.consensusWithAddresses(addresses{}, err)
	return err
}

// addresses are the addresses of a rank that others need, empty if it has none.
type addresses struct {
	server    []byte // of its data server
	inquiries []byte // of a leader: transport.Liveness.InquiriesAt
}

// consensusWithAddresses is consensus, and exchanges the addresses of ranks. The inquiry addresses
// are by node.
func (s *startup) consensusWithAddresses(mine addresses, err error) (addrs []transport.PeerAddr,
	inquiries [][]byte, _ error) {
	nodes, lost := s.exchangeRecords(consensusRecord(err, mine),
		func(records [][]byte) recordWriter {
			return mergeReports(records,
				s.rt.Topo.Mine())
		})
	if lost != nil {
		return nil, nil, errors.Join(err, lost)
	}
	var reports []report
	for n, b := range nodes {
		d := recordReader{rest: b}
		reports = append(reports, d.readReports(s.rt.N)...)
		for range d.readCount() {
			rank := s.rt.Topo.Nodes[n][d.readRank(len(s.rt.Topo.Nodes[n]))]
			addrs = append(addrs, transport.PeerAddr{Rank: rank, Addr: d.readBytes()})
		}
		inquiries = append(inquiries, d.readBytes())
		if err := d.checkEnd(); err != nil {
			return nil, nil, fmt.Errorf("node of rank %d: %w", s.rt.Topo.Nodes[n][0],
				err)
		}
	}
	slices.SortFunc(addrs,
		func(a, b transport.PeerAddr) int { return cmp.Compare(a.Rank, b.Rank) })
	return addrs, inquiries, consensusError(reports, int(s.rt.Me))
}

// consensusRecord is what a rank sends its leader for consensusWithAddresses.
func consensusRecord(err error, a addresses) (b recordWriter) {
	b.appendText(reportOf(err))
	b.appendBytes(a.server)
	b.appendBytes(a.inquiries)
	return b
}

// mergeReports makes the record of a node for consensusWithAddresses.
func mergeReports(records [][]byte, ranks []transport.Rank) (node recordWriter) {
	var reports []report
	var addrs, inquiries recordWriter
	count := uint64(0)
	for i, b := range records {
		d := recordReader{rest: b}
		reports = addReport(reports, d.readText(), int(ranks[i]))
		if addr := d.readBytes(); len(addr) > 0 {
			addrs.appendNumber(uint64(i))
			addrs.appendBytes(addr)
			count++
		}
		if at := d.readBytes(); i == 0 {
			inquiries.appendBytes(at)
		}
		if d.checkEnd() != nil {
			return nil
		}
	}
	node.appendReports(reports)
	node.appendNumber(count)
	return append(append(node, addrs...), inquiries...)
}

// consensusError is the error of the lowest rank that failed with a cause of its own, or, if there
// is none, of the lowest rank with a consequence. It counts the ranks that report something else.
// nil: no rank failed.
func consensusError(reports []report, me int) error {
	first := firstReport(reports,
		func(r report) bool { return !strings.HasPrefix(r.text, consequence) })
	if first == nil {
		first = firstReport(reports, func(report) bool { return true })
	}
	if first == nil {
		return nil
	}
	return &StartError{strings.TrimPrefix(first.text, consequence) + otherCauses(reports,
		first.text), first.rank == me}
}

// firstReport is the report of the lowest rank among those that of selects, nil if there is none.
func firstReport(reports []report, of func(report) bool) (first *report) {
	for i, r := range reports {
		if of(r) && (first == nil || r.rank < first.rank) {
			first = &reports[i]
		}
	}
	return first
}

// otherCauses is the text about further ranks that have causes of their own.
func otherCauses(reports []report, told string) string {
	other := func(r report) bool {
		return r.text != told && !strings.HasPrefix(r.text,
			consequence)
	}
	count := 0
	for _, r := range reports {
		if other(r) {
			count += r.ranks
		}
	}
	example := firstReport(reports, other)
	switch count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (and rank %d: %s)", example.rank, example.text)
	}
	return fmt.Sprintf(" (and %d more ranks have other reasons; rank %d: %s)", count,
		example.rank, example.text)
}
