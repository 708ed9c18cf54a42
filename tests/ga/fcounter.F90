! SPDX-License-Identifier: BSD-3-Clause
!
! fcounter: the shared counters of Fortran programs: nga_read_inc, and locks. Integers have 8 bytes,
! so the counters use the long form of read-modify-write. Holds integer arrays only.
program fcounter
  use gacheck
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, parameter :: tickets = 1500

  call check_start()
  call read_inc()
  call locked()
  call check_finish('fcounter')

contains

  subroutine read_inc()
    integer :: counter, ticket, last(1), drawn(1)

    call check(nga_create(mt_int, 1, [4], 'counter', [-1], counter), 'not created')
    call ga_zero(counter)
    drawn(1) = 0
    last(1) = -1
    do
      ticket = nga_read_inc(counter, [3], 1)
      if (ticket >= tickets) exit
      call check(ticket > last(1), 'tickets of one rank do not grow')
      last(1) = ticket
      drawn(1) = drawn(1) + 1
    end do
    call ga_igop(1, drawn, 1, '+')
    call check(drawn(1) == tickets, 'tickets lost or given out twice')
    call ga_igop(2, last, 1, 'max')
    call check(last(1) == tickets - 1, 'last ticket')
    call ga_sync()
    call check(ga_destroy(counter), 'not destroyed')
  end subroutine read_inc

  ! Get, add, put under a lock: no update may be lost.
  subroutine locked()
    integer :: a, row(8), i, ld(1)

    ld(1) = 8
    call check(nga_create(mt_int, 1, [8], 'row', [-1], a), 'not created')
    call ga_zero(a)
    call check(ga_create_mutexes(2), 'no mutexes')
    do i = 1, 200
      call ga_lock(1)
      call nga_get(a, [1], [8], row, ld)
      row = row + 1
      call ga_init_fence()
      call nga_put(a, [1], [8], row, ld)
      call ga_fence()
      call ga_unlock(1)
    end do
    call ga_sync()
    call nga_get(a, [1], [8], row, ld)
    call check(all(row == 200*ga_nnodes()), 'updates lost under the lock')
    call ga_sync()
    call check(ga_destroy_mutexes(), 'mutexes not destroyed')
    call check(ga_destroy(a), 'not destroyed')
  end subroutine locked
end program fcounter
