// SPDX-License-Identifier: BSD-3-Clause

// Tests of frames, hello and the payloads: what was written is read again, and
// nothing else is accepted.

package jobwire

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
)

func frame(t *testing.T, kind Kind, payload []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, kind, payload); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A frame that was written is read again.
func TestFrameRoundTrip(t *testing.T) {
	for _, payload := range []string{"", "x", strings.Repeat("y", MaxContribution)} {
		b := frame(t, Contribute, []byte(payload))
		f, err := Read(bytes.NewReader(b), Abort, Contribute)
		if err != nil || f.Kind != Contribute || string(f.Payload) != payload {
			t.Errorf("%d bytes came back as %d, error %v", len(payload), len(f.Payload),
				err)
		}
	}
}

// Malformed frames and unexpected kinds are refused.
func TestReadRefuses(t *testing.T) {
	change := func(at int, to byte) []byte {
		b := frame(t, Contribute, []byte("hello"))
		b[at] = to
		return b
	}
	for what, b := range map[string][]byte{
		"magic":            change(0, 'X'),
		"other version":    change(4, version+1),
		"unexpected kind":  change(5, byte(Bye)),
		"no kind at all":   change(5, 200),
		"reserved":         change(7, 1),
		"length too large": change(11, 0xff),
		"cut payload":      frame(t, Contribute, []byte("hello"))[:14],
		"cut header":       frame(t, Contribute, []byte("hello"))[:5],
	} {
		if f, err := Read(bytes.NewReader(b), Contribute); err == nil {
			t.Errorf("%s: read as %+v", what, f)
		}
	}
	if _, err := Read(bytes.NewReader(nil), Contribute); err != io.EOF {
		t.Errorf("end of the stream between frames: %v", err)
	}
}

// A payload that is too long for its kind is not written.
func TestWriteKeepsLimits(t *testing.T) {
	for kind, n := range map[Kind]int{Contribute: MaxContribution + 1, Bye: 1,
		Refused: maxReason + 1, Kind(99): 0,
		Finish: 5, Ended: 9, Welcome: 33, StartFailed: maxReason + 1,
		Attach: helloBytes + 1,
		Link:   helloBytes + 1, Split: maxPlace + 1, Placed: maxPlace + 1, Missing: 1} {
		if err := Write(io.Discard, kind, make([]byte, n)); err == nil {
			t.Errorf("kind %d with %d bytes was written", kind, n)
		}
	}
}

