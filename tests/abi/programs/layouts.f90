! SPDX-License-Identifier: BSD-3-Clause
! layouts.f90 - what a Fortran program sees in the groups of ARMCI-MPI's ABI: rank, size and
! communicator, as the functions tell them; and that what lies beside a group and a handle stays as
! it is.
include '../../fortran/checks.inc'
program layouts
  use, intrinsic :: iso_c_binding
  use mpi
  use armci
  use checks
  implicit none
  ! Sequences of bytes without gaps: what is written beyond a group or a handle is seen.
  type, bind(c) :: guarded
    integer(c_long) :: before
    type(armci_group) :: group
    integer(c_long) :: between
    type(armci_hdl_t) :: handle
    integer(c_long) :: behind
  end type guarded
  type(guarded) :: world, pair
  integer(armci_comm) :: comm
  integer(c_int) :: rank, size
  integer :: ierr, mpi_rank
  real(c_double), asynchronous :: x(2)

  call start(16)
  call MPI_Comm_rank(MPI_COMM_WORLD, mpi_rank, ierr)
  call equal(me, int(mpi_rank, c_int), 'the rank')
  world%before = 1
  world%between = 2
  world%behind = 3
  pair = world
  call armci_group_get_world(world%group)
  call equal(world%group%rank, me, 'the rank in the world')
  call equal(world%group%size, np, 'the size of the world')
  call armcix_get_world_comm(comm)
  call true(comm == world%group%comm, 'the communicator of the world')
  comm = armci_group_comm(world%group)
  call true(comm == world%group%comm, 'armci_group_comm')
  call armci_group_create(1, [np - 1], pair%group)
  call equal(armci_group_rank(pair%group, rank), merge(0, 1, me == np - 1), 'armci_group_rank')
  call equal(pair%group%rank, rank, 'the rank in a group')
  if (me == np - 1) then
    call armci_group_size(pair%group, size)
    call equal(pair%group%size, size, 'the size of a group')
  end if
  call armci_group_free(pair%group)
  call armci_init_handle(world%handle)
  x = me
  call check(armci_nbput(x, addr(right), 16, right, world%handle), 'armci_nbput')
  call check(armci_wait(world%handle), 'armci_wait')
  call true(all([world%before, world%between, world%behind, &
    pair%before, pair%between, pair%behind] == [1, 2, 3, 1, 2, 3]), &
    'what lies beside groups and handles')
  call finish('layouts')
end program layouts
