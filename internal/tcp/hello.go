// SPDX-License-Identifier: BSD-3-Clause

// The handshake: both sides prove that they know the job's secret before anything else. Fixed sizes, no allocation that
// depends on the peer. It says nothing to who fails.
//
//	server -> client  challenge: magic, version, server's rank, nonce
//	client -> server  proof:     magic, client's rank, nonce, HMAC over the challenge and this
//	server -> client  welcome:   HMAC over the challenge and the proof
package tcp

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"libarmci/internal/transport"
)

const (
	magic          = "ARMCItcp"
	nonceBytes     = 32
	challengeBytes = 16 + nonceBytes
	claimBytes     = 16 + nonceBytes
	proofBytes     = claimBytes + sha256.Size
	welcomeBytes   = sha256.Size
	helloTime      = 5 * time.Second // for the whole handshake
)

type (
	challenge [challengeBytes]byte
	proof     [proofBytes]byte
	welcome   [welcomeBytes]byte
)

// fillHello writes what challenge and proof have in common: magic, version, a rank, a fresh nonce.
func fillHello(b []byte, rank transport.Rank) {
	copy(b, magic)
	binary.LittleEndian.PutUint32(b[8:], wireVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(rank))
	rand.Read(b[16 : 16+nonceBytes]) // never fails
}

// checkHello tells the version and the rank of the other side.
func checkHello(b []byte) (transport.Rank, error) {
	if !bytes.Equal(b[:8], []byte(magic)) {
		return 0, errors.New("not an ARMCI data server or client")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != wireVersion {
		return 0, fmt.Errorf("the other side speaks version %d of the wire format, this one %d", v, wireVersion)
	}
	return transport.Rank(binary.LittleEndian.Uint32(b[12:])), nil
}

func sign(secret []byte, role string, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(role))
	for _, p := range parts {
		mac.Write(p)
	}
	return mac.Sum(nil)
}

// newChallenge is the server's first word.
func newChallenge(server transport.Rank) *challenge {
	c := new(challenge)
	fillHello(c[:], server)
	return c
}

// prove is the client's answer to a challenge.
func (c *challenge) prove(secret []byte, client transport.Rank) *proof {
	p := new(proof)
	fillHello(p[:], client)
	copy(p[claimBytes:], sign(secret, "client", c[:], p[:claimBytes]))
	return p
}

// admit checks a client's proof at the server and gives the answer to it.
func (c *challenge) admit(secret []byte, p *proof) (client transport.Rank, w *welcome, err error) {
	if client, err = checkHello(p[:]); err != nil {
		return 0, nil, err
	}
	if !hmac.Equal(p[claimBytes:], sign(secret, "client", c[:], p[:claimBytes])) {
		return 0, nil, errors.New("no proof of the job's secret")
	}
	w = new(welcome)
	copy(w[:], sign(secret, "server", c[:], p[:]))
	return client, w, nil
}

// trust checks the server's answer at the client.
func (c *challenge) trust(secret []byte, p *proof, w *welcome) error {
	if !hmac.Equal(w[:], sign(secret, "server", c[:], p[:])) {
		return errors.New("the server has no proof of the job's secret")
	}
	return nil
}

// shakeHands is the client's side of the handshake on a connected non-blocking socket. It waits.
func shakeHands(fd int, secret []byte, server, client transport.Rank, deadline time.Time) error {
	var c challenge
	if err := recvFull(fd, c[:], deadline); err != nil {
		return err
	}
	switch who, err := checkHello(c[:]); {
	case err != nil:
		return err
	case who != server:
		return fmt.Errorf("the server there is of rank %d", who)
	}
	p := c.prove(secret, client)
	if err := sendFull(fd, p[:], deadline); err != nil {
		return err
	}
	var w welcome
	if err := recvFull(fd, w[:], deadline); err != nil {
		return err
	}
	return c.trust(secret, p, &w)
}