// A hello is accepted with the same secret, nonce, kind and numbers only.
func TestHello(t *testing.T) {
	secret, nonce := NewSecret(), NewNonce()
	hello := NewHello(secret, Hello, nonce, 3, 5)
	rank, size, err := CheckHello(secret, Hello, nonce, hello)
	if err != nil || rank != 3 || size != 5 {
		t.Fatalf("rank %d of %d, error %v", rank, size, err)
	}
	if err := CheckWelcome(secret, hello, NewWelcome(secret, hello)); err != nil {
		t.Error(err)
	}
	forged := slices.Clone(hello)
	forged[0] = 4
	for what, check := range map[string]func() error{
		"other secret": func() error {
			_, _,
				err := CheckHello(NewSecret(), Hello, nonce, hello)
			return err
		},
		"other nonce": func() error {
			_, _, err := CheckHello(secret, Hello,
				NewNonce(), hello)
			return err
		},
		"other rank": func() error {
			_, _, err := CheckHello(secret, Hello,
				nonce, forged)
			return err
		},
		"short": func() error {
			_, _, err := CheckHello(secret, Hello,
				nonce, hello[:71])
			return err
		},
		"as a proxy": func() error {
			_, _, err := CheckHello(secret, Attach,
				nonce, hello)
			return err
		},
		"the server's, other secret": func() error {
			return CheckWelcome(secret, hello,
				NewWelcome(NewSecret(), hello))
		},
		"the server's, other hello": func() error {
			return CheckWelcome(secret, hello,
				NewWelcome(secret, forged))
		},
	} {
		if check() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// Numbers are unpacked as they were packed.
func TestNumbers(t *testing.T) {
	if got := UnpackNumbers(append(PackNumbers(1, 0, 1<<32-1), 9)); !slices.Equal(got,
		[]int{1, 0, 1<<32 - 1}) {
		t.Errorf("%v", got)
	}
	if got := UnpackNumbers(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// A secret is parsed from its text, and other texts are refused.
func TestSecretAsText(t *testing.T) {
	secret := NewSecret()
	again, err := ParseSecret(secret.String())
	if err != nil || again != secret {
		t.Errorf("%v came back as %v, error %v", secret, again, err)
	}
	for _, text := range []string{"", "abc", strings.Repeat("g", 64), secret.String() + "00"} {
		if _, err := ParseSecret(text); err == nil {
			t.Errorf("%q is accepted as a secret", text)
		}
	}
	if NewSecret() == secret || NewAddress() == NewAddress() {
		t.Error("not random")
	}
}

// A list is unpacked as it was packed, and malformed ones are refused.
func TestList(t *testing.T) {
	parts := [][]byte{[]byte("one"), nil, bytes.Repeat([]byte("three"), 100), {}}
	payload, err := PackList(parts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnpackList(payload)
	if err != nil || !slices.EqualFunc(got, parts, bytes.Equal) {
		t.Errorf("got %q, error %v", got, err)
	}
	for what, bad := range map[string][]byte{
		"empty": {}, "cut": payload[:len(payload)-1],
		"longer": append(slices.Clone(payload), 0), "count only": payload[:1],
		"lengths only": payload[:6], "a huge count": bytes.Repeat([]byte{0xff}, 9),
		"an endless number": bytes.Repeat([]byte{0x80}, 20),
	} {
		if _, err := UnpackList(bad); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if got, err := UnpackList([]byte{0}); err != nil || len(got) != 0 {
		t.Errorf("an empty list: %q, error %v", got, err)
	}
	big := make([]byte, MaxContribution)
	if _, err := PackList(slices.Repeat([][]byte{big}, 64)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too much: %v", err)
	}
}

// The ranks of a node are a tree: each but the leader is a child of its parent. What goes up is in
// order at every rank.
func TestTree(t *testing.T) {
	for size := range 50 {
		var up func(local int) [][]byte
		up = func(local int) [][]byte {
			parts := [][][]byte{{{byte(local)}}}
			first, count := Children(local, size)
			for child := first; child < first+count; child++ {
				if Parent(child) != local {
					t.Errorf("rank %d of %d is a child of %d, whose parent "+
						"is %d", child, size, local, Parent(child))
				}
				parts = append(parts, up(child))
			}
			return InOrder(local, size, parts)
		}
		all := up(0)
		for local, part := range all {
			if int(part[0]) != local {
				t.Errorf("of %d ranks, rank %d comes as number %d", size, part[0],
					local)
			}
		}
		if size > 0 && len(all) != size {
			t.Errorf("%d of %d ranks", len(all), size)
		}
	}
	if first, count := Children(0, 64); first != 1 || count > 3 {
		t.Errorf("the leader passes on everything %d times", count)
	}
}

// Two ends of a connection within a node prove that they belong to the job.
func TestLink(t *testing.T) {
	leader, member := net.Pipe()
	defer leader.Close()
	defer member.Close()
	secret := NewSecret()
	greeted := make(chan error, 1)
	go func() { greeted <- Greet(member, secret, Link, 7, 3) }()
	yes := func() bool { return true }
	number, of, err := AcceptHello(leader, secret, Link, yes)
	if err != nil || number != 7 || of != 3 || <-greeted != nil {
		t.Errorf("rank %d of %d, error %v", number, of, err)
	}
	go func() {
		greeted <- Greet(member, NewSecret(), Link, 7, 3)
	}()
	if _, _, err := AcceptHello(leader, secret, Link, yes); err == nil {
		t.Error("another secret is accepted")
	}
	leader.Close()
	if <-greeted == nil {
		t.Error("a rank with another secret is welcome")
	}
}

// The status of an Abort is never 0, whatever the payload.
func TestStatusIsNeverSuccess(t *testing.T) {
	for status, want := range map[int]int{5: 5, 255: 255, 0: 1, 256: 1, 257: 1} {
		if got := UnpackStatus(PackStatus(status)); got != want {
			t.Errorf("%d becomes %d, want %d", status, got, want)
		}
	}
	if UnpackStatus(nil) != 1 {
		t.Error("no status must be 1")
	}
}

// FuzzRead reads random bytes as a frame and as payloads: nothing crashes.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	Write(&b, Contribute, []byte("hello"))
	f.Add(b.Bytes())
	f.Add([]byte("ARMJ\x01\x04\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Read(bytes.NewReader(b), Contribute, Refused, Collected)
		if err != nil {
			return
		}
		if again := frame(t, got.Kind, got.Payload); !bytes.HasPrefix(b, again) {
			t.Errorf("%x is read as what would be written %x", b, again)
		}
		UnpackList(got.Payload)
	})
}
