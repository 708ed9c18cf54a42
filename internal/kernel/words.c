/*
 * words.c - what armci_msg_* calls operators and element types: words, and codes in two numberings.
 * Must not do arithmetic.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kernel.h"

#include <string.h>

int k_type_of_message(int code)
{
	switch (code) {
	case -99: case 0: return K_INT;
	case -101: case 1: return K_LNG;
	case -102: case 2: return K_LLNG;
	case -306: case 3: return K_FLT;
	case -307: case 4: return K_DBL;
	}
	return -1;
}

int k_red_of_word(const char *word)
{
	/* In the order of comparison: a longer word before its prefix. */
	static const struct {
		const char *word;
		int         red;
	} words[] = {
		{"+", K_SUM},
		{"*", K_PROD},
		{"max", K_MAX},
		{"min", K_MIN},
		{"absmax", K_ABSMAX},
		{"absmin", K_ABSMIN},
		{"&&", K_LAND},
		{"land", K_LAND},
		{"||", K_LOR},
		{"lor", K_LOR},
		{"&", K_BAND},
		{"band", K_BAND},
		{"|", K_BOR},
		{"bor", K_BOR},
		{"or", K_BOR},
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (*word == *words[i].word &&
			strncmp(word, words[i].word, strlen(words[i].word)) == 0)
			return words[i].red;
	return -1;
}
