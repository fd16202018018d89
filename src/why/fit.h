/* SPDX-License-Identifier: MIT */
/* How well a guess fits somebody's numbers: its errors relative to the noise of each number (why/noise.h). The noise is
 * the root mean square of its moves in some runs, plus half a unit in its last place. */
#pragma once

#include "why/trial.h"

/* The most that one number may be off, in multiples of its noise. */
double fit_most_noise(const struct trial_base *base);

/* The distance of a compared table from the computed one, relative to the noise in the base; as trial->rms. */
double fit_rms_of_table(const struct trial_base *base, const struct trial_made *made, size_t table,
                        const struct trial *trial);

/* The most that the rms of a guess may be. */
double fit_most_rms(const struct trial_base *base, const struct trial_guess *guess);

/* Measures the noise of a guess and judges by it: sets end, agree, of, rows, largest, rms, apart, outside, moves,
 * worst, noise and exact of a trial whose indices are set. The guess agrees if every number is within its digits plus
 * fit_most_noise times its noise, and the rms of all errors within fit_most_rms. For few bits that is a part of the
 * noise, and the remaining errors must not follow what a mistake changes. STATUS_SYSTEM: out of memory. */
enum status fit_weigh(const struct trial_base *base, const struct trial_guess *guess, const struct trial_made *made,
                      struct trial *trial, struct arena *arena, struct error *error);

/* Whether to believe a guess that agrees rather than the right computation: its errors are at most half as large, and
 * not by chance. */
bool fit_beats(const struct trial *trial, const struct trial *right);

/* Makes all stages of the base's tables for a guess on another problem, which must outlive `made`; false if it
 * cannot. */
bool fit_make(const struct trial_base *base, const struct problem *problem, const struct trial_guess *guess,
              struct trial_made *made, struct arena *arena, struct error *error);
