// SPDX-License-Identifier: BSD-3-Clause

// The ranks' side of the reporter, a process of the node that outlives all ranks by a moment
// (reporter.c). The leader starts it while the ranks join. Each rank has a connection to it, and
// writes one byte, its status, before it ends. Without a reporter the ranks report deaths
// themselves (liveness.go).
package shm

// #include <stdlib.h>
// #include "reporter.h"
import "C"

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/log"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// A rank's status, see reporter.h.
const (
	statusFinalised = C.REPORTER_FINALISED
	statusLeft      = C.REPORTER_LEFT
	statusReported  = C.REPORTER_REPORTED
	statusClaimed   = C.REPORTER_CLAIMED
)

const (
	reporterName   = "armci-reporter"
	highDescriptor = 256
	reporterStart  = 5 * time.Second // it may take to start, on a busy machine
)

// reporterLink is this rank's connection to the reporter.
type reporterLink struct {
	reporterFD int // the connection; -1: there is no reporter
	statusOnce sync.Once
	inquiries  []byte // where other hosts can ask the reporter that this rank has started
}

// deathText is the line about a rank that has ended without a goodbye.
func deathText(rank transport.Rank, pid int) string {
	return fmt.Sprintf("rank %d (pid %d) has died or ended without ARMCI_Finalize", rank, pid)
}

// startReporter starts or shares a reporter, and returns the ranks' ends of the connections to it.
// None: a reporter is not wanted or not possible. The leader calls it.
func (m *liveness) startReporter() []int {
	n := len(m.opt.Ranks)
	if !m.opt.Reporter || max(n, m.opt.NetnsRanks) == 1 { // other hosts see its death
		return nil
	}
	ranks, watched, err := socketPairs(n)
	if err == nil {
		own := m.watchList(watched)
		shared := m.opt.NetnsRanks > n
		if shared {
			err = m.shareReporter(own, ranks[0])
		}
		if !shared || err != nil && m.opt.NetnsNode > 0 {
			err = m.startOwnReporter(own, ranks[0])
		}
		closeFds(watched)
	}
	if err != nil {
		if len(ranks) > 0 {
			sendStatus(ranks[0], statusReported) // in case it has started late
		}
		closeFds(ranks)
		log.Infof("no reporter (%v): the launcher may end the job before a rank can say "+
			"why", err)
		return nil
	}
	return ranks
}

// watchList pairs the reporter's ends of the connections with the lines about this node's ranks.
// The leader calls it, and keeps the ends. A process id that is not known is 0.
func (m *liveness) watchList(ends []int) []watchedRank {
	all := make([]watchedRank, len(ends))
	for i, rank := range m.opt.Ranks {
		line := log.Line("%s: the job ends", deathText(rank, m.pidOf(i)))
		all[i] = watchedRank{ends[i], line}
	}
	return all
}

// startOwnReporter starts a reporter and waits until it watches all connections. ready is the
// rank's end of the first one.
func (m *liveness) startOwnReporter(all []watchedRank, ready int) error {
	err := m.launchReporter(all)
	if err == nil {
		err = awaitReporter(ready)
	}
	return err
}

// socketPairs makes n socket pairs: ends for the ranks, and ends for the reporter. On an error the
// caller closes ranks.
func socketPairs(n int) (ranks, watched []int, err error) {
	for range n {
		p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			closeFds(watched)
			return ranks, nil, err
		}
		ranks, watched = append(ranks, p[0]), append(watched, p[1])
	}
	return ranks, watched, nil
}

func closeFds(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// claimName is the name of the abstract socket that claims the right to print why the job ends:
// only one process of the machine, the reporter or a rank, can bind it.
func claimName(secret []byte) string { return secretName("reporter ", secret) }

// secretName derives a name for one use from the secret, which does not reveal it.
func secretName(use string, secret []byte) string {
	sum := sha256.Sum256(append([]byte(use), secret...))
	return "armci-" + hex.EncodeToString(sum[:12])
}

// launchReporter starts the reporter process with every line that it may have to print.
func (m *liveness) launchReporter(all []watchedRank) error {
	words, environment := []string{reporterName}, []string{claimName(m.opt.Secret)}
	var fds []C.int
	for _, w := range all {
		words, fds = append(words, w.line), append(fds, C.int(w.end))
	}
	if inquiries := m.openInquiries(); inquiries >= 0 {
		defer unix.Close(inquiries)
		environment = append(environment, causeKnownText(m.opt.Secret))
		fds = append(fds, C.int(inquiries))
	}
	argv, envp := cStrings(words), cStrings(environment)
	defer freeStrings(argv)
	defer freeStrings(envp)
	if argv == nil || envp == nil {
		return transport.ErrNoMemory
	}
	bad, err := C.shm_reporter_start(&argv[0], &envp[0], C.int(len(fds)), &fds[0])
	if bad == 0 {
		return nil
	}
	return err
}

// cStrings copies the strings to memory of C, as an array that ends with a null pointer; nil: there
// is no memory. The caller frees it with freeStrings.
func cStrings(all []string) []*C.char {
	n := len(all) + 1
	list := C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof((*C.char)(nil))))
	if list == nil {
		return nil
	}
	out := unsafe.Slice((**C.char)(list), n)
	for i, s := range all {
		out[i] = C.CString(s)
	}
	return out
}

