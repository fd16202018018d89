/* SPDX-License-Identifier: MIT */
#include "problem/shard.h"

#include "base/hash.h"
#include "base/libm.h"
#include "base/version.h"
#include "model/stages.h"

/* The cost of a query: its allowed keys. */
static double row_work(const struct problem *problem, size_t row)
{
    size_t keys = 1; /* an empty row costs something too */
    for (size_t item = 0; item < problem->size.items; item++) {
        const struct span span = mask_span(&problem->mask, item, problem->chosen.rows[row]);
        keys += span.end - span.first;
    }
    return (double)keys;
}

/* The end of part k of n: the parts up to it have k/n of the work, to the nearest row, and each at least one row. */
static size_t part_end(const struct problem *problem, size_t k, size_t n)
{
    const size_t count = problem->chosen.row_count;
    double total = 0, work = 0;
    size_t end = 0, row = 0;
    for (size_t i = 0; i < count; i++)
        total += row_work(problem, i);
    for (size_t part = 1; part <= k; part++) {
        while (row < count && work + row_work(problem, row) / 2 < total * (double)part / (double)n)
            work += row_work(problem, row++);
        end = end + 1 > row ? end + 1 : row;
    }
    return end < count - (n - k) ? end : count - (n - k);
}

void shard_select(struct problem *problem, size_t part, size_t parts)
{
    const size_t first = part_end(problem, part - 1, parts), end = part_end(problem, part, parts);
    problem->chosen.part = part;
    problem->chosen.parts = parts;
    problem->chosen.rows += first;
    problem->chosen.row_count = end - first;
}

static uint64_t hash_shape(uint64_t hash, const struct tensor *tensor)
{
    for (size_t axis = 0; axis < tensor->rank; axis++) {
        const uint64_t size = tensor->shape[axis];
        hash = hash_bytes(hash, &size, sizeof size);
    }
    return hash;
}

/* Hashes numbers as doubles, since a file may store them in fewer bits. */
static uint64_t hash_numbers(uint64_t hash, const struct tensor *tensor)
{
    enum { CHUNK = 512 };
    double numbers[CHUNK];
    const size_t count = tensor_count(tensor);
    for (size_t first = 0; first < count; first += CHUNK) {
        const size_t now = memory_smaller(count - first, CHUNK);
        tensor_load(tensor, first, now, numbers);
        hash = hash_bytes(hash, numbers, now * sizeof *numbers);
    }
    return hash;
}

static uint64_t hash_tensor(uint64_t hash, const struct tensor *tensor)
{
    if (tensor->rank == 0)
        return hash;
    return hash_bytes(hash_shape(hash, tensor), tensor->data, tensor_count(tensor) * dtype_size(tensor->dtype));
}

static uint64_t hash_parameter(uint64_t hash, const struct tensor *tensor)
{
    return tensor->rank == 0 ? hash : hash_numbers(hash_shape(hash, tensor), tensor);
}

static uint64_t hash_projection(uint64_t hash, const struct projection *projection)
{
    hash = hash_text(hash, projection->transposed ? "transposed" : "plain");
    return hash_parameter(hash_parameter(hash, &projection->weight), &projection->bias);
}

static uint64_t hash_norm(uint64_t hash, const struct norm *norm)
{
    hash = hash_bytes(hash, &norm->eps, sizeof norm->eps);
    return hash_parameter(hash_parameter(hash, &norm->weight), &norm->bias);
}

static uint64_t hash_parameters(uint64_t hash, const struct parameters *parameters)
{
    const struct latent *latent = &parameters->latent;
    const struct projection *steps[] = {&latent->query_a, &latent->query_b, &latent->key_value_a, &latent->key_value_b};
    for (size_t module = 0; module < parameters->module_count; module++)
        for (enum projection_id id = 0; id < PROJECTION_COUNT; id++)
            hash = hash_projection(hash, &parameters->modules[module].projections[id]);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        hash = hash_projection(hash, steps[i]);
    for (enum norm_id id = 0; id < NORM_COUNT; id++)
        hash = hash_norm(hash, &parameters->norms[id]);
    hash = hash_norm(hash_norm(hash, &latent->query_norm), &latent->key_value_norm);
    hash = hash_projection(hash, &parameters->gate);
    return hash_projection(hash_parameter(hash_projection(hash, &parameters->out), &parameters->relative_bias),
                           &parameters->words.unembedding);
}

