// SPDX-License-Identifier: BSD-3-Clause

// The hello over a connection: both sides prove that they know the job's secret before anything else. It says nothing to
// who fails.
//
//	server -> client  challenge: a hello that proves nothing
//	client -> server  hello, sealed with the challenge
//	server -> client  hello, sealed with the client's
package tcp

import (
	"fmt"
	"slices"
	"time"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	helloTime = 5 * time.Second // for the server's side of it
	asServer  = "challenge"
	byOrigin  = "origin"
	byTarget  = "target"
)

var helloBytes = transport.HelloBytes(0)

// newChallenge is the server's first word.
func (f *fabric) newChallenge() []byte {
	h := transport.Hello{From: f.Me, Nonce: transport.NewNonce()}
	return h.Seal(nil, asServer, nil)
}

// receiveHello waits for a hello of the other side and checks it.
func receiveHello(fd int, secret []byte, role string, challenge []byte, deadline time.Time) (h transport.Hello, sealed []byte,
	err error) {
	sealed = make([]byte, helloBytes)
	if err = rawsock.ReceiveAll(fd, sealed, deadline); err == nil {
		err = h.Unseal(sealed, secret, role, challenge)
	}
	return h, sealed, err
}

// introduce is the client's side of the hello on a connected socket. It waits.
func (f *fabric) introduce(fd int, server transport.Rank, deadline time.Time) error {
	theirs, challenge, err := receiveHello(fd, nil, asServer, nil, deadline)
	if err == nil && theirs.From != server {
		err = fmt.Errorf("the server there is of rank %d", theirs.From)
	}
	if err != nil {
		return err
	}
	mine := transport.Hello{From: f.Me, To: server, Nonce: transport.NewNonce()}
	sealed := mine.Seal(f.Secret, byOrigin, challenge)
	if err = rawsock.SendAll(fd, sealed, deadline); err == nil {
		_, _, err = receiveHello(fd, f.Secret, byTarget, sealed, deadline)
	}
	return err
}

// admit checks a client's hello at the server and gives the answer to it.
func (f *fabric) admit(sealed, challenge []byte) (client transport.Rank, answer []byte, err error) {
	var theirs transport.Hello
	err = theirs.Unseal(sealed, f.Secret, byOrigin, challenge)
	ofJob := func(ranks []transport.Rank) bool { return slices.Contains(ranks, theirs.From) }
	if err == nil && (theirs.To != f.Me || !slices.ContainsFunc(f.Nodes, ofJob)) {
		err = fmt.Errorf("rank %d looks for the server of rank %d", theirs.From, theirs.To)
	}
	mine := transport.Hello{From: f.Me, To: theirs.From, Nonce: transport.NewNonce()}
	return theirs.From, mine.Seal(f.Secret, byTarget, sealed), err
}
