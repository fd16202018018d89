/* SPDX-License-Identifier: MIT */
#include "kernel/lanes.h"

#include <math.h>
#include <string.h>

static const double LOG2_E = 1.4426950408889634;

bool lanes_cap(const struct fused_job *job, double scale, struct kernel_adjustment *adjustment)
{
    const double boundless = job->kernel->number == DTYPE_F32 ? 1e30 : 1e290;
    if (!(job->softcap > 0 && job->softcap < boundless))
        return false;
    *adjustment =
        (struct kernel_adjustment){.capped = true, .steepness = scale / job->softcap, .height = job->softcap * LOG2_E};
    return true;
}

static int32_t clip(size_t key, size_t first, size_t count)
{
    return key > first ? (int32_t)memory_smaller(key - first, count) : 0;
}

bool lanes_mark(const struct fused_job *job, const struct lanes *lanes, bool bounded, size_t first, size_t count,
                int32_t *from, int32_t *till)
{
    bool any = false;
    for (size_t lane = 0; lane < job->kernel->lanes; lane++) {
        const struct span span =
            bounded ? lanes_span(job, lanes->item, lanes_query(lanes, lane)) : (struct span){0, SIZE_MAX};
        from[lane] = clip(span.first, first, count);
        till[lane] = clip(span.end, first, count);
        any = any || from[lane] < till[lane];
    }
    return any;
}

void lanes_measure(const struct fused_job *job, const struct lanes *lanes, size_t start, void *slope, void *distance)
{
    const double largest = dtype_largest(job->kernel->number);
    double distances[KERNEL_MOST_LANES], slopes[KERNEL_MOST_LANES];
    for (size_t lane = 0; lane < job->kernel->lanes; lane++) {
        const double steep = job->mask->alibi_slopes[lanes->head + lanes_head(lanes, lane)] * LOG2_E;
        const size_t query = lanes_position(job, lanes_query(lanes, lane));
        distances[lane] = (double)((int64_t)query + mask_offset(job->mask, lanes->item, query) - (int64_t)start);
        slopes[lane] = fmax(-largest, fmin(largest, steep));
    }
    lanes_put(job, distances, distance);
    lanes_put(job, slopes, slope);
}

void lanes_load_bias(const struct fused_job *job, const struct lanes *lanes, size_t lane, size_t first, size_t count,
                     bool plain, void *bias)
{
    const enum dtype number = job->kernel->number;
    const size_t position = lanes_position(job, lanes_query(lanes, lane)), head = lanes->head + lanes_head(lanes, lane);
    if (plain)
        memset(bias, 0, count * dtype_size(number));
    else
        mask_load(job->mask, lanes->item, head, position, first, count, number, bias);
    if (job->mask->relative != NULL)
        mask_add_relative(job->mask, lanes->item, head, position, first, count, number, bias);
}
