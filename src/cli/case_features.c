/* SPDX-License-Identifier: MIT */
#include "cli/case_features.h"

#define CASE_FEATURE_NAME(id, name, words) {name, words},
const struct case_feature_name CASE_FEATURE_NAMES[CASE_FEATURE_COUNT] = {CASE_FEATURES(CASE_FEATURE_NAME)};

const char *case_feature_word(size_t index)
{
    return index < CASE_FEATURE_COUNT ? CASE_FEATURE_NAMES[index].name : NULL;
}
