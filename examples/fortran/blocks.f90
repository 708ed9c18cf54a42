! SPDX-License-Identifier: BSD-3-Clause
! blocks.f90 - a matrix in blocks over a grid of ranks: its rows are summed by groups of ranks, and
! its diagonal is fetched by vector transfers. For newcomers.
!
!   armcifort blocks.f90 -o blocks && armcirun -n 4 ./blocks
program blocks
  use, intrinsic :: iso_c_binding
  use armci
  implicit none
  integer, parameter :: b = 8 ! rows and columns of a block
  integer(c_int) :: me, nproc, rows, columns, ierr
  integer(armci_addr), allocatable :: memory(:)
  real(c_double), pointer :: mine(:, :)
  integer :: i, j

  call armci_msg_init(c_null_ptr, c_null_ptr)
  ierr = armci_init()
  me = armci_msg_me()
  nproc = armci_msg_nproc()

  ! A grid of blocks, one per rank, as square as the number of ranks allows. Rank r has block
  ! (r / columns, r mod columns).
  rows = maxval([(i, i=1, int(sqrt(real(nproc))))], &
    mod(nproc, [(i, i=1, int(sqrt(real(nproc))))]) == 0)
  columns = nproc / rows
  allocate (memory(0:nproc - 1))
  ierr = armci_malloc(memory, int(b * b * 8, c_long))
  if (ierr /= 0) call armci_error('no memory' // c_null_char, 1_c_int)
  call c_f_pointer(transfer(memory(me), c_null_ptr), mine, [b, b])
  do j = 1, b
    do i = 1, b
      mine(i, j) = element(me / columns * b + i, mod(me, columns) * b + j)
    end do
  end do
  call armci_barrier()
  call sum_rows()
  call fetch_diagonal()
  print '(a,i0,a)', 'rank ', me, ': ok'

  call armci_barrier()
  ierr = armci_free(memory(me))
  ierr = armci_finalize()
  call armci_msg_finalize()

contains

  pure real(c_double) function element(row, column)
    integer, intent(in) :: row, column
    element = 1000 * row + column
  end function element

  ! The ranks of one row of blocks are a group: the sums are formed within it.
  subroutine sum_rows()
    type(armci_group) :: world, row
    real(c_double) :: sums(b)
    call armci_group_get_world(world)
    ierr = armcix_group_split(world, me / columns, mod(me, columns), row)
    sums = sum(mine, 2)
    call armci_msg_group_gop(sums, b, armci_op_sum, row)
    do i = 1, b
      if (nint(sums(i) - sum([(element(me / columns * b + i, j), j=1, columns * b)])) /= 0) &
        call armci_error('wrong sum' // c_null_char, 1_c_int)
    end do
    call armci_group_free(row)
  end subroutine sum_rows

  ! One call for each block that has a part of the diagonal, for all its elements there.
  subroutine fetch_diagonal()
    real(c_double), target :: diagonal(b * min(rows, columns))
    integer(armci_addr), target :: from(b)
    type(c_ptr), target :: to(b)
    type(armci_giov_t) :: segments(1)
    integer(c_int) :: k, owner
    do k = 0, min(rows, columns) - 1
      owner = k * columns + k
      from = memory(owner) + [((b + 1) * 8 * i, i=0, b - 1)]
      do i = 1, b
        to(i) = c_loc(diagonal(k * b + i))
      end do
      segments(1) = armci_giov_t(src_ptr_array=c_loc(from), dst_ptr_array=c_loc(to), &
        ptr_array_len=b, bytes=8)
      ierr = armci_getv(segments, 1_c_int, owner)
      if (ierr /= 0) call armci_error('armci_getv' // c_null_char, ierr)
    end do
    do i = 1, size(diagonal)
      if (nint(diagonal(i) - element(i, i)) /= 0) &
        call armci_error('wrong diagonal' // c_null_char, 1_c_int)
    end do
  end subroutine fetch_diagonal
end program blocks
