// SPDX-License-Identifier: BSD-3-Clause
// The tasks: some take many times as long as others, and which do is not known in advance.
#include <stdint.h>

#include "counter.h"

static uint32_t scramble(uint32_t x)
{
	x = (x ^ (x >> 16)) * 0x85ebca6bu;
	x = (x ^ (x >> 13)) * 0xc2b2ae35u;
	return x ^ (x >> 16);
}

int owner_of(long task) { return (int)(scramble((uint32_t)task) % (unsigned)app_n); }
int segment_of(long task) { return (int)(scramble((uint32_t)task + 1) % SEGMENTS); }

// 160 to 5120 rounds of a generator of random numbers: 6 to 200 microseconds.
void task_do(struct pool *p, long task, double *result)
{
	uint32_t word[LENGTH];
	int rounds = 160 << scramble((uint32_t)task + 2) % 6;
	for (int i = 0; i < LENGTH; i++) word[i] = (uint32_t)task * LENGTH + (uint32_t)i + 1;
	for (int k = 0; k < rounds; k++)
		for (int i = 0; i < LENGTH; i++) {
			word[i] ^= word[i] << 13;
			word[i] ^= word[i] >> 17;
			word[i] ^= word[i] << 5;
		}
	for (int i = 0; i < LENGTH; i++) result[i] = word[i] % 1024;
	if (p)
		p->done[task]++;
}

void add(double *sum, const double *result)
{
	for (int i = 0; i < LENGTH; i++) sum[i] += result[i];
}
