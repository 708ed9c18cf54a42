// SPDX-License-Identifier: BSD-3-Clause

// Package tcp is the fabric over any IP network: sockets that carry frames between the processes of a job. It must not
// know what frames mean, and must never wait inside Go's network poller.
package tcp
