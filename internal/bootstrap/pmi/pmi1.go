// SPDX-License-Identifier: BSD-3-Clause

// The client of PMI-1, version 1.1: of MPICH's mpiexec and its kin (Hydra), Slurm's plugin for
// PMI-2, and others that set PMI_FD or PMI_PORT. It needs no library.

package pmi

/*
#include "pmi.h"
*/
import "C"

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxPiece limits a value on the wire, besides what the launcher says: a line with the
	// longest names has to be shorter than maxRequest.
	maxPiece = 512
	// minPiece is what a launcher must take, at least; PMI-1 promises more.
	minPiece = 32
	// leaveTime limits the wait for the launcher's answer at exit.
	leaveTime = 2 * time.Second
)

// encoding makes values of bytes that every launcher takes.
var encoding = base64.RawURLEncoding

// wireJob is the job of a launcher with PMI-1.
type wireJob struct {
	wire
	timeout time.Duration
	space   string // name of the job's keys and values
	key     int    // most bytes of a key
	piece   int    // most bytes of a value
}

// joined is the job, once this process has joined it.
var joined *Client

// openWire is Open by PMI-1.
func openWire(_ Interface, s Server) (*Client, error) {
	if joined != nil {
		return joined, nil
	}
	c, err := join(s)
	switch {
	case errors.Is(err, ErrUnavailable):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: use a launcher that answers to PMI-1", err)
	}
	C.pmi_1_at_exit(C.int(c.job.(*wireJob).fd), C.int(leaveTime.Milliseconds()))
	joined = c
	return c, nil
}

// join joins the job, but does not arrange for leaving it.
func join(s Server) (*Client, error) {
	c := &Client{Interface: PMI1, Rank: s.Rank, Size: s.Size}
	j := &wireJob{timeout: s.Timeout}
	c.job = j
	if fd, err := strconv.Atoi(s.Address); err == nil {
		j.fd = fd
		return c, j.start()
	}
	fd, err := dial(s.Address, s.Timeout)
	if err != nil {
		return nil, err
	}
	j.fd = fd
	if c.Rank, c.Size, err = j.introduce(s.Rank); err == nil {
		err = j.start()
	}
	if err != nil {
		unix.Close(fd)
	}
	return c, err
}

// dial connects to the launcher's port and returns the socket.
func dial(address string, limit time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return -1, fmt.Errorf("the launcher's port (PMI_PORT): %w", err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return -1, err
	}
	fd, dupErr := -1, error(nil)
	err = raw.Control(func(c uintptr) {
		fd, dupErr = unix.FcntlInt(c, unix.F_DUPFD_CLOEXEC, 0)
	})
	return fd, errors.Join(err, dupErr)
}

// introduce tells a launcher with a port which process this is, and learns rank and size.
func (j *wireJob) introduce(id int) (rank, size int, err error) {
	if _, err = j.request(fmt.Sprintf("cmd=initack pmiid=%d", id), "initack",
		j.timeout); err != nil {
		return 0, 0, err
	}
	for _, what := range []struct {
		key string
		low int
		to  *int
	}{{"size", 1, &size}, {"rank", 0, &rank}, {"debug", 0, new(int)}} {
		a, err := j.expect("set", j.timeout)
		if err != nil {
			return 0, 0, err
		}
		if *what.to, err = a.number(what.key, what.low); err != nil {
			return 0, 0, err
		}
	}
	return rank, size, nil
}

// start agrees on the version, and learns how the launcher stores values. A launcher that refuses
// this version is unavailable.
func (j *wireJob) start() error {
	a, err := j.request("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init",
		j.timeout)
	if errors.As(err, new(refusal)) || err == nil && a["pmi_version"] != "1" &&
		a["pmi_version"] != "" {
		return unavailable("the launcher does not answer to PMI-1: use one that does")
	}
	if err != nil {
		return err
	}
	if a, err = j.request("cmd=get_maxes", "maxes", j.timeout); err != nil {
		return err
	}
	if j.key, err = a.number("keylen_max", 1); err != nil {
		return err
	}
	most, err := a.number("vallen_max", minPiece+1)
	if err != nil {
		return err
	}
	j.piece = min(most-1, maxPiece)
	if a, err = j.request("cmd=get_my_kvsname", "my_kvsname", j.timeout); err != nil {
		return err
	}
	if j.space = a["kvsname"]; j.space == "" {
		return errors.New("the launcher does not name the job's values (kvsname)")
	}
	return nil
}

// put stores a value in as many pieces as it needs. The first begins with their number.
func (j *wireJob) put(key, value string) error {
	text := encoding.EncodeToString([]byte(value))
	room := j.piece - len("99.")
	count := max(1, (len(text)+room-1)/room)
	for i := range count {
		piece := text[:min(room, len(text))]
		text = text[len(piece):]
		if i == 0 {
			piece = fmt.Sprintf("%d.%s", count, piece)
		}
		name, err := j.pieceKey(key, i)
		if err != nil {
			return err
		}
		if _, err := j.request(fmt.Sprintf("cmd=put kvsname=%s key=%s value=%s", j.space,
			name, piece), "put_result", j.timeout); err != nil {
			return err
		}
	}
	return nil
}

// pieceKey is the key of a piece of a value.
func (j *wireJob) pieceKey(key string, i int) (string, error) {
	name := fmt.Sprintf("%s.%d", key, i)
	if len(name) >= j.key {
		return "", fmt.Errorf("the launcher takes keys of less than %d bytes, which %s "+
			"is not", j.key, name)
	}
	return name, nil
}

func (j *wireJob) fence() error {
	_, err := j.request("cmd=barrier_in", "barrier_out", forever)
	return err
}

// get joins the pieces of a value.
func (j *wireJob) get(_ int, key string) (string, error) {
	first, err := j.getPiece(key, 0)
	if err != nil {
		return "", err
	}
	number, first, _ := strings.Cut(first, ".")
	count, err := strconv.Atoi(number)
	if err != nil || count < 1 || count > encoding.EncodedLen(MaxValue) {
		return "", fmt.Errorf("the value of %s is not one of this library", key)
	}
	var text strings.Builder
	text.WriteString(first)
	for i := 1; i < count; i++ {
		piece, err := j.getPiece(key, i)
		if err != nil {
			return "", err
		}
		text.WriteString(piece)
	}
	value, err := encoding.DecodeString(text.String())
	if err != nil || len(value) > MaxValue {
		return "", fmt.Errorf("the value of %s is not one of this library", key)
	}
	return string(value), nil
}

// getPiece returns one of them.
func (j *wireJob) getPiece(key string, i int) (string, error) {
	name, err := j.pieceKey(key, i)
	if err != nil {
		return "", err
	}
	a, err := j.request(fmt.Sprintf("cmd=get kvsname=%s key=%s", j.space, name), "get_result",
		j.timeout)
	if err != nil {
		return "", err
	}
	value, found := a["value"]
	if !found || strings.EqualFold(a["found"], "false") {
		return "", fmt.Errorf("the launcher has no value of %s", name)
	}
	return value, nil
}

// abort is for any thread, so it reads no answer; there is none. A message does not fit in a line
// of PMI-1, in which values have no spaces.
func (j *wireJob) abort(status int, _ string) {
	_ = j.send(fmt.Sprintf("cmd=abort exitcode=%d", status))
}
