// SPDX-License-Identifier: BSD-3-Clause
// What calls of libfabric see of the environment, and what the application sees afterwards.
// Compiled with environment.c. Prints "ok environment".
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libfabric.h"

static int failures;

static void expect(const char *when, const char *name, const char *value)
{
	const char *is = getenv(name);
	if (value ? is && strcmp(is, value) == 0 : !is)
		return;
	fprintf(stderr, "%s: %s is %s, not %s\n", when, name, is ? is : "unset",
		value ? value : "unset");
	failures++;
}

// The user's setting wins, and nothing is left.
static void during_and_after(void)
{
	setenv("FI_UNIVERSE_SIZE", "100", 1);
	char **before = environ;
	lf_environment_begin();
	expect("during a call", "FI_UNIVERSE_SIZE", "100");
	expect("during a call", "FI_OFI_RXM_USE_SRX", "1");
	expect("during a call", "FI_OFI_RXM_MSG_RX_SIZE", "64");
	lf_environment_end();
	expect("after a call", "FI_UNIVERSE_SIZE", "100");
	expect("after a call", "FI_OFI_RXM_USE_SRX", NULL);
	if (environ != before) {
		fputs("another array is left\n", stderr);
		failures++;
	}
}

// A later call sees what the application has changed.
static void changed(void)
{
	setenv("FI_OFI_RXM_USE_SRX", "0", 1);
	lf_environment_begin();
	expect("in a later call", "FI_OFI_RXM_USE_SRX", "0");
	lf_environment_end();
	unsetenv("FI_UNIVERSE_SIZE");
	lf_environment_begin();
	expect("without the user's", "FI_UNIVERSE_SIZE", "64");
	lf_environment_end();
}

// What another thread sets meanwhile stays.
static void set_meanwhile(void)
{
	lf_environment_begin();
	setenv("LF_MEANWHILE", "1", 1);
	lf_environment_end();
	expect("set during a call", "LF_MEANWHILE", "1");
}

int main(void)
{
	during_and_after();
	changed();
	set_meanwhile();
	clearenv();
	lf_environment_begin();
	expect("without an environment", "FI_OFI_RXM_USE_SRX", "1");
	lf_environment_end();
	expect("without an environment", "FI_OFI_RXM_USE_SRX", NULL);
	if (failures == 0)
		puts("ok environment");
	return failures != 0;
}
