// SPDX-License-Identifier: BSD-3-Clause

// Asynchronous events of the device, which the progress thread handles: its port loses its link and
// has it again, or it fails.
package rdma

import (
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/qp"
)

// handleDeviceEvents logs events of the device, and reports a fatal one. A port without
// a link ends nothing: connections are lost only if peers are not reached for too long.
func (f *Fabric) handleDeviceEvents() {
	for {
		e, some := f.device.Event()
		if !some {
			return
		}
		switch e.Kind {
		case qp.PortDown:
			if f.progress.portDownAt.IsZero() {
				f.progress.portDownAt = time.Now()
				log.Warnf("%s: its port has lost the link", f.device.Name())
			}
		case qp.PortUp:
			if at := f.progress.portDownAt; !at.IsZero() {
				f.progress.portDownAt = time.Time{}
				log.Warnf("%s: its port has the link again, after %v",
					f.device.Name(), time.Since(at).Round(time.Millisecond))
			}
		case qp.DeviceFatal:
			log.Infof("%s: %s", f.device.Name(), e.Text)
			if f.cfg.Fatal != nil {
				f.cfg.Fatal(f.device.DeviceError(e.Text))
			}
		default:
			log.Infof("%s: %s", f.device.Name(), e.Text)
		}
	}
}
