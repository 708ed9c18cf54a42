// SPDX-License-Identifier: BSD-3-Clause

// What other hosts learn of a reporter. A launcher may end the ranks of one host within half a
// millisecond, before one of them can tell another host why, and leave that alone. The reporter is
// all that is left there; so a host that loses its ranks asks it whether the cause is known.
package shm

import (
	"time"

	"libarmci/internal/log"
)

// Inquiries is how the hosts of a job ask each other's reporters.
type Inquiries interface {
	// Listen opens the socket of a reporter, which sends its answer to all that connect. Its
	// address for other hosts is at.
	Listen() (fd int, at []byte, err error)
	// Ask returns true as soon as the reporter at an address gives this answer, and false if it
	// has ended, cannot be reached within a time, or does not answer for some seconds.
	Ask(at []byte, answer string, within time.Duration) bool
}

// knownText is the answer of a reporter: only a process of the job knows it.
func knownText(secret []byte) string { return secretName("known ", secret) }

// openInquiries opens the socket of this node's reporter, if there are other hosts; else it is -1.
func (m *Node) openInquiries() int {
	if m.opt.Inquiries == nil || max(m.opt.NetnsRanks, len(m.opt.Ranks)) == m.opt.World {
		return -1
	}
	fd, at, err := m.opt.Inquiries.Listen()
	if err != nil {
		log.Infof("other hosts cannot ask this one's reporter why the job ends: %v", err)
		return -1
	}
	m.inquiries = at
	return fd
}

// InquiriesAt is the address of the reporter that this rank has started, nil if there is none.
func (m *Node) InquiriesAt() []byte { return m.inquiries }

// Known asks the reporter at an address whether the cause of the job's end is known there.
func (m *Node) Known(at []byte, within time.Duration) bool {
	return m.opt.Inquiries != nil && m.opt.Inquiries.Ask(at, knownText(m.opt.Secret), within)
}
