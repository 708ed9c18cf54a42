! SPDX-License-Identifier: BSD-3-Clause
!
! ftcgmsg: a program of TCGMSG's style: pbeginf starts ARMCI before Global Arrays does, nxtval draws
! tickets from a counter made by ARMCI, messages go through snd and rcv, and both ends call
! finalize. Holds integers only.
program ftcgmsg
  use gacheck
  implicit none
#include "mafdecls.fh"
#include "global.fh"
  integer, parameter :: tickets = 1500

  call check_start(tcgmsg=.true.)
  call next_value()
  call ring()
  call check_finish('ftcgmsg')

contains

  ! nxtval(n) draws for n ranks; a negative argument resets the counter, collectively.
  subroutine next_value()
    integer :: mine(2), ticket
    integer, external :: nxtval

    mine = 0
    do
      ticket = nxtval(ga_nnodes())
      if (ticket >= tickets) exit
      mine = mine + [1, ticket]
    end do
    ticket = nxtval(-ga_nnodes())
    call ga_igop(3, mine, 2, '+')
    call check(mine(1) == tickets, 'nxtval: number of tickets')
    call check(mine(2) == tickets*(tickets - 1)/2, 'nxtval: sum of tickets')
    ticket = nxtval(ga_nnodes())
    call check(ticket >= 0 .and. ticket < ga_nnodes(), 'nxtval not reset')
    ticket = nxtval(-ga_nnodes())
  end subroutine next_value

  ! Every rank passes its number to the next one, and a broadcast from the last rank reaches all.
  subroutine ring()
    integer, parameter :: kind = 32770 ! message type 2 with TCGMSG's flag for integers
    integer :: out(3), in(3), length, from, me, n
    integer, external :: nodeid, nnodes

    me = nodeid()
    n = nnodes()
    call check(me == ga_nodeid() .and. n == ga_nnodes(), &
      'TCGMSG and Global Arrays count differently')
    out = [me, 2*me, -me]
    in = out
    if (n > 1) then
      if (me == 0) call snd(kind, out, 24, 1, 1)
      call rcv(kind, in, 24, length, mod(me + n - 1, n), from, 1)
      if (me > 0) call snd(kind, out, 24, mod(me + 1, n), 1)
      call check(length == 24, 'length of a message')
      call check(from == mod(me + n - 1, n), 'sender of a message')
    end if
    from = mod(me + n - 1, n)
    call check(all(in == [from, 2*from, -from]), 'contents of a message')
    in = me
    call brdcst(kind + 1, in, 24, n - 1)
    call check(all(in == n - 1), 'broadcast')
    call synch(99)
  end subroutine ring
end program ftcgmsg
