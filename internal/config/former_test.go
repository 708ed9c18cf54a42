// SPDX-License-Identifier: BSD-3-Clause

// Tests of settings that differ by network, and of former names.

package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAutoByNetwork shows that "auto" has a value for each network, and which names override it.
func TestAutoByNetwork(t *testing.T) {
	for _, c := range []struct {
		environ   string
		tcp, rdma time.Duration
	}{
		{"", 20 * time.Microsecond, 200 * time.Microsecond},
		{"ARMCI_POLL=auto", 20 * time.Microsecond, 200 * time.Microsecond},
		{"ARMCI_POLL=1ms", time.Millisecond, time.Millisecond},
		{"ARMCI_POLL=0", 0, 0},
		{"ARMCI_TCP_POLL=3ms", 3 * time.Millisecond, 200 * time.Microsecond},
		{"ARMCI_RDMA_POLL=4ms", 20 * time.Microsecond, 4 * time.Millisecond},
		{"ARMCI_RDMA_POLL=auto", 20 * time.Microsecond, 200 * time.Microsecond},
		{"ARMCI_RDMA_POLL=4ms ARMCI_POLL=5ms", 5 * time.Millisecond, 5 * time.Millisecond},
	} {
		s := load(t, strings.Fields(c.environ)...)
		tcp, rdma := s.For("tcp").Duration("ARMCI_POLL"),
			s.For("rdma").Duration("ARMCI_POLL")
		if tcp != c.tcp || rdma != c.rdma {
			t.Errorf("%q: %v over TCP, %v over RDMA", c.environ, tcp, rdma)
		}
	}
}

// TestFormerNames shows that a former name sets the present one for its network only.
func TestFormerNames(t *testing.T) {
	s := load(t, "ARMCI_TCP_TIMEOUT=3s", "ARMCI_RDMA_EAGER=4k", "ARMCI_BUFFER=1m",
		"ARMCI_TCP_BUFFER=2m")
	tcp, rdma := s.For("tcp"), s.For("rdma")
	if tcp.Duration("ARMCI_TIMEOUT") != 3*time.Second ||
		rdma.Duration("ARMCI_TIMEOUT") != 10*time.Second {
		t.Error("ARMCI_TCP_TIMEOUT does not set ARMCI_TIMEOUT for TCP alone")
	}
	if rdma.Size("ARMCI_EAGER") != 4096 || tcp.Size("ARMCI_EAGER") != 8192 {
		t.Error("ARMCI_RDMA_EAGER does not set ARMCI_EAGER for RDMA alone")
	}
	if tcp.Size("ARMCI_BUFFER") != 1<<20 {
		t.Error("the former name counts beside the new one")
	}
	want := []FormerName{{"ARMCI_TCP_TIMEOUT", "ARMCI_TIMEOUT", false},
		{"ARMCI_RDMA_EAGER", "ARMCI_EAGER", false},
		{"ARMCI_TCP_BUFFER", "ARMCI_BUFFER", true}}
	if got := s.Former(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for i, words := range []string{"set ARMCI_TIMEOUT instead", "set ARMCI_EAGER instead",
		"ARMCI_BUFFER, which is set too"} {
		if text := want[i].String(); !strings.HasPrefix(text,
			want[i].Name+" is a former name") || !strings.Contains(text, words) {
			t.Errorf("%q", text)
		}
	}
	if len(s.Unknown()) > 0 {
		t.Errorf("%v are unknown", s.Unknown())
	}
	if _, err := LoadFrom([]string{"ARMCI_RDMA_POLL=soon"}); err == nil ||
		!strings.Contains(err.Error(), `ARMCI_RDMA_POLL="soon": must be auto, or a time`) {
		t.Errorf("%v", err)
	}
}

// TestFormerNamesOfRDMA shows that what libfabric obeys, too, does so under its former name.
func TestFormerNamesOfRDMA(t *testing.T) {
	s := load(t, "ARMCI_RDMA_STRIDED=host", "ARMCI_RDMA_PIN=1m")
	for _, network := range []string{"rdma", "ofi"} {
		if n := s.For(network); n.String("ARMCI_STRIDED") != "host" ||
			n.Size("ARMCI_PIN") != 1<<20 {
			t.Errorf("%s: former names have no effect", network)
		}
	}
	if s.For("tcp").String("ARMCI_STRIDED") != "auto" {
		t.Error("a former name of RDMA's has an effect over TCP")
	}
	want := []FormerName{{"ARMCI_RDMA_STRIDED", "ARMCI_STRIDED", false},
		{"ARMCI_RDMA_PIN", "ARMCI_PIN", false}}
	if got := s.Former(); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := LoadFrom([]string{"ARMCI_RDMA_STRIDED=fast"}); err == nil ||
		!strings.Contains(err.Error(), `ARMCI_RDMA_STRIDED="fast": must be one of auto, `) {
		t.Errorf("%v", err)
	}
}

// Reading a setting that differs by network without naming one is a mistake of the program.
func TestNetworkMustBeNamed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	load(t).Duration("ARMCI_POLL")
}
