// SPDX-License-Identifier: BSD-3-Clause

// The node of a program started by armcirun. The job server says which ranks it has. They form a
// tree, each connected to its parent. Strings go up to the leader, which exchanges those of the
// node with other leaders by the job server; the result goes down. So neither the server nor any
// rank sends everything to every rank.

package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"time"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/log"
	"libarmci/internal/sys"
)

// linkTimeout is how long the ranks of a node may take to connect to each other, once all have sent
// Split.
const linkTimeout = 60 * time.Second

// linkPlaces is the size of the accept queue: for the children of a rank, which are few, and for
// other processes of the user.
const linkPlaces = 64

// nodeLinks are the connections of a rank within its node.
type nodeLinks struct {
	local, size int
	parent      net.Conn   // of all but the leader
	children    []net.Conn // in ascending order of their local numbers
}

func (n *nodeLinks) close() {
	if n.parent != nil {
		n.parent.Close()
	}
	for _, c := range n.children {
		c.Close()
	}
	*n = nodeLinks{}
}

// Split asks the job server for the node of this rank, and connects the ranks of the node as a
// tree.
func (j *armcirunJob) Split(key string) (local, size int, err error) {
	j.node.close()
	listener, err := net.Listen("unix", jobwire.NewAddress())
	if err != nil {
		return 0, 0, fmt.Errorf("listen for the ranks of this node: %w", err)
	}
	defer listener.Close()
	place, err := jobwire.PackSplit(key, listener.Addr().String())
	if err != nil {
		return 0, 0, err
	}
	f, err := j.request(jobwire.Split, place)
	if err != nil {
		return 0, 0, err
	}
	n := &j.node
	var link string
	if n.local, n.size, link, err = jobwire.UnpackPlaced(f.Payload); err != nil {
		return 0, 0, err
	}
	if n.local > 0 {
		n.parent, err = jobwire.Join(link, j.timeout, j.secret, jobwire.Link, n.local,
			n.size)
	}
	if err == nil {
		err = n.acceptChildren(listener.(*net.UnixListener), j.secret)
	}
	if err != nil {
		err = fmt.Errorf("connect the %d ranks of this node: %w", n.size, err)
	}
	return n.local, n.size, err
}

// child is a rank that has connected to its parent.
type child struct {
	local int
	conn  net.Conn
}

// acceptChildren waits for the connections of the children, which arrive in any order and take
// turns on few cores.
func (n *nodeLinks) acceptChildren(l *net.UnixListener, secret jobwire.Secret) error {
	first, count := jobwire.Children(n.local, n.size)
	n.children = make([]net.Conn, count)
	l.SetDeadline(time.Now().Add(linkTimeout))
	met, ended, enough := make(chan child), make(chan error, 1), make(chan struct{})
	defer close(enough)
	go func() {
		defer log.Guard()
		waiting := acceptqueue.NewWaiting(linkPlaces)
		for {
			conns, err := waiting.Accept(l)
			if err != nil {
				ended <- err
				return
			}
			for _, conn := range conns {
				go admitChild(conn, secret, n.size, met, enough, waiting)
			}
		}
	}()
	for missing := count; missing > 0; {
		select {
		case c := <-met:
			if i := c.local - first; i >= 0 && i < count && n.children[i] == nil {
				n.children[i] = c.conn
				missing--
			} else {
				c.conn.Close()
			}
		case err := <-ended:
			return err
		}
	}
	return nil
}

// admitChild checks the hello of a connection and passes it to met. It closes the connection if
// that is not of a rank of this node, or if enough is closed.
func admitChild(conn net.Conn, secret jobwire.Secret, size int, met chan<- child,
	enough <-chan struct{}, waiting *acceptqueue.Waiting) {
	defer log.Guard()
	local, of, err := jobwire.AcceptHello(conn, secret, jobwire.Link,
		func() bool { return waiting.Leave(conn) })
	if err == nil && of == size {
		select {
		case met <- child{local, conn}:
			return
		case <-enough:
		}
	}
	waiting.Leave(conn)
	conn.Close()
}

func (j *armcirunJob) EndExchange() { j.node.close() }

