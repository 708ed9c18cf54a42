/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * armci.hpp: libarmci for C++17 and later, over the C interface and nothing else: memory with
 * owners, typed global pointers, handles that wait, mutexes for std::lock_guard, exceptions. It
 * must hold no code of its own; each part has a header. The guide is docs/cxx.md.
 *
 * Words (rank, remote, Done, Scope, Threads, block) are those of armci.h. All sizes here are in
 * elements unless bytes are named. Nothing may be called outside the lifetime of a job. Destructors
 * never throw.
 */
#ifndef ARMCI_HPP_
#define ARMCI_HPP_

#if __cplusplus < 201703L
#error "armci.hpp needs C++17: compile with -std=c++17 or later"
#endif

#include "armci/atomic.hpp"
#include "armci/error.hpp"
#include "armci/global_ptr.hpp"
#include "armci/group.hpp"
#include "armci/handle.hpp"
#include "armci/job.hpp"
#include "armci/memory.hpp"
#include "armci/message.hpp"
#include "armci/mutex.hpp"
#include "armci/patch.hpp"
#include "armci/pieces.hpp"
#include "armci/span.hpp"
#include "armci/sync.hpp"
#include "armci/transfer.hpp"

#endif
