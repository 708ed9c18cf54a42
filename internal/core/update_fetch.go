// SPDX-License-Identifier: BSD-3-Clause

// Nonblocking updates that fetch from other nodes: many are on their way at once, and each is an
// open operation of the table of handles until all of it has been fetched.
package core

import "libarmci/internal/transport"

// StartUpdate is Update for a caller that needs Old later. It returns when Data may be overwritten,
// with a number as Start does for an implicit operation. Old is there when that was waited for, and
// after WaitProc, WaitAll or a fence. then, if it is not nil, is called before that, once, from any
// goroutine; not after an error.
func (r *Runtime) StartUpdate(u *Update, then func()) (int32, error) {
	if u.Old != nil && !r.Topo.SameNode(transport.Rank(u.Proc)) {
		nonEmpty, err := r.checkUpdate(u)
		if err != nil {
			return Done, err
		}
		if nonEmpty {
			return r.startFetch(u, then)
		}
	} else if err := r.Update(u); err != nil {
		return Done, err
	}
	if then != nil {
		then()
	}
	return Done, nil
}

// startFetch enters an update, which has been checked, in the table before it posts it, as
// startImplicit does.
func (r *Runtime) startFetch(u *Update, then func()) (int32, error) {
	p, proc := requests.Get().(*request), u.Proc
	p.proc, p.implicit, p.transport, p.refs = proc, true, r.route(transport.Rank(proc)).tr, 1
	id := r.handleTable.addRequest(p, Done)
	err := r.postUpdate(u, func(err error) {
		if err == nil && then != nil {
			then()
		}
		p.complete(updateError(proc, err))
	})
	if err != nil {
		p.complete(err)
		r.handleTable.finishFirst(id, p)
		return Done, err
	}
	r.traffic.countPosted(proc) // a fence waits for it, too
	r.handleTable.unrefRequest(p)
	return id, nil
}
