! SPDX-License-Identifier: BSD-3-Clause
! this_image, num_images, image_status, failed_images, stopped_images while all images run.
program images
  implicit none
  integer :: x[*], n, i
  integer, allocatable :: list(:)
  n = num_images()
  if (n < 1) error stop 'num_images'
  if (this_image() < 1 .or. this_image() > n) error stop 'this_image'
  if (this_image(x, 1) /= this_image()) error stop 'this_image(x, 1)'
  x = this_image()
  call co_sum(x)
  if (x /= n * (n + 1) / 2) error stop 'image numbers are not 1 to n'
  do i = 1, n
    if (image_status(i) /= 0) error stop 'image_status'
  end do
  list = failed_images()
  if (size(list) /= 0) error stop 'failed_images'
  list = stopped_images()
  if (size(list) /= 0) error stop 'stopped_images'
  if (size(failed_images(kind=8)) /= 0) error stop 'failed_images(kind=8)'
  sync all
  if (this_image() == 1) print '(a)', 'ok images'
end program
