! SPDX-License-Identifier: BSD-3-Clause
! teams.f90 - the images divide themselves into two teams, and each team computes something of its
! own: sums, a maximum and a broadcast reach the images of the current team only, and image numbers
! are those in it.
!
!   caf-armci -O2 teams.f90 -o teams && armcirun -n 4 ./teams
program teams
  use, intrinsic :: iso_fortran_env, only: team_type
  implicit none
  type(team_type) :: half
  integer :: box[*], me, n, colour, total, most, word, i

  me = this_image()
  n = num_images()
  colour = 1 + mod(me - 1, 2) ! odd images are team 1, even ones team 2
  form team (colour, half)

  change team (half)
    if (team_number() /= colour) error stop 'team_number'
    if (num_images() /= (n + 2 - colour)/2) error stop 'a team of another size'
    if (this_image() /= (me + 1)/2) error stop 'another number in the team'
    total = me
    call co_sum(total)
    most = me
    call co_max(most)
    word = 100*colour
    call co_broadcast(word, source_image=1)
    ! To the next image of the team.
    box[merge(1, this_image() + 1, this_image() == num_images())] = me
    sync all ! of the team
  end team

  if (total /= sum([(i, i=colour, n, 2)])) error stop 'the sum is not that of the team'
  if (most /= colour + 2*((n - colour)/2)) error stop 'the maximum is not that of the team'
  if (word /= 100*colour) error stop 'a word of the other team'
  if (box /= merge(me - 2, most, me > 2)) error stop 'a put went to another image'
  call co_sum(total) ! of all images again
  if (total /= sum([(sum([(i, i=1 + mod(colour - 1, 2), n, 2)]), colour=1, n)])) &
    error stop 'the sum of all is wrong'
  if (me == 1) print '(a,i0,a)', 'ok teams: ', min(n, 2), ' teams'
end program teams