func freeStrings(all []*C.char) {
	if all == nil {
		return
	}
	for _, s := range all {
		C.free(unsafe.Pointer(s))
	}
	C.free(unsafe.Pointer(&all[0]))
}

// awaitReporter waits until the reporter watches the connections, from when on it sees the order of
// deaths.
func awaitReporter(end int) error {
	word := make([]byte, 1)
	limit := unix.NsecToTimeval(int64(reporterStart))
	unix.SetsockoptTimeval(end, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit)
	for {
		n, err := unix.Read(end, word)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = errors.New("it has ended")
		}
		return err
	}
}

// pidOf returns the pid of a local rank, 0 if it is not known. The leader calls it.
func (m *liveness) pidOf(local int) int {
	if local == m.opt.Self {
		return os.Getpid()
	}
	cred, err := sys.PeerCredentials(m.memberConns[local])
	if err != nil {
		return 0
	}
	return int(cred.Pid)
}

// releaseMembers sends every member the frame that the control block is formatted, with its
// connection to the reporter if there is one. The leader calls it.
func (m *liveness) releaseMembers() (err error) {
	ends := m.startReporter()
	for i, c := range m.memberConns {
		if c == nil || err != nil {
			continue
		}
		var rights []byte
		if ends != nil {
			rights = unix.UnixRights(ends[i])
		}
		err = sys.Send(c, frame{kind: frameCommit, a: 1}.marshal(), rights)
		if err != nil {
			err = fmt.Errorf("rank %d %w (%w)", m.opt.Ranks[i], errNotTold, err)
		}
	}
	if ends != nil {
		m.reporterFD = dupHigh(ends[0]) // the leader's number is 0
		closeFds(ends[1:])
	}
	return err
}

// awaitRelease waits for the frame of releaseMembers, and stores the connection to the reporter
// that comes with it. A member calls it.
func (m *liveness) awaitRelease(c *net.UnixConn) error {
	body, oob := make([]byte, frameBytes), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := c.ReadMsgUnix(body, oob)
	if err != nil {
		return err
	}
	if n != frameBytes || unmarshalFrame(body).kind != frameCommit {
		return errors.New("an unexpected frame")
	}
	if oobn == 0 {
		return nil
	}
	end, err := oneDescriptor(oob[:oobn])
	if err == nil {
		m.reporterFD = dupHigh(end)
	}
	return err
}

// oneDescriptor returns the descriptor of a message that carries exactly one.
func oneDescriptor(oob []byte) (int, error) {
	fds, err := receivedDescriptors(oob)
	if err == nil && len(fds) != 1 {
		closeFds(fds)
		err = errNoConnection
	}
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

var errNoConnection = errors.New("no connection to the reporter came")

// receivedDescriptors returns the descriptors of a message, marked to be closed by exec.
func receivedDescriptors(oob []byte) ([]int, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return nil, errNoConnection
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return nil, errNoConnection
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return fds, nil
}

// dupHigh duplicates a descriptor to a number above the launcher's. A process that ends closes high
// descriptors first, so the reporter notices the end before the launcher does, and before the
// launcher kills other ranks.
func dupHigh(fd int) int {
	high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, highDescriptor)
	if err != nil { // the limit of descriptors is too low
		return fd
	}
	unix.Close(fd)
	return high
}

// tellReporter writes this rank's status to the reporter. Only the first call writes, since the
// reporter ignores later bytes.
func (r *reporterLink) tellReporter(status byte) {
	if r.reporterFD >= 0 {
		r.statusOnce.Do(func() { sendStatus(r.reporterFD, status) })
	}
}

func sendStatus(end int, status byte) {
	unix.SendmsgN(end, []byte{status}, nil, nil, unix.MSG_NOSIGNAL)
}
