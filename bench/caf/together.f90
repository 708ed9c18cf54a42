! SPDX-License-Identifier: BSD-3-Clause
! What images do together: synchronisation, collective subroutines, allocation.
module together
  use task
  use measure
  implicit none
  private
  public :: synchronisation, collectives, allocations

  integer, parameter :: sizes(*) = [1, 16, 128, 1024, 8192, most] ! elements
  real(real64) :: data(most)
contains
  subroutine synchronisation
    call figure('sync-all', '-', 0, .true., sync_everyone)
    call figure('sync-images', '-', 0, .true., sync_pair)
    call figure('sync-memory', '-', 0, .false., sync_own)
  end subroutine

  subroutine collectives
    integer :: i
    do i = 1, size(sizes)
      elements = sizes(i)
      data = 0
      call figure('co-sum', '-', 8 * elements, .true., total)
      call figure('co-broadcast', '-', 8 * elements, .true., broadcast)
      data = me
      call total(1)
      call checked('co_sum', all(nint(data(:elements)) == num_images() * (num_images() + 1) / 2))
    end do
  end subroutine

  subroutine allocations
    elements = 128
    call figure('allocate+deallocate', '-', 8 * elements, .true., allocate_deallocate)
    elements = most
    call figure('allocate+deallocate', '-', 8 * elements, .true., allocate_deallocate)
  end subroutine

  subroutine sync_everyone(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      sync all
    end do
  end subroutine

  subroutine sync_pair(turns)
    integer, intent(in) :: turns
    integer :: i
    if (me > 2) return
    do i = 1, turns
      sync images (other)
    end do
  end subroutine

  subroutine sync_own(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      sync memory
    end do
  end subroutine

  subroutine total(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call co_sum(data(:elements))
    end do
  end subroutine

  subroutine broadcast(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call co_broadcast(data(:elements), 1)
    end do
  end subroutine

  subroutine allocate_deallocate(turns)
    integer, intent(in) :: turns
    real(real64), allocatable :: some(:)[:]
    integer :: i
    do i = 1, turns
      allocate (some(elements)[*])
      deallocate (some)
    end do
  end subroutine
end module
