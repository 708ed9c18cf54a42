! SPDX-License-Identifier: BSD-3-Clause
! calls.f90 - a Fortran procedure that other ranks call by armci_gpc_*, and what it replies,
! checked. What each call means in detail is tested in C; here only the binding.
include 'checks.inc'
module handlers
  use, intrinsic :: iso_c_binding
  use armci
  implicit none

  ! The header of a call.
  type, bind(c) :: request
    integer(armci_addr) :: counter
    integer(c_int) :: add
  end type request

contains

  ! Adds to a counter under the lock of the rank. The reply is caller and callee, and the data
  ! doubled.
  function add(to, from, hdr, hlen, data, dlen, rhdr, rhlen, rhsize, rdata, rdlen, rdsize, rtype) &
    bind(c) result(res)
    integer(c_int), value :: to, from, hlen, dlen, rhlen, rdlen, rtype
    type(c_ptr), value :: hdr, data, rhdr, rdata
    integer(c_int), intent(out) :: rhsize, rdsize
    integer(c_int) :: res
    type(request), pointer :: asked
    integer(c_int), pointer :: reply(:)
    integer(c_long), pointer :: counter
    real(c_double), pointer :: given(:), doubled(:)
    call c_f_pointer(hdr, asked)
    call c_f_pointer(transfer(armci_gpc_translate(asked%counter, to, from), c_null_ptr), counter)
    call armci_gpc_lock(to)
    counter = counter + asked%add
    call armci_gpc_unlock(to)
    call c_f_pointer(rhdr, reply, [rhlen / 4])
    reply(1:4) = [to, from, hlen, rtype]
    rhsize = 16
    call c_f_pointer(data, given, [dlen / 8])
    call c_f_pointer(rdata, doubled, [rdlen / 8])
    doubled = 2 * given
    rdsize = rdlen
    res = gpc_done
  end function add
end module handlers

program calls
  use, intrinsic :: iso_c_binding
  use armci
  use checks
  use handlers
  implicit none
  integer, parameter :: times = 50
  procedure(armci_gpc_handler_t), pointer :: handler ! the compiler compares the arguments
  integer(c_long), pointer :: counter
  integer(c_long) :: total
  integer(c_int) :: h, i
  type(gpc_hdl_t) :: pending

  call start(8)
  call c_f_pointer(transfer(addr(me), c_null_ptr), counter)
  counter = 0
  handler => add
  h = armci_gpc_register(c_funloc(handler))
  call true(h /= 0, 'armci_gpc_register')
  call true(armci_get_gpc_hlen() > 16, 'armci_get_gpc_hlen')
  call true(armci_get_gpc_dlen() > 80, 'armci_get_gpc_dlen')
  call armci_barrier()
  do i = 1, times
    call called(mod(me + i, np), .false.)
    call called(mod(me + i, np), .true.)
  end do
  call armci_gpc_lock(me)
  call equal(armci_gpc_trylock(me), 0, 'armci_gpc_trylock')
  call armci_gpc_unlock(me)
  call armci_barrier()
  total = counter
  call armci_msg_gop(total, 1, armci_op_sum)
  call equal(total, 2_c_long * np * (times * (times + 1) / 2), 'the sum of all counters')
  call armci_gpc_release(h)
  call finish('calls')

contains

  ! One call, blocking or not.
  subroutine called(to, later)
    integer(c_int), intent(in) :: to
    logical, intent(in) :: later
    type(request), target :: asked
    integer(c_int), target :: reply(4)
    real(c_double), target :: given(10), doubled(10)
    given = me + 0.25d0 * i
    doubled = 0
    asked = request(addr(to), i)
    if (later) then
      call armci_gpc_init_handle(pending)
      call check(armci_gpc_exec(h, to, asked, int(c_sizeof(asked), c_int), given, 80, reply, 16, &
        doubled, 80, pending), 'a call')
      call armci_gpc_wait(pending)
    else
      call check(armci_gpc_exec(h, to, asked, int(c_sizeof(asked), c_int), given, 80, reply, 16, &
        doubled, 80), 'a call')
    end if
    call true(all(reply == [to, me, int(c_sizeof(asked), c_int), gpc_init]), 'the reply header')
    call true(all(abs(doubled - 2 * given) <= 0), 'the reply data')
  end subroutine called
end program calls
