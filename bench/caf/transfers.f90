! SPDX-License-Identifier: BSD-3-Clause
! Assignments to and from the other image: scalars, contiguous sections, a row, a block.
module transfers
  use task
  use measure
  implicit none
  private
  public :: puts, gets, rows, blocks

  integer, parameter :: sizes(*) = [128, 1024, 8192, most] ! elements
  real(real64) :: x[*], a(side, side)[*], big(most)[*]
  real(real64) :: y, row(side), block(edge, edge), data(most), copy(side, side)
contains
  subroutine puts
    integer :: i
    elements = 1
    y = 42
    call figure('put', '-', 8, .false., put)
    call checked('put', nint(x[2]) == 42)
    call figure('put+sync-memory', '-', 8, .false., put_sync)
    do i = 1, size(sizes)
      elements = sizes(i)
      data = i
      call figure('put', '-', 8 * elements, .false., put_many)
      call checked('put of many', nint(sum(big(:)[2])) >= i * elements)
    end do
  end subroutine

  subroutine gets
    integer :: i
    elements = 1
    x = me
    sync all
    call figure('get', '-', 8, .false., get)
    call checked('get', nint(y) == 2)
    big = me
    do i = 1, size(sizes)
      elements = sizes(i)
      data = 0
      call figure('get', '-', 8 * elements, .false., get_many)
      call checked('get of many', nint(sum(data)) == 2 * elements)
    end do
  end subroutine

  subroutine rows
    elements = side
    a = me
    row = 7
    sync all
    call figure('put-row', '256x8', 8 * side, .false., put_row)
    copy = a(:, :)[2]
    call checked('row', all(nint(copy(3, :)) == 7) .and. &
      nint(sum(copy)) == 2 * side * side + 5 * side)
    call figure('get-row', '256x8', 8 * side, .false., get_row)
    call checked('row got', all(nint(row) == 7))
  end subroutine

  subroutine blocks
    elements = edge * edge
    a = me
    block = 7
    sync all
    call figure('put-block', '64x64', 8 * elements, .false., put_block)
    copy = a(:, :)[2]
    call checked('block', all(nint(copy(9:edge + 8, 17:edge + 16)) == 7) .and. &
      nint(sum(copy)) == 2 * side * side + 5 * edge * edge)
    call figure('get-block', '64x64', 8 * elements, .false., get_block)
    call checked('block got', all(nint(block) == 7))
  end subroutine

  subroutine put(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      x[other] = y
    end do
  end subroutine

  subroutine put_sync(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      x[other] = y
      sync memory
    end do
  end subroutine

  subroutine get(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      y = x[other]
    end do
  end subroutine

  subroutine put_many(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      big(1:elements)[other] = data(1:elements)
    end do
  end subroutine

  subroutine get_many(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      data(1:elements) = big(1:elements)[other]
    end do
  end subroutine

  subroutine put_row(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      a(3, :)[other] = row
    end do
  end subroutine

  subroutine get_row(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      row(:) = a(3, :)[other]
    end do
  end subroutine

  subroutine put_block(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      a(9:edge + 8, 17:edge + 16)[other] = block
    end do
  end subroutine

  subroutine get_block(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      block(:, :) = a(9:edge + 8, 17:edge + 16)[other]
    end do
  end subroutine
end module
