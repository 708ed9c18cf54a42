// SPDX-License-Identifier: BSD-3-Clause

// Inquiries of other hosts to a reporter. A launcher may end the ranks of one host within half a
// millisecond, before one of them can send the cause to another host. The reporter is all that is
// left there, so a host that loses those ranks asks it whether the cause is known.
package shm

import (
	"time"

	"libarmci/internal/log"
)

// Inquiries is how the hosts of a job ask each other's reporters.
type Inquiries interface {
	// Listen opens the listening socket of a reporter, which sends its answer on every
	// connection. at is the address of the socket for other hosts.
	Listen() (fd int, at []byte, err error)
	// Ask returns true as soon as the reporter at an address gives this answer. It returns
	// false if that has ended, is not reached within a time, or is silent for some seconds.
	Ask(at []byte, answer string, within time.Duration) bool
}

// causeKnownText is the answer of a reporter that knows the cause. It is derived from the job's
// secret.
func causeKnownText(secret []byte) string { return secretName("known ", secret) }

// openInquiries opens the listening socket of this node's reporter; -1 without other hosts.
func (m *liveness) openInquiries() int {
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

// InquiriesAt returns the address of the reporter that this rank has started; nil: it has none.
func (m *liveness) InquiriesAt() []byte { return m.inquiries }

// AskCauseKnown asks the reporter at an address, and reports whether it knows why the job ends.
func (m *liveness) AskCauseKnown(at []byte, within time.Duration) bool {
	return m.opt.Inquiries != nil &&
		m.opt.Inquiries.Ask(at, causeKnownText(m.opt.Secret), within)
}
