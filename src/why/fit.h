/* SPDX-License-Identifier: MIT */
/* How well a guess fits somebody's numbers: its errors beside the noise of each number (why/noise.h), which is the root
 * mean square of what moves it in NOISE_RUNS runs, with half a unit of its own last place. */
#ifndef ATTN_WHY_FIT_H
#define ATTN_WHY_FIT_H

#include "why/trial.h"

/* How many times its noise one number may be off. */
double fit_most_noise(const struct trial_base *base);

/* How far one of the tables, of which a trial has compared the numbers, is from what was made, relative to the noise
 * that the base knows of it; as trial->rms. */
double fit_rms_of_table(const struct trial_base *base, const struct trial_made *made, size_t table,
                        const struct trial *trial);

/* The most that the rms of a guess may be. */
double fit_most_rms(const struct trial_base *base, const struct trial_guess *guess);

/* Measures the noise of a guess and judges by it: sets end, agree, of, rows, largest, rms, apart, outside, moves,
 * worst, noise and exact of a trial whose indices are set. The guess agrees where every number is within its digits and
 * so many times its noise, and all errors together are no larger than those of rounding. Of few bits that is a part of
 * the noise, and what remains must not go along what a mistake changes. STATUS_SYSTEM where memory is short. */
enum status fit_weigh(const struct trial_base *base, const struct trial_guess *guess, const struct trial_made *made,
                      struct trial *trial, struct arena *arena, struct error *error);

/* Whether a guess that agrees is to be believed, rather than what is right: its errors are half as large at most, and
 * that is no chance. */
bool fit_beats(const struct trial *trial, const struct trial *right);

#endif
