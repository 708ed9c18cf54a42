// SPDX-License-Identifier: BSD-3-Clause

// The node of a program started by armcirun. The job server says which ranks it has. They form a
// tree, each connected to its parent: strings go up to the leader, which exchanges the node's with
// other leaders by the job server, and what all get goes down. So neither the server nor any rank
// sends everything to every rank.

package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"time"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/log"
)

// linkTime is how long the ranks of a node may take to connect to each other, all having asked for
// their node.
const linkTime = 60 * time.Second

// linkPlaces is for the children of a rank, a few, and for other processes of the user.
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
	f, err := j.ask(jobwire.Split, place)
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
		err = n.accept(listener.(*net.UnixListener), j.secret)
	}
	if err != nil {
		err = fmt.Errorf("connect the %d ranks of this node: %w", n.size, err)
	}
	return n.local, n.size, err
}

// child is one that has connected.
type child struct {
	local int
	conn  net.Conn
}

// accept waits for the connections of the children, which come in any order and take turns on few
// cores.
func (n *nodeLinks) accept(l *net.UnixListener, secret jobwire.Secret) error {
	first, count := jobwire.Children(n.local, n.size)
	n.children = make([]net.Conn, count)
	l.SetDeadline(time.Now().Add(linkTime))
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
				go meet(conn, secret, n.size, met, enough, waiting)
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

// meet passes on who has connected, unless that is nobody of this node.
func meet(conn net.Conn, secret jobwire.Secret, size int, met chan<- child, enough <-chan struct{},
	waiting *acceptqueue.Waiting) {
	defer log.Guard()
	local, of, err := jobwire.Meet(conn, secret, jobwire.Link,
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

// GatherNode gathers up the tree: a rank passes on its own string and those of the ranks below it.
func (j *armcirunJob) GatherNode(mine []byte) ([][]byte, error) {
	n := &j.node
	f, err := n.gather(mine)
	if errors.Is(err, errLink) {
		err = j.whoLeft()
	}
	if n.local == 0 {
		return j.passDown(f, err)
	}
	if n.passUp(f, err) != nil && err == nil {
		err = j.whoLeft()
	}
	if err != nil {
		return j.passDown(f, err)
	}
	return j.passDown(j.fromParent())
}

// errLink: a connection within the node has ended.
var errLink = errors.New("a connection within the node has ended")

// gather makes a list of this rank's string and those of all ranks below, in the order of their
// local numbers.
func (n *nodeLinks) gather(mine []byte) (f jobwire.Frame, err error) {
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

// readLink reads a list from a rank of the node, or what has happened.
func readLink(c net.Conn) (f jobwire.Frame, err error) {
	f, err = jobwire.Read(c, jobwire.Collected, jobwire.Refused)
	switch {
	case err != nil:
		err = errLink
	case f.Kind == jobwire.Refused:
		err = errors.New(string(f.Payload))
	}
	return f, err
}

func (j *armcirunJob) fromParent() (jobwire.Frame, error) {
	f, err := readLink(j.node.parent)
	if errors.Is(err, errLink) {
		err = j.whoLeft()
	}
	return f, err
}

func (j *armcirunJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	if j.node.local > 0 {
		return j.passDown(j.fromParent())
	}
	return j.passDown(j.ask(jobwire.Contribute, mine))
}

// passUp gives a frame to the parent, or an error.
func (n *nodeLinks) passUp(f jobwire.Frame, err error) error {
	return jobwire.WriteEncoded(n.parent, encode(f, err))
}

// passDown gives the children what this rank has got, or why it has got nothing, and returns it.
// One that has gone is noticed by the job server.
func (j *armcirunJob) passDown(f jobwire.Frame, err error) ([][]byte, error) {
	if len(j.node.children) > 0 {
		frame := encode(f, err)
		for _, c := range j.node.children {
			_ = jobwire.WriteEncoded(c, frame)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	return jobwire.UnpackList(f.Payload)
}

// encode makes the bytes of a frame, or of an error in its stead.
func encode(f jobwire.Frame, err error) []byte {
	if err != nil {
		f = jobwire.Frame{Kind: jobwire.Refused, Payload: []byte(err.Error())}
	}
	b, err := jobwire.Encode(f.Kind, f.Payload)
	if err != nil {
		b, _ = jobwire.Encode(jobwire.Refused, []byte(err.Error()))
	}
	return b
}

// whoLeft is the error of a rank whose connection within the node has ended. The job server knows
// whose process has; it does not answer if the job is about to be ended for a known reason.
func (j *armcirunJob) whoLeft() error {
	_, err := j.ask(jobwire.Missing, nil)
	if err == nil {
		err = errLink
	}
	return err
}
