// SPDX-License-Identifier: BSD-3-Clause

// Congestion control. Where the system's choice paces what is sent (BBR), it must measure the path all the time;
// requests and answers are no stream, so it measures too little, and data then leaves at a fraction of the network's
// speed. Between the hosts of a job, whose round trips are short, an algorithm that sends what the window allows is
// taken instead. Must be called before a socket is connected: the kernel goes on pacing one that has begun with it.
package rawsock

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// autoControl leaves the choice to the system, but for pacing.
const autoControl = "auto"

// SetCongestion sets the congestion control of a socket: the named one, or by default.
func SetCongestion(fd int, name string) error {
	if name != "" && name != autoControl {
		if err := setControl(fd, name); err != nil {
			return fmt.Errorf("ARMCI_TCP_CONGESTION=%s: %w", name, err)
		}
		return nil
	}
	now, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err == nil && strings.HasPrefix(now, "bbr") && setControl(fd, "cubic") != nil {
		setControl(fd, "reno") // every kernel has it, and everybody may use it
	}
	return nil
}

func setControl(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// TryCongestion tells whether a congestion control exists here and is allowed.
func TryCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // that is told where a socket is needed
	}
	defer unix.Close(fd)
	return SetCongestion(fd, name)
}