static uint64_t hash_mask(uint64_t hash, const struct problem *problem)
{
    const struct mask *mask = &problem->mask;
    hash = hash_tensor(hash, &mask->attn_mask);
    hash = hash_bytes(hash, &mask->offset, sizeof mask->offset);
    if (mask->sequences.count > 0) {
        const size_t bytes = (mask->sequences.count + 1) * sizeof(int64_t);
        hash = hash_bytes(hash_text(hash, "sequences"), mask->sequences.query_starts, bytes);
        hash = hash_bytes(hash, mask->sequences.key_starts, bytes);
    }
    for (enum mask_rule rule = 0; rule < MASK_RULE_COUNT; rule++) {
        const struct mask_given *given = &mask->given[rule];
        if (given->number != 0)
            hash = hash_bytes(hash_text(hash, MASKS[rule].option), &given->number, sizeof given->number);
        if (given->ids != NULL)
            hash = hash_bytes(hash_text(hash, MASKS[rule].tensor), given->ids,
                              given->lists * given->count * sizeof *given->ids);
    }
    if (mask->lengths != NULL)
        hash = hash_bytes(hash_text(hash, "lengths"), mask->lengths, problem->size.items * sizeof *mask->lengths);
    if (mask->alibi_slopes != NULL)
        hash =
            hash_bytes(hash_text(hash, "slopes"), mask->alibi_slopes, problem->size.heads * sizeof *mask->alibi_slopes);
    if (mask->sinks != NULL)
        hash = hash_bytes(hash_text(hash, "sinks"), mask->sinks, problem->size.heads * sizeof *mask->sinks);
    return hash;
}

/* Another instruction set may give other last bits, and the baseline differs between kinds of processors. */
static uint64_t hash_kernel(uint64_t hash, const struct kernel *kernel)
{
    const uint64_t facts[] = {kernel->lanes, kernel->one_part};
    return hash_bytes(hash_text(hash, kernel->name), facts, sizeof facts);
}

uint64_t shard_job(const struct problem *problem)
{
    const uint64_t whole = problem->chosen.whole_count;
    uint64_t hash = hash_text(HASH_START, ATTN_VERSION);
    const struct token_labels *labels[] = {&problem->labels.keys, &problem->labels.queries};
    hash = hash_text(hash, MECHANISMS[problem->mechanism].name);
    for (size_t i = 0; i < 2; i++)
        for (size_t token = 0; labels[i]->texts != NULL && token < labels[i]->lists * labels[i]->count; token++)
            hash = hash_text(hash, labels[i]->texts[token]);
    for (size_t i = 0; i < problem->record.setting_count; i++)
        hash = hash_text(hash_text(hash, problem->record.settings[i].name), problem->record.settings[i].text);
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        hash = hash_text(hash, stage_name(problem->chosen.stages[i]));
    hash = hash_text(hash, problem->path.fused ? "fused" : problem->path.kernel_projections ? "mixed" : "reference");
    if (problem->path.fused)
        hash = hash_kernel(hash, problem->path.kernel);
    if (problem->path.kernel_projections)
        hash = hash_kernel(hash, problem->path.projector);
    hash = hash_bytes(hash, &whole, sizeof whole); /* query and labels tell which ones */
    hash = hash_tensor(hash_mask(hash, problem), &problem->given.inputs);
    if (problem->given.heads_out != NULL)
        hash = hash_bytes(hash, problem->given.heads_out, problem->size.heads * sizeof(bool));
    if (problem->given.is_cross)
        hash = hash_tensor(hash, &problem->given.key_inputs);
    for (size_t i = 0; i < 3; i++)
        hash = hash_tensor(hash, &problem->given.operands[i]);
    return hash_parameters(hash, &problem->parameters);
}

uint64_t shard_library(const struct problem *problem, bool fused)
{
    uint64_t asked = 0;
    unsigned functions = 0;
    const bool sines = problem->given.positions.rank > 0 && !problem->given.learns_positions;
    const unsigned rotation = (problem->rotation.rope.in_double ? LIBM_POW | LIBM_COS | LIBM_SIN | LIBM_LOG : 0) |
                              (sines ? LIBM_POW | LIBM_COS | LIBM_SIN : 0) |
                              (problem->scaling.growth.by != 0 ? LIBM_LOG : 0);
    if (problem->mistake.recipe != NULL) /* all that mistakes may use */
        return libm_fingerprint(LIBM_EXP | LIBM_EXP2 | LIBM_LOG | LIBM_TANH | rotation);
    for (size_t i = 0; i < problem->chosen.stage_count; i++)
        if (stage_exists(problem->chosen.stages[i]))
            asked |= STAGE_BIT(problem->chosen.stages[i]);
    const uint64_t stages = stage_closure(asked);
    for (enum stage stage = 0; stage < STAGE_COUNT; stage++)
        if (stages & STAGE_BIT(stage))
            functions |= STAGES[stage].libm;
    if (problem->scaling.softcap <= 0)
        functions &= ~(unsigned)LIBM_TANH;
    if (fused) /* it has its own exp and tanh, except for sinks */
        functions = (functions & LIBM_LOG) | (functions & LIBM_EXP && problem->mask.sinks != NULL ? LIBM_EXP2 : 0);
    if (problem->mask.relative != NULL) /* buckets grow as a logarithm */
        functions |= LIBM_LOG;
    if (stages & (STAGE_BIT(STAGE_QUERY) | STAGE_BIT(STAGE_KEY) | STAGE_BIT(STAGE_POSITIONS)))
        functions |= rotation;
    return libm_fingerprint(functions);
}
