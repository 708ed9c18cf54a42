// SPDX-License-Identifier: BSD-3-Clause

// The node of a program started by armcirun. The job server says which ranks it has; then each has a connection to the lowest,
// the leader, which gathers their strings, exchanges the node's with other leaders by the job server, and passes on what it gets:
// so the server does not send everything to every rank.

package bootstrap

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/log"
)

// linkTime is how long the ranks of a node may take to connect to their leader, all having asked for their node.
const linkTime = 60 * time.Second

// nodeLinks are the connections within a node.
type nodeLinks struct {
	local, size int
	leader      net.Conn // of all but the leader
	members     []member // of the leader, in ascending order of ranks
}

type member struct {
	rank int
	conn net.Conn
}

func (n *nodeLinks) close() {
	if n.leader != nil {
		n.leader.Close()
	}
	for _, m := range n.members {
		m.conn.Close()
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
	if n.local == 0 {
		err = n.gather(listener.(*net.UnixListener), j.secret)
	} else if n.leader, err = jobwire.Dial(link, connectTime); err == nil {
		err = jobwire.Greet(n.leader, j.secret, jobwire.Link, j.rank, n.size)
	}
	if err != nil {
		err = fmt.Errorf("connect the %d ranks of this node: %w", n.size, err)
	}
	return n.local, n.size, err
}

// gather accepts the connections of all other ranks of the node, which come in any order and take turns on few cores.
func (n *nodeLinks) gather(l *net.UnixListener, secret jobwire.Secret) error {
	l.SetDeadline(time.Now().Add(linkTime))
	met, ended, enough := make(chan member), make(chan error, 1), make(chan struct{})
	defer close(enough)
	go func() {
		defer log.Guard()
		for {
			conn, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			go meet(conn, secret, n.size, met, enough)
		}
	}()
	for len(n.members) < n.size-1 {
		select {
		case m := <-met:
			n.members = append(n.members, m)
		case err := <-ended:
			return err
		}
	}
	slices.SortFunc(n.members, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
	return nil
}

// meet passes on who has connected, unless that is nobody of this node.
func meet(conn net.Conn, secret jobwire.Secret, size int, met chan<- member, enough <-chan struct{}) {
	defer log.Guard()
	rank, of, err := jobwire.Meet(conn, secret, jobwire.Link)
	if err == nil && of == size {
		select {
		case met <- member{rank, conn}:
			return
		case <-enough:
		}
	}
	conn.Close()
}

func (j *armcirunJob) EndExchange() { j.node.close() }

func (j *armcirunJob) GatherNode(mine []byte) ([][]byte, error) {
	if len(mine) > jobwire.MaxContribution {
		return nil, fmt.Errorf("exchange: %w", jobwire.ErrTooLarge)
	}
	n := &j.node
	if n.local != 0 {
		if jobwire.Write(n.leader, jobwire.Contribute, mine) != nil {
			return nil, fmt.Errorf("exchange: %w", j.whoLeft())
		}
		return j.passedOn()
	}
	parts := [][]byte{mine}
	for _, m := range n.members {
		f, err := jobwire.Read(m.conn, jobwire.Contribute)
		if err != nil {
			return j.passOn(jobwire.Frame{}, j.whoLeft())
		}
		parts = append(parts, f.Payload)
	}
	payload, err := jobwire.PackList(parts)
	return j.passOn(jobwire.Frame{Kind: jobwire.Collected, Payload: payload}, err)
}

func (j *armcirunJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	if j.node.local != 0 {
		return j.passedOn()
	}
	return j.passOn(j.ask(jobwire.Contribute, mine))
}

// passOn gives the other ranks of the node what the leader has got, or why it has got nothing, and returns it. One that has gone
// is noticed by the job server.
func (j *armcirunJob) passOn(f jobwire.Frame, err error) ([][]byte, error) {
	if err != nil {
		f = jobwire.Frame{Kind: jobwire.Refused, Payload: []byte(err.Error())}
	}
	frame, _ := jobwire.Encode(f.Kind, f.Payload) // neither can be too long
	for _, m := range j.node.members {
		_ = jobwire.WriteEncoded(m.conn, frame)
	}
	if err != nil {
		return nil, fmt.Errorf("exchange: %w", err)
	}
	return jobwire.UnpackList(f.Payload)
}

// passedOn is what the leader passes on.
func (j *armcirunJob) passedOn() ([][]byte, error) {
	f, err := jobwire.Read(j.node.leader, jobwire.Collected, jobwire.Refused)
	switch {
	case err != nil:
		return nil, fmt.Errorf("exchange: %w", j.whoLeft())
	case f.Kind == jobwire.Refused:
		return nil, fmt.Errorf("exchange: %s", f.Payload)
	}
	return jobwire.UnpackList(f.Payload)
}

// whoLeft is the error of a rank whose connection within the node has ended. The job server knows whose process has; it does
// not answer if the job is about to be ended for a known reason.
func (j *armcirunJob) whoLeft() error {
	_, err := j.ask(jobwire.Missing, nil)
	if err == nil {
		err = errors.New("a connection within the node has ended")
	}
	return err
}
