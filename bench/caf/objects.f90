! SPDX-License-Identifier: BSD-3-Clause
! Atomic subroutines, locks, CRITICAL, events.
module objects
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind, lock_type, event_type
  use task
  use measure
  implicit none
  private
  public :: atomics, locks, events

  integer(atomic_int_kind) :: word[*], old
  type(lock_type) :: guard[*]
  type(event_type) :: posted[*], there[*], back[*]
  integer :: done ! turns of image 1
contains
  subroutine atomics
    call figure('atomic-define', '-', 4, .false., define)
    call figure('atomic-ref', '-', 4, .false., ref)
    call figure('atomic-cas', '-', 4, .false., cas)
    call atomic_define(word, 0_atomic_int_kind)
    done = 0
    sync all
    call figure('atomic-add', '-', 4, .false., add)
    call figure('atomic-fetch-add', '-', 4, .false., fetch_add)
    call atomic_ref(old, word[2])
    call checked('sum of atomic additions', old == done)
  end subroutine

  subroutine locks
    call figure('lock+unlock', '-', 0, .false., lock_unlock)
    call figure('critical', '-', 0, .false., in_critical)
    word = 0
    done = 0
    sync all
    call figure('critical-both', '-', 0, .true., count_in_critical)
    call checked('counted in critical', word[1] == 2 * done)
  end subroutine

  subroutine events
    call figure('event-post', '-', 0, .false., posts)
    call figure('event-post+wait', '-', 0, .true., ping_pong)
  end subroutine

  subroutine define(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call atomic_define(word[other], 1_atomic_int_kind)
    end do
  end subroutine

  subroutine ref(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call atomic_ref(old, word[other])
    end do
  end subroutine

  subroutine cas(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call atomic_cas(word[other], old, 1_atomic_int_kind, 1_atomic_int_kind)
    end do
  end subroutine

  subroutine add(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call atomic_add(word[other], 1_atomic_int_kind)
    end do
    done = done + turns
  end subroutine

  subroutine fetch_add(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      call atomic_fetch_add(word[other], 1_atomic_int_kind, old)
    end do
    done = done + turns
  end subroutine

  subroutine lock_unlock(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      lock (guard[other])
      unlock (guard[other])
    end do
  end subroutine

  ! The lock of CRITICAL is image 1's: its own here.
  subroutine in_critical(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      critical
      end critical
    end do
  end subroutine

  subroutine count_in_critical(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      critical
        word[1] = word[1] + 1
      end critical
    end do
    done = done + turns
  end subroutine

  ! Posts events for which no image waits.
  subroutine posts(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      event post (posted[other])
    end do
  end subroutine

  subroutine ping_pong(turns)
    integer, intent(in) :: turns
    integer :: i
    do i = 1, turns
      if (me == 1) then
        event post (there[other])
        event wait (back)
      else if (me == 2) then
        event wait (there)
        event post (back[other])
      end if
    end do
  end subroutine
end module
