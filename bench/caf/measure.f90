! SPDX-License-Identifier: BSD-3-Clause
! Measures a figure: finds how many turns make a sample of decent length, then alternates samples of
! the coarray statement and of its baseline, and prints the lines of timing.h (in the worker of
! armci_perf). Image 1 keeps the time. Knows no figure.
module measure
  use task
  use direct
  implicit none
  private
  public :: figure, checked

  integer, parameter, public :: most_reps = 99
  integer, public :: reps = 5
  logical, public :: quick = .false.
  real(real64), public :: sample_ms = 3 ! length of a sample
  integer :: agreed[*]
  character, parameter :: tab = achar(9)
contains
  ! What image 1 has decided.
  function decided(n) result(same)
    integer, intent(in) :: n
    integer :: same, image
    if (me == 1) then
      do image = 1, num_images()
        agreed[image] = n
      end do
    end if
    sync all
    same = agreed
    sync all
  end function

  ! Nanoseconds of a turn, as image 1 sees them. all: every image does the task, else image 1 alone.
  function sample(t, turns, all) result(ns)
    procedure(body) :: t
    integer, intent(in) :: turns
    logical, intent(in) :: all
    real(real64) :: ns
    integer(int64) :: from, to, rate
    sync all
    call system_clock(from, rate)
    if (all .or. me == 1) call t(turns)
    call system_clock(to)
    sync all
    ns = 1e9_real64 * real(to - from, real64) / real(rate, real64) / turns
  end function

  function enough(t, all) result(turns)
    procedure(body) :: t
    logical, intent(in) :: all
    integer :: turns
    real(real64) :: ns, want
    want = sample_ms * 1e6
    turns = 2
    ns = sample(t, turns, all)
    do while (.not. quick)
      ns = sample(t, turns, all)
      if (decided(merge(1, 0, ns * turns > want / 3 .or. turns > 4000000)) == 1) exit
      turns = 2 * turns
    end do
    if (.not. quick) turns = decided(max(2, int(want / ns)))
  end function

  ! A figure of so many bytes at each turn; shape: '-', or of what it is a part.
  subroutine figure(op, shape, bytes, all, ours)
    character(*), intent(in) :: op, shape
    integer, intent(in) :: bytes
    logical, intent(in) :: all
    procedure(body) :: ours
    procedure(body), pointer :: raw
    character(:), allocatable :: its_samples
    real(real64) :: mine(most_reps), its(most_reps)
    integer :: i, turns, raw_turns
    raw => direct_task(op)
    turns = enough(ours, all)
    if (associated(raw)) raw_turns = enough(raw, all)
    do i = 1, reps
      if (associated(raw) .and. mod(i, 2) == 0) its(i) = sample(raw, raw_turns, all)
      mine(i) = sample(ours, turns, all)
      if (associated(raw) .and. mod(i, 2) == 1) its(i) = sample(raw, raw_turns, all)
    end do
    if (me /= 1) return
    its_samples = '-'
    if (associated(raw)) its_samples = samples(its(:reps))
    print '(6a,i0,a,i0,6a)', 'PERF', tab, op, tab, shape, tab, bytes, tab, num_images(), tab, &
      'ns', tab, samples(mine(:reps)), tab, its_samples
    flush (6)
  end subroutine

  ! Numbers with blanks between them.
  function samples(values) result(text)
    real(real64), intent(in) :: values(:)
    character(:), allocatable :: text
    character(16 * most_reps) :: line
    write (line, '(*(g0.6,:,1x))') values
    text = trim(line)
  end function

  ! What must be exact, as image 1 finds it.
  subroutine checked(what, good)
    character(*), intent(in) :: what
    logical, intent(in) :: good
    if (me == 1) print '(5a)', 'CHECK', tab, what, tab, trim(merge('ok   ', 'wrong', good))
  end subroutine
end module