// GatherNode gathers up the tree: a rank sends its parent its own string and those of the ranks
// below it.
func (j *armcirunJob) GatherNode(mine []byte) ([][]byte, error) {
	n := &j.node
	f, err := n.gatherBelow(mine)
	if errors.Is(err, errLink) {
		err = j.lossError()
	}
	if n.local == 0 {
		return j.passDown(f, err)
	}
	if sent := n.passUp(f, err); err == nil && sent != nil {
		if err = sent; errors.Is(err, errLink) {
			err = j.lossError()
		}
	}
	if err != nil {
		return j.passDown(f, err)
	}
	return j.passDown(j.fromParent())
}

// errLink is the error of a connection within the node that has ended.
var errLink = errors.New("a connection within the node has ended")

// linkError makes an error of a connection within the node errLink if the other rank has closed it.
// Any other one is this rank's, and the other rank has not left: the job server could name none.
func linkError(err error) error {
	switch {
	case sys.ClosedByPeer(err):
		return errLink
	case err != nil:
		return fmt.Errorf("a connection within the node: %w", err)
	}
	return nil
}

// gatherBelow makes a list of this rank's string and those of all ranks below, in the order of
// their local numbers.
func (n *nodeLinks) gatherBelow(mine []byte) (f jobwire.Frame, err error) {
	if len(mine) > jobwire.MaxContribution {
		return f, jobwire.ErrTooLarge
	}
	below := [][][]byte{{mine}}
	for _, c := range n.children {
		f, err := readLink(c)
		if err != nil {
			return f, err
		}
		parts, err := jobwire.UnpackList(f.Payload)
		if err != nil {
			return f, err
		}
		below = append(below, parts)
	}
	f.Kind = jobwire.Collected
	f.Payload, err = jobwire.PackList(jobwire.InOrder(n.local, n.size, below))
	return f, err
}

// readLink reads a list from a rank of the node, or the error that is sent instead.
func readLink(c net.Conn) (f jobwire.Frame, err error) {
	f, err = jobwire.Read(c, jobwire.Collected, jobwire.Refused)
	switch {
	case err != nil:
		err = linkError(err)
	case f.Kind == jobwire.Refused:
		err = errors.New(string(f.Payload))
	}
	return f, err
}

func (j *armcirunJob) fromParent() (jobwire.Frame, error) {
	f, err := readLink(j.node.parent)
	if errors.Is(err, errLink) {
		err = j.lossError()
	}
	return f, err
}

func (j *armcirunJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	if j.node.local > 0 {
		return j.passDown(j.fromParent())
	}
	return j.passDown(j.request(jobwire.Contribute, mine))
}

// passUp sends a frame to the parent, or an error instead.
func (n *nodeLinks) passUp(f jobwire.Frame, err error) error {
	return linkError(jobwire.WriteEncoded(n.parent, encodeFrame(f, err)))
}

// passDown sends the children the frame that this rank has received, or the error, and returns it.
// The job server notices a child that has ended. A child that is not sent the frame would wait for
// it: this rank fails, so that the job server ends the wait.
func (j *armcirunJob) passDown(f jobwire.Frame, err error) ([][]byte, error) {
	if len(j.node.children) > 0 {
		frame := encodeFrame(f, err)
		for _, c := range j.node.children {
			sent := linkError(jobwire.WriteEncoded(c, frame))
			if err == nil && !errors.Is(sent, errLink) {
				err = sent
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	return jobwire.UnpackList(f.Payload)
}

// encodeFrame makes the bytes of a frame, or of an error instead.
func encodeFrame(f jobwire.Frame, err error) []byte {
	if err != nil {
		f = jobwire.Frame{Kind: jobwire.Refused, Payload: []byte(err.Error())}
	}
	b, err := jobwire.Encode(f.Kind, f.Payload)
	if err != nil {
		b, _ = jobwire.Encode(jobwire.Refused, []byte(err.Error()))
	}
	return b
}

// lossError is the error of a rank of which a connection within the node has ended. The job server
// knows which rank has left. It does not answer if the job is about to be ended for a known reason.
func (j *armcirunJob) lossError() error {
	_, err := j.request(jobwire.Missing, nil)
	if err == nil {
		err = errLink
	}
	return err
}
