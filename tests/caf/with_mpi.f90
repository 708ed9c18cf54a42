! SPDX-License-Identifier: BSD-3-Clause
! MPI and coarrays in one program: the library has initialised MPI before the first statement,
! images are the ranks of MPI_COMM_WORLD in order, both may be used in turn, and a team has a
! communicator. MPI_Finalize is left to the library.
program with_mpi
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_int
  use, intrinsic :: iso_fortran_env, only: team_type
  use mpi
  implicit none
  interface
    integer(c_int) function get_communicator(team) bind(c, name='_gfortran_caf_get_communicator')
      import
      type(c_ptr), value :: team ! null: the current one
    end function get_communicator
  end interface
  type(team_type) :: half
  integer :: box[*], me, n, rank, ranks, ierr, total, left
  logical :: flag

  me = this_image()
  n = num_images()
  call mpi_initialized(flag, ierr)
  if (.not. flag) error stop "MPI is not initialised"
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  if (ranks /= n .or. rank /= me - 1) error stop "images are not the ranks of MPI"

  box[merge(1, me + 1, me == n)] = me
  sync all
  left = merge(n, me - 1, me == 1)
  if (box /= left) error stop "a put did not arrive"
  call mpi_allreduce(box, total, 1, mpi_integer, mpi_sum, mpi_comm_world, ierr)
  if (total /= n*(n + 1)/2) error stop "the sum by MPI is wrong"
  call mpi_barrier(mpi_comm_world, ierr)
  box[left] = total + me
  sync all
  if (box /= total + merge(1, me + 1, me == n)) error stop "a put after MPI did not arrive"
  form team (1 + mod(me, 2), half)
  change team (half)
    call mpi_comm_size(get_communicator(c_null_ptr), ranks, ierr)
    call mpi_comm_rank(get_communicator(c_null_ptr), rank, ierr)
    if (ranks /= num_images() .or. rank /= this_image() - 1) &
      error stop "the team's communicator is another"
  end team
  call mpi_finalized(flag, ierr)
  if (flag) error stop "MPI is finalised"
  sync all
  if (me == 1) print '(a)', "ok with_mpi"
end program with_mpi
