// SPDX-License-Identifier: BSD-3-Clause

// What this host is to a network: its identity and its addresses. It sends no packet.

package sys

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// HostIdentity names the running kernel and the network namespace: equal where loopback and unix
// sockets without a file connect. It is "" if the namespace is not known, as without /proc.
func HostIdentity() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/net", &st) != nil {
		return ""
	}
	return fmt.Sprintf("%s/%d:%d", strings.TrimSpace(string(boot)), st.Dev, st.Ino)
}

// Addresses lists the addresses of interfaces that are up and wanted, IPv4 first; none that hold on
// their link only.
func Addresses(wanted func(i net.Interface, p netip.Prefix) bool) (out []netip.Prefix, err error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && i.Flags&net.FlagUp != 0 &&
				!p.Addr().IsLinkLocalUnicast() && wanted(i, p) {
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out,
		func(a, b netip.Prefix) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	return out, nil
}

// NotLoopback wants all addresses that other hosts may know.
func NotLoopback(i net.Interface, _ netip.Prefix) bool { return i.Flags&net.FlagLoopback == 0 }

// CheckInterface refuses what is neither the name of an interface nor a network.
func CheckInterface(setting string) error {
	_, err := netip.ParsePrefix(setting)
	if err == nil || !strings.ContainsAny(setting, "/ \t,;") && len(setting) < unix.IFNAMSIZ {
		return nil
	}
	return fmt.Errorf("ARMCI_TCP_INTERFACE=%q: must be an interface (eth0) or a network "+
		"(10.0.0.0/8)", setting)
}

// AddressesOf is the addresses that ARMCI_TCP_INTERFACE names, by an interface or a network: it is
// an error if there are none. Without the setting it is all but loopback.
func AddressesOf(setting string) ([]netip.Prefix, error) {
	if setting == "" {
		return Addresses(NotLoopback)
	}
	// contains nothing if it is the name of an interface
	network, _ := netip.ParsePrefix(setting)
	own, err := Addresses(func(i net.Interface,
		p netip.Prefix) bool {
		return i.Name == setting || network.Contains(p.Addr())
	})
	if err == nil && len(own) == 0 {
		err = fmt.Errorf("ARMCI_TCP_INTERFACE=%q: no interface or network of that name "+
			"is up and has an address", setting)
	}
	return own, err
}
