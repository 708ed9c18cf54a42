! hello.f90 - hello.c in Fortran, through the installed module: each rank puts its number at its
! neighbour. It is compiled against the installed tree only and must not use anything of the source
! tree.
! SPDX-License-Identifier: BSD-3-Clause
program hello
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer(c_int) :: me, np, right, left, got
  integer(armci_addr), allocatable :: base(:)
  type(armci_group) :: world

  call armci_msg_init(c_null_ptr, c_null_ptr)
  if (armci_init() /= 0) error stop 'armci_init'
  me = armci_msg_me()
  np = armci_msg_nproc()
  right = mod(me + 1, np)
  left = mod(me + np - 1, np)
  allocate (base(0:np - 1))
  if (armci_malloc(base, 8_c_long) /= 0) error stop 'armci_malloc'
  if (armci_put(me, base(right), 4_c_int, right) /= 0) error stop 'armci_put'
  call armci_barrier()
  if (armci_get(base(me), got, 4_c_int, me) /= 0) error stop 'armci_get'
  if (got /= left) call armci_error('wrong neighbour' // c_null_char, got)
  call armci_group_get_world(world)
  call armci_group_size(world, got)
  if (got /= np) call armci_error('wrong size of the world' // c_null_char, got)
  if (armci_free(base(me)) /= 0) error stop 'armci_free'
  if (me == 0) print '(a,i0)', 'ok hello of ', np
  got = armci_finalize()
  call armci_msg_finalize()
end program hello
