/* SPDX-License-Identifier: MIT */
/* The options of OPTION_FIELDS (options.h), a row each, for option_table.c only. Parser, errors, help, completion and
 * settings of files use these rows.
 *
 *     ROW(identifier, field, kind, abilities, fields of struct option_row)
 *     NOT(identifier, other, abilities, fields of struct option_row)
 *
 * NOT is an option that negates another flag, in its field. The kinds, with the type of the field:
 *
 *     FLAG                      bool
 *     WHOLE(from, to)           uint64_t
 *     REAL(from, below, words)  double, finite, at least `from`, below `below`; the range in words
 *     CHOICE(type, list)        an enum, and its list: base/choice.h
 *     AMONG(type, words)        an enum of another table, and its words in order, ending in NULL
 *     TEXT, FILE                const char *; the name of a file
 *     LIST(words)               const char *: names separated by commas, from that function
 *
 * Commands with one of the abilities take the option. The help of an everyday option, up to its first semicolon, fits a
 * line of 51 columns. */
#pragma once

#include <math.h>
#include <stdint.h>

/* Rare in all commands that compute. */
#define RARE (ABILITY_RUNS)

/* clang-format off */
#define OPTION_ROWS(ROW, NOT) \
    ROW(IN, in, FILE, ABILITY_RUNS, .name = "in", .letter = 'i', .argument = "FILE", .reads = true, \
        .foreign = "input inputs file infile data", \
        .fallback = "standard input", \
        .help = "tokens, inputs, parameters: JSON, a printed table, .npy, .npz, .pt, .safetensors; - is standard input; also FILE alone") \
    ROW(WEIGHTS, weights, FILE, ABILITY_PROJECTS, .name = "weights", .letter = 'w', .argument = "FILE", .reads = true, \
        .everyday = 10, .foreign = "params parameters statedict checkpoint model load", \
        .fallback = "those in --in, else drawn", .help = "take the parameters from this file; nothing else in it counts") \
    ROW(RANDOM, random, TEXT, ABILITY_COMPUTES, .name = "random", .argument = "SHAPE", .parse = option_parse_random, \
        .setting = true, .asked = "random", .foreign = "randn randominput randominputs", \
        .fallback = "an input is read", \
        .help = "draw the inputs as torch.randn: 6x3, 2x6x3; sdpa: query, then key, then value, each 2x8x128x64") \
    ROW(RANDOM_SEED, random_seed, WHOLE(0, UINT64_MAX), ABILITY_COMPUTES, .name = "random-seed", .wraps = true, .argument = "N", \
        .setting = true, .asked = "random seed", .initial = "0", \
        .rare = RARE, .help = "seed of --random; --seed draws the parameters") \
    ROW(WITHOUT, without, TEXT, ABILITY_COMPUTES, .name = "without", .argument = "LIST", .setting = true, \
        .asked = "without", .foreign = "exclude remove omit", .fallback = "none", \
        .help = "remove these tokens before anything is computed: 2, journey, 2-4 or 1,4-6") \
    ROW(SENTENCE, sentence, TEXT, ABILITY_READS_WORDS, .name = "text", .argument = "WORDS", \
        .foreign = "sentence prompt words string", .fallback = "the text of the input, if it has a vocabulary", \
        .help = "make tokens and inputs of these words, by the vocabulary of the input: \"the dogs run\"") \
    ROW(TOKENS, tokens, TEXT, ABILITY_MEASURES, .name = "tokens", .argument = "LIST", .foreign = "inputids tokenids ids labels", \
        .fallback = "those of the input", \
        .help = "the tokens, or their ids: a,b,a; or a file of them, as words, JSON or an array") \
    ROW(ADD_POSITIONS, add_positions, CHOICE(enum add_positions, ADD_POSITIONS), ABILITY_READS_WORDS, .name = "add-positions", \
        .argument = "HOW", .setting = true, .asked = "added positions", .foreign = "positionalencoding positionencoding positionembedding pe wpe", \
        .fallback = "learned where the input has a position_embedding, else off", \
        .rare = ABILITY_DRAWS, .help = "add to each row of the inputs its position: the sines of Vaswani et al. 2017, or rows that a model has learned") \
    ROW(WITHOUT_HEADS, without_heads, TEXT, ABILITY_JOINS_HEADS, .name = "without-heads", .argument = "LIST", .setting = true, \
        .asked = "without heads", .foreign = "ablate ablateheads headmask pruneheads removeheads", .fallback = "none", \
        .help = "leave these heads out of the output: 2, or 1,3-4; their columns of the input of out_proj are 0") \
    ROW(KEY_INPUTS, key_inputs, FILE, ABILITY_CROSSES, .name = "key-inputs", .argument = "FILE", .reads = true, \
        .foreign = "cross crossattention encoder encoderhiddenstates memory keyinput", \
        .fallback = "those in --in, else the inputs", \
        .rare = ABILITY_DRAWS, .help = "compute key and value from these inputs: cross-attention; multihead is then not causal unless you type --causal") \
    ROW(MINE, mine, FILE, ABILITY_SEARCHES, .name = "mine", .argument = "TABLE", .reads = true, \
        .foreign = "my table theirs actual got wrong", .fallback = "why needs it", \
        .help = "your table: any file that diff takes, also an elided print; or sum=12.34; - is standard input") \
    ROW(BUDGET, budget, REAL(0x1p-1074, INFINITY, "a finite number above 0"), ABILITY_SEARCHES | ABILITY_TRIES, .name = "budget", \
        .argument = "N", .foreign = "effort work limit timeout", .initial = "20", .fallback = "20; cases: 1", \
        .help = "how much the search may do, in billions of multiply-adds") \
    ROW(GRAD, grad, FILE, ABILITY_SHOWS | ABILITY_SEARCHES | ABILITY_PAGES, .name = "grad", .argument = "FILE", .reads = true, \
        .foreign = "gradient gradients backward backprop requiresgrad", .fallback = "none", \
        .help = "the gradient of a loss with respect to the last stage, or ones: adds the gradients with respect to all before it") \
    ROW(OUT, out, FILE, ABILITY_RUNS | ABILITY_COMPARES | ABILITY_JOINS | ABILITY_GIVES_EXAMPLES | ABILITY_TRIES, \
        .name = "out", .letter = 'o', .argument = "FILE", .everyday = 12, .foreign = "output outfile save write to", \
        .fallback = "standard output; page: attn.html", .help = "where the result goes") \
    ROW(FORMAT, format, AMONG(enum format, FORMAT_NAMES), ABILITY_RUNS | ABILITY_COMPARES | ABILITY_JOINS | ABILITY_TRIES, \
        .name = "format", .of_run = true, .letter = 'f', .argument = "FORMAT", .everyday = 11, .also = format_word, \
        .foreign = "outputformat fmt filetype ext", \
        .fallback = "by the suffix of --out, else text; init: by the suffix of --out, else json; page: html", .help = "how the result is written") \
    ROW(SEED, seed, WHOLE(0, UINT64_MAX), ABILITY_RUNS | ABILITY_TRIES, .name = "seed", .wraps = true, .letter = 's', .argument = "N", .setting = true, \
        .everyday = 9, .foreign = "manualseed rngseed randomstate", \
        .initial = "123", .help = "seed of the generator, as torch.manual_seed") \
    ROW(SKIP, skip, WHOLE(0, UINT32_MAX), ABILITY_RUNS, .name = "skip", .argument = "N", .setting = true, \
        .initial = "0", .rare = RARE, .help = "draws to throw away after seeding") \
    ROW(INIT, init, CHOICE(enum init, INITS), ABILITY_DRAWS, .name = "init", .argument = "HOW", .setting = true, \
        .foreign = "initialization initializer kernelinitializer", \
        .initial = "linear", .help = "draw matrices as nn.Linear, torch.rand and others") \
    ROW(RNG, rng, CHOICE(enum torch_random_build, TORCH_RANDOM_BUILDS), ABILITY_RUNS, .name = "rng", .argument = "BUILD", \
        .setting = true, .initial = "torch", .rare = RARE, .help = "which build of PyTorch to reproduce") \
    ROW(D_OUT, d_out, WHOLE(1, 1 << 20), ABILITY_DRAWS, .name = "d-out", .letter = 'd', .argument = "N", .setting = true, \
        .everyday = 7, .foreign = "dmodel embeddim embeddingdim hiddensize hiddendim outfeatures units outdim", \
        .fallback = "the width of the inputs, or what the parameters have", \
        .help = "columns of query, key and value; of all heads together, or of each with --stacked") \
    ROW(D_IN, d_in, WHOLE(1, 1 << 20), ABILITY_NAMES_PARAMETERS, .name = "d-in", .argument = "N", \
        .foreign = "infeatures inputdim indim inputsize", \
        .fallback = "the width of the inputs", .help = "columns of the inputs; then no input is read") \
    ROW(AS, as, CHOICE(enum orientation, ORIENTATIONS), ABILITY_NAMES_PARAMETERS, .name = "as", .argument = "NAMES", \
        .fallback = "linear with --init linear, else matrix", \
        .help = "name parameters W_query.weight, d_out x d_in, or W_query, d_in x d_out") \
    ROW(HEADS, heads, WHOLE(1, 65536), ABILITY_HAS_HEADS | ABILITY_TRIES, .name = "heads", .letter = 'H', .argument = "N", .setting = true, \
        .alias = "num-heads", .everyday = 6, .elsewhere = "type attn multihead FILE --heads N", \
        .foreign = "nhead nheads numhead numattentionheads attentionheads headcount", \
        .fallback = "none, but multihead needs it, here or in the settings; layer: that of the config; cases: 4", \
        .help = "number of heads; sdpa: query, key and value are packed, B x T x heads d") \
    ROW(KV_HEADS, kv_heads, WHOLE(1, 65536), ABILITY_HAS_HEADS | ABILITY_TRIES, .name = "kv-heads", .argument = "N", .setting = true, \
        .elsewhere = "type attn multihead FILE --heads N --kv-heads N", \
        .foreign = "numkvheads nkvheads numkeyvalueheads numquerygroups", \
        .fallback = "as many as --heads; cases: as many, fewer in some", .help = "heads of key and value: each serves heads / N heads of query") \
    ROW(D_HEAD, d_head, WHOLE(1, 4096), ABILITY_TRIES, .name = "d-head", .argument = "N", \
        .elsewhere = "type --d-out N --heads N: a head has d_out / heads columns", \
        .initial = "32", .help = "columns of a head of query and key") \
    ROW(D_VALUE, d_value, WHOLE(1, 4096), ABILITY_TRIES, .name = "d-value", .argument = "N", \
        .foreign = "dv headdimv vheaddim", .fallback = "as --d-head, and another in some cases", .help = "columns of a head of value, in all cases") \
    ROW(MAX_TOKENS, max_tokens, WHOLE(1, 65536), ABILITY_TRIES, .name = "max-tokens", .argument = "N", \
        .foreign = "maxseq longest", .initial = "257", \
        .help = "tokens of the longest cases; longer tiles are left out") \
    ROW(CAN, can, LIST(case_feature_word), ABILITY_TRIES, .name = "can", .argument = "NAMES", .parse = option_parse_can, \
        .foreign = "features supports capabilities", .fallback = "all", \
        .help = "write only the cases that ask for these features of a kernel alone: causal,gqa,window") \
    ROW(ONLY, only, TEXT, ABILITY_TRIES, .name = "only", .argument = "NAMES", .parse = option_parse_only, .foreign = "filter", .fallback = "all", \
        .help = "write only these cases: edge-16,window") \
    ROW(LAYOUT, layout, CHOICE(enum case_layout, CASE_LAYOUTS), ABILITY_TRIES, .name = "layout", .argument = "AXES", \
        .initial = "bhtd", .help = "the axes of query, key, value and context; thd packs all cases, with cu_seqlens") \
    ROW(CHECK, check, FLAG, ABILITY_TRIES, .name = "check", .foreign = "verify test compare", \
        .help = "read your kernel's results from the folder, and say what passed") \
    ROW(NO_WHY, no_why, FLAG, ABILITY_TRIES, .name = "no-why", .foreign = "noverdict nodiagnosis fast", \
        .help = "with --check: search for no mistakes, and describe no numbers") \
    ROW(STACKED, stacked, FLAG, ABILITY_STACKS, .name = "stacked", .setting = true, \
        .foreign = "wrapper", \
        .help = "separate heads side by side, each with d_out columns, no output projection") \
    ROW(QKV_BIAS, qkv_bias, FLAG, ABILITY_DRAWS, .name = "qkv-bias", .setting = true, \
        .foreign = "bias usebias addbias attentionbias", \
        .help = "draw a bias for each of the three projections; with --init linear alone") \
    ROW(DROPOUT, dropout, REAL(0, 1, "0 <= P < 1"), ABILITY_COMPUTES, .name = "dropout", .argument = "P", \
        .everyday = 8, .foreign = "dropoutp attentiondropout attndropout droprate dropoutrate attnpdrop", \
        .setting = true, .initial = "0", .help = "drop this share of the weights; as nn.Dropout in training") \
    ROW(DROPOUT_SEED, dropout_seed, WHOLE(0, UINT64_MAX), ABILITY_COMPUTES, .name = "dropout-seed", .wraps = true, .argument = "N", \
        .setting = true, .fallback = "dropout draws on where the parameters end", .rare = RARE, .help = "seed again before dropout") \
    ROW(CONTEXT_LENGTH, context_length, WHOLE(1, INT32_MAX), ABILITY_PROJECTS, .name = "context-length", .argument = "N", \
        .foreign = "maxlength maxlen maxseqlen blocksize ctx nctx contextsize maxpositionembeddings", \
        .setting = true, .fallback = "no limit", .rare = RARE, .help = "reject more tokens than this") \
    ROW(CAUSAL, causal, FLAG, ABILITY_CHOOSES_CAUSALITY, .name = "causal", .setting = true, \
        .foreign = "iscausal usecausalmask causalmask mask masked autoregressive", \
        .elsewhere = "type attn causal FILE", \
        .help = "each token attends to itself and the tokens before it (the default of multihead)") \
    NOT(NO_CAUSAL, CAUSAL, ABILITY_CHOOSES_CAUSALITY, .name = "no-causal", \
        .foreign = "bidirectional uncausal nomask notcausal", .elsewhere = "type attn self FILE, which has no mask", \
        .help = "every token attends to every token (the default of sdpa)") \
    ROW(ALIGN, align, CHOICE(enum align, ALIGNS), ABILITY_COMPUTES, .name = "align", .argument = "CORNER", \
        .setting = true, .asked = "align", .initial = "top-left", \
        .rare = RARE, .help = "with fewer queries than keys: queries are the first tokens (top-left) or the last; without past_key and kv_lengths") \
    ROW(WINDOW, window, TEXT, ABILITY_COMPUTES, .name = "window", .argument = "L,R", .parse = option_parse_window, \
        .foreign = "slidingwindow windowsize localwindow windowleft windowsizeleft", \
        .setting = true, .asked = "window", .initial = "-1,-1", \
        .rare = ABILITY_DRAWS, .help = "allow keys from L before the position of the query to R after it; -1 is unbounded") \
    ROW(PREFIX, prefix, WHOLE(0, INT32_MAX), ABILITY_COMPUTES, .name = "prefix", .argument = "N", \
        .foreign = "prefixlm prefixlength", .setting = true, .asked = "prefix", .fallback = "0: none", \
        .rare = RARE, .help = "allow every query the first N keys, as a prefix language model does") \
    ROW(ATTENTION_CHUNK, attention_chunk, WHOLE(0, INT32_MAX), ABILITY_COMPUTES, .name = "attention-chunk", .argument = "N", \
        .foreign = "attentionchunksize blocksize", .setting = true, .asked = "attention chunk", .fallback = "0: one block of all", \
        .rare = RARE, .help = "allow only keys in the query's own block of N positions, as in Llama 4") \
    ROW(SCALE, scale, REAL(-INFINITY, INFINITY, "a finite number"), ABILITY_COMPUTES, .name = "scale", .argument = "S", .setting = true, \
        .foreign = "scalefactor scaling softmaxscale smscale attnscale", \
        .asked = "scale", .parse = option_parse_scale, .fallback = "1 / sqrt(d_head)", \
        .help = "scaled is scores x S: a number, a quotient such as 1/8 or 1/sqrt(64), or off (1)") \
    ROW(TEMPERATURE, temperature, REAL(0x1p-1074, INFINITY, "a finite number above 0"), ABILITY_COMPUTES, .name = "temperature", \
        .argument = "T", .setting = true, .foreign = "temp tau", .asked = "temperature", .initial = "1", \
        .help = "divide the scale by it: above 1 weights are more even, below 1 sharper") \
    ROW(SOFTCAP, softcap, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_COMPUTES, .name = "softcap", .argument = "C", .setting = true, \
        .foreign = "logitsoftcap logitssoftcap softcapping attnlogitsoftcapping", \
        .asked = "softcap", .fallback = "0, none", .rare = ABILITY_DRAWS, .help = "capped is C x tanh(scaled / C)") \
    ROW(TOKEN_TYPES, token_types, TEXT, ABILITY_COMPUTES, .name = "token-types", .argument = "LIST", .setting = true, \
        .asked = "token types", .foreign = "tokentypeids tokentype mmtokentypeids", .fallback = "all 0", \
        .rare = RARE, .help = "the type of each token, as in 0,1x4,0x9: neighbours of type 1 are an image and attend to each other") \
    ROW(MASK_TRUE, mask_true, CHOICE(enum mask_true, MASK_TRUES), ABILITY_COMPUTES, .name = "mask-true", \
        .argument = "MEANING", .setting = true, .asked = "true means", .initial = "keep", \
        .rare = RARE, .help = "what true means in a boolean attn_mask: keep the key, or drop it") \
    ROW(EMPTY_ROW, empty_row, CHOICE(enum empty_row, EMPTY_ROWS), ABILITY_COMPUTES, .name = "empty-row", \
        .argument = "WEIGHTS", .setting = true, .asked = "empty row", .initial = "zero", \
        .rare = RARE, .help = "the weights of a query without an allowed key; mean: 1 / keys") \
    ROW(ROPE, rope, CHOICE(enum rope_kind, ROPE_KINDS), ABILITY_COMPUTES, .name = "rope", .argument = "PAIRS", \
        .setting = true, .asked = "rope", .foreign = "rotary rotaryemb rotaryembedding positionembedding pe", \
        .initial = "none", .rare = RARE, .help = "rotate query and key by position; half: column i with i + n/2; pairs: neighbours") \
    ROW(ROPE_THETA, rope_theta, REAL(0x1p-1074, INFINITY, "a finite number above 0"), ABILITY_COMPUTES, .name = "rope-theta", \
        .argument = "X", .setting = true, .asked = "rope theta", .foreign = "theta ropebase rotarybase base", \
        .initial = "10000", .rare = RARE, .help = "pair i of n/2 rotates by theta^(-2 i/n) for each position") \
    ROW(ROPE_COLUMNS, rope_columns_text, TEXT, ABILITY_COMPUTES, .name = "rope-columns", .argument = "N", \
        .setting = true, .parse = option_parse_rope_columns, .asked = "rope columns", \
        .foreign = "rotarydim rotarypct partialrotaryfactor ropedim", .fallback = "all", \
        .rare = RARE, .help = "rotate the first N columns of a head, or last:N") \
    ROW(ROPE_SCALING, rope_scaling_text, TEXT, ABILITY_COMPUTES, .name = "rope-scaling", .argument = "HOW", \
        .setting = true, .parse = option_parse_rope_scaling, .asked = "rope scaling", .foreign = "ropeparameters yarn longrope", \
        .fallback = "none", \
        .rare = RARE, .help = "slower rotation for longer texts: linear:factor=8, or dynamic, llama3, yarn, longrope with their numbers") \
    ROW(ROPE_AXES, rope_axes_text, TEXT, ABILITY_COMPUTES, .name = "rope-axes", .argument = "LIST", \
        .setting = true, .parse = option_parse_rope_axes, .asked = "rope axes", .foreign = "mropesection axesdim mrope", .fallback = "none", \
        .rare = RARE, .help = "rotate pairs by time, height or width of tokens: t16,h24,w24, or h,w,restarted") \
    ROW(POSITIONS, positions, TEXT, ABILITY_COMPUTES, .name = "positions", .argument = "LIST", .setting = true, \
        .asked = "positions", .foreign = "positionids position cacheposition", .fallback = "0, 1, 2, ...", \
        .rare = RARE, .help = "positions of the tokens, for --rope: 0,1,4-9; of several axes in rows, with ; between, or grid:HxW") \
    ROW(QUERY_GROWTH, query_growth_text, TEXT, ABILITY_COMPUTES, .name = "query-growth", .argument = "A,N", \
        .setting = true, .parse = option_parse_query_growth, .asked = "query growth", \
        .foreign = "attntemperaturetuning floorscale llama4scalingbeta", .fallback = "none", \
        .rare = RARE, .help = "multiply the query at position p by 1 + A ln(1 + floor(p / N)); A,N,1 counts p from 1") \
    ROW(ALIBI, alibi, CHOICE(enum alibi, ALIBIS), ABILITY_COMPUTES, .name = "alibi", .argument = "SLOPES", .setting = true, \
        .asked = "alibi", .foreign = "usealibi alibibias", .initial = "off", \
        .rare = RARE, .help = "lower the scores with distance, by the usual slopes of the heads, or as Falcon scales them") \
    ROW(SCALE_ON, scale_on, CHOICE(enum scale_on, SCALE_ONS), ABILITY_COMPUTES, .name = "scale-on", .argument = "WHAT", \
        .setting = true, .asked = "scale on", .initial = "scores", \
        .rare = RARE, .help = "multiply the scores by the scale, or the query before them, as OPT and Whisper do") \
    ROW(RESIDUAL, residual, FLAG, ABILITY_PROJECTS, .name = "residual", .setting = true, .asked = "residual", \
        .foreign = "prenorm hiddenstatesbeforenorm residualstream", \
        .rare = ABILITY_DRAWS, .help = "the inputs are the residual stream: apply the layer's norm first") \
    ROW(NORM, norm, CHOICE(enum norm_kind, NORM_KINDS), ABILITY_PROJECTS, .name = "norm", .argument = "KIND", \
        .setting = true, .asked = "norm", .foreign = "layernorm rmsnorm normtype", \
        .fallback = "layer where norm.bias is there, else rms", .rare = ABILITY_DRAWS, .help = "the norm of --residual") \
    ROW(NORM_EPS, norm_eps, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_PROJECTS, .name = "norm-eps", .argument = "X", \
        .setting = true, .asked = "norm eps", .foreign = "eps epsilon layernormeps rmsnormeps", \
        .fallback = "1e-5 of a layer norm, else 1e-6", .rare = ABILITY_DRAWS, .help = "epsilon of that norm") \
    ROW(QK_NORM, qk_norm, CHOICE(enum norm_kind, NORM_KINDS), ABILITY_PROJECTS, .name = "qk-norm", .argument = "KIND", \
        .setting = true, .asked = "norm of query and key", .foreign = "qknorm useqknorm qklayernorm", \
        .fallback = "where query_norm.weight is there: layer with a bias, else rms", \
        .rare = RARE, .help = "norm of query and key, of a head or of all, before the rotation") \
    ROW(QK_NORM_EPS, qk_norm_eps, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_PROJECTS, .name = "qk-norm-eps", \
        .argument = "X", .setting = true, .asked = "eps of query and key", .fallback = "as --norm-eps", .rare = RARE, .help = "epsilon of --qk-norm and --value-norm") \
    ROW(VALUE_NORM, value_norm, CHOICE(enum norm_kind, NORM_KINDS), ABILITY_PROJECTS, .name = "value-norm", .argument = "KIND", \
        .setting = true, .asked = "norm of value", .foreign = "vnorm valuenormtype", .initial = "none", \
        .rare = RARE, .help = "norm of value, of a head, without a weight; its epsilon is --qk-norm-eps") \
    ROW(CLIP, clip, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_PROJECTS, .name = "clip", .argument = "C", \
        .setting = true, .asked = "clip", .foreign = "clipqkv qkvclip", .fallback = "0, none", \
        .rare = RARE, .help = "clamp query, key and value to -C..C after the projection") \
    ROW(RELATIVE_DISTANCE, relative_distance, WHOLE(2, 1 << 20), ABILITY_PROJECTS, .name = "relative-distance", .argument = "N", \
        .setting = true, .asked = "relative distance", .foreign = "relativeattentionmaxdistance", .initial = "128", \
        .rare = RARE, .help = "relative_bias.weight: from this distance on all keys share a bucket") \
    ROW(LAYER, layer, WHOLE(0, 65535), ABILITY_OPENS | ABILITY_COMPARES, .name = "layer", .argument = "N", .asked = "layer", .setting = true, \
        .foreign = "layeridx block", .fallback = "the checkpoint is listed", .help = "which layer, from 0 as checkpoints count") \
    ROW(MODULE, module, TEXT, ABILITY_OPENS, .name = "module", .argument = "PREFIX", .asked = "module", .setting = true, \
        .foreign = "tower submodule part", .fallback = "the only one", \
        .help = "which of several, by how its name begins: decoder, vision_model") \
    ROW(CONFIG, config, FILE, ABILITY_OPENS, .name = "config", .argument = "FILE", .reads = true, \
        .fallback = "config.json beside the checkpoint", .help = "heads, windows, scales, rotations of the model") \
    ROW(ADAPTER, adapter, FILE, ABILITY_OPENS, .name = "adapter", .argument = "DIR", .asked = "adapter", .setting = true, \
        .foreign = "lora peft loraadapter", .fallback = "none", \
        .help = "add the LoRA adapter of this folder to the weights, as PEFT merges it") \
    ROW(FAMILY, family, TEXT, ABILITY_COMPUTES, .name = "family", .argument = "TYPE", .asked = "family", .setting = true, \
        .foreign = "modeltype architecture arch", .fallback = "model_type of the config", \
        .rare = ABILITY_DRAWS, .help = "the model family: what tensors and config do not say (none: options do, causal unless --no-causal), and how --rounding transformers rounds; attn help families lists them") \
    ROW(PACKING, packing, CHOICE(enum packing, PACKINGS), ABILITY_OPENS, .name = "packing", .argument = "HOW", .asked = "packing", \
        .setting = true, .foreign = "fusedqkv interleaved", .fallback = "by the name of the weight", \
        .help = "how one weight holds query, key and value: one after the other, or in groups of heads") \
    ROW(MISTAKE, mistake_names, LIST(mistake_word), ABILITY_SHOWS | ABILITY_PAGES | ABILITY_ASKS, .name = "mistake", .argument = "NAMES", \
        .setting = true, .parse = option_parse_mistakes, .told = option_tell_mistakes, .asked = "mistake", \
        .foreign = "mistakes bug error wrong fault", .fallback = "none", \
        .help = "compute with these mistakes, such as scale-missing,mask-missing; attn help mistakes lists them") \
    ROW(QUERY, query, TEXT, ABILITY_COMPUTES, .name = "query", .letter = 'q', .argument = "LIST", .setting = true, \
        .everyday = 1, .foreign = "queries token tokens row rows", \
        .fallback = "all", .help = "only these tokens: 2, journey, 2-4 or 1,4-6; the first token is 1") \
    ROW(HEAD, head, WHOLE(1, 65536), ABILITY_SHOWS | ABILITY_SEARCHES | ABILITY_PAGES | ABILITY_COMPARES | ABILITY_MEASURES, .name = "head", .argument = "N", .setting = true, .asked = "head", \
        .foreign = "headindex headidx onlyhead", .fallback = "all", .rare = ABILITY_DRAWS, \
        .help = "only this query head, counted from 1, in stages that have heads; -H, --heads is how many there are") \
    ROW(STAGES, stages_text, LIST(stage_word), ABILITY_SHOWS | ABILITY_SEARCHES | ABILITY_PAGES | ABILITY_ASKS | ABILITY_COMPARES, .name = "stages", .argument = "LIST", \
        .everyday = 2, .foreign = "stage show print only", \
        .fallback = "all of the mechanism", \
        .help = "only these stages, such as scores,weights; in this order; inputs, key_inputs and parameters are names too; diff: stages alone") \
    ROW(ATOL, atol, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_COMPARES, .name = "atol", .argument = "ATOL", \
        .fallback = "by dtype" DTYPE_ROWS(ABSOLUTE, NOTHING), .help = "|a - b| may be ATOL + RTOL |a|") \
    ROW(RTOL, rtol, REAL(0, INFINITY, "a finite number from 0 on"), ABILITY_COMPARES, .name = "rtol", .argument = "RTOL", \
        .fallback = "by dtype" DTYPE_ROWS(RELATIVE, NOTHING), .help = "the share of |a| in that") \
    ROW(BLANK, blank_text, LIST(stage_word), ABILITY_ASKS, .name = "blank", .argument = "LIST", \
        .foreign = "blanks gaps hide empty fill cloze leave", .fallback = "all that are computed", \
        .help = "the stages to fill in, such as weights,context; the sheet gives what they need, and what --stages names") \
    ROW(VARIANTS, variants, WHOLE(1, 1000), ABILITY_ASKS, .name = "variants", .argument = "N", \
        .foreign = "sheets students copies count versions", .initial = "1", \
        .help = "this many sheets, each with different numbers; the first is that of the seed alone") \
    ROW(ANSWERS, answers, FLAG, ABILITY_ASKS, .name = "answers", .argument = "one-page", .optional = true, \
        .parse = option_parse_answers, .foreign = "solutions solution key teacher", \
        .help = "the answers alone, for the teacher; --answers one-page: those of thirty sheets on a page, without arithmetic") \
    NOT(NO_ANSWERS, ANSWERS, ABILITY_ASKS, .name = "no-answers", .foreign = "nosolutions student", \
        .help = "the sheets alone, for the students") \
    ROW(EXPLAIN, cell, TEXT, ABILITY_SHOWS, .name = "explain", .argument = "CELL", .optional = true, \
        .everyday = 3, .foreign = "verbose steps arithmetic why", \
        .help = "the arithmetic of all, or of a CELL: weights:2,3; of a cell back to the inputs; text alone") \
    ROW(STEPS, steps, FLAG, ABILITY_WRITES, .name = "steps", \
        .foreign = "decode decoding generate incremental stepwise kvcache usecache cache autoregressively", \
        .elsewhere = "type attn causal FILE --steps", \
        .help = "compute token by token with a cache of keys and values, and compare with a full run; text, json, svg") \
    ROW(PREFILL, prefill, WHOLE(1, INT32_MAX), ABILITY_WRITES, .name = "prefill", .argument = "N", \
        .foreign = "prompt promptlength", .elsewhere = "type attn causal FILE --steps --prefill N", \
        .fallback = "as many as --chunk", .help = "--steps: N tokens in the first step, as a prompt") \
    ROW(CHUNK, chunk, WHOLE(1, INT32_MAX), ABILITY_WRITES, .name = "chunk", .argument = "N", \
        .foreign = "chunks chunksize stepsize", .elsewhere = "type attn causal FILE --steps --chunk N", \
        .initial = "1", .help = "--steps: N tokens in each further step, fewer in the last") \
    ROW(PRECISION, precision, WHOLE(0, 17), ABILITY_SHOWS | ABILITY_PAGES | ABILITY_MEASURES | ABILITY_NAMES_PARAMETERS | ABILITY_COMPARES | ABILITY_ASKS, .name = "precision", .letter = 'p', \
        .argument = "N", .everyday = 5, .foreign = "decimals digits places round", \
        .initial = "4", .fallback = "4; in pictures 2; csv: as many as a number needs; worksheet: 2; heads: 2; diff: 1", \
        .help = "decimals to show; in text, tables, pictures and pages") \
    ROW(FULL, full, FLAG, ABILITY_SHOWS | ABILITY_NAMES_PARAMETERS, .foreign = "whole all noellipsis threshold", .name = "full", \
        .help = "text, markdown, latex: show tables in full; else the first and last 6 of more than 12 rows or columns") \
    ROW(HEATMAP, heatmap, FLAG, ABILITY_SHOWS, .name = "heatmap", \
        .everyday = 4, .foreign = "plot draw graph", \
        .help = "draw tables such as weights as coloured cells; without --stages those alone; text alone") \
    ROW(THEME, theme, CHOICE(enum theme, THEMES), ABILITY_SHOWS | ABILITY_PAGES | ABILITY_MEASURES, .name = "theme", .argument = "THEME", \
        .foreign = "darkmode colorscheme background dark light", .fallback = "pictures: light; html and --heatmap: auto", \
        .rare = RARE, .help = "background of a picture or page; auto: as its reader prefers; pictures, html and --heatmap alone") \
    ROW(ENTROPY, entropy, FLAG, ABILITY_SHOWS, .name = "entropy", .foreign = "sharpness rowsum rowsums", \
        .rare = RARE, .help = "behind each row of weights, its sum and its entropy in nats; text and pictures alone") \
    ROW(SHAPE, shape, CHOICE(enum picture_shape, SHAPES), ABILITY_SHOWS, .name = "shape", .argument = "SHAPE", \
        .foreign = "landscape slide orientation aspect", .initial = "tall", \
        .rare = RARE, .help = "tall: a column for a page; wide: a slide of 16:9, from left to right; pictures alone") \
    ROW(POOL, pool, CHOICE(enum pool, POOLS), ABILITY_SHOWS, .name = "pool", .argument = "HOW", \
        .foreign = "pooling downsample reduce", .initial = "mean", \
        .rare = RARE, .help = "a cell that stands for many numbers shows their mean, or the largest; pictures and --heatmap alone") \
    ROW(ANIMATE, animate, FLAG, ABILITY_SHOWS, .name = "animate", .foreign = "animation animated gif video walk", \
        .rare = RARE, .help = "the walk of one query as an animation, on a slide; svg alone") \
    ROW(NO_CAPTION, no_caption, FLAG, ABILITY_SHOWS, .name = "no-caption", .foreign = "nolegend nofooter", \
        .rare = RARE, .help = "leave out the caption of a picture; pictures alone") \
    ROW(COLOR, color, CHOICE(enum when, WHENS), ABILITY_RUNS | ABILITY_COMPARES | ABILITY_TEACHES | ABILITY_TRIES, .name = "color", .argument = "WHEN", \
        .foreign = "colour colors", \
        .initial = "auto", .fallback = "auto: on a terminal, unless NO_COLOR is set", \
        .rare = RARE, .help = "text: bold headings, dimmed masked entries, a heatmap in colours") \
    ROW(DTYPE, dtype, AMONG(enum dtype, DTYPE_NAMES), ABILITY_RUNS | ABILITY_TRIES, .name = "dtype", .argument = "DTYPE", .setting = true, .also = dtype_word, \
        .foreign = "type torchdtype datatype", \
        .fallback = "that of inputs (sdpa: query); JSON, cases: f32", .help = "working dtype: each stage is rounded to it") \
    ROW(SOFTMAX_DTYPE, softmax_dtype, AMONG(enum dtype, DTYPE_NAMES), ABILITY_COMPUTES, .name = "softmax-dtype", \
        .argument = "DTYPE", .setting = true, .also = dtype_word, .asked = "softmax in", .fallback = "that of --dtype", \
        .rare = RARE, .help = "round scores to it before softmax, weights to it and then back") \
    ROW(ROUNDING, rounding, CHOICE(enum rounding, ROUNDINGS), ABILITY_COMPUTES, .name = "rounding", \
        .argument = "WHEN", .setting = true, .asked = "rounding", .initial = "stages", \
        .rare = RARE, .help = "round to the dtype once per stage, after every operation as ONNX's reference does, or as the model's code does") \
    ROW(PART, part_text, TEXT, ABILITY_SHOWS, .name = "part", .of_run = true, .argument = "K/N", .fallback = "the whole", \
        .rare = RARE, .help = "compute the K-th of N equal parts of the queries; into a .safetensors file for attn join") \
    ROW(THREADS, threads, WHOLE(1, 1024), ABILITY_COMPUTES, .name = "threads", .of_run = true, .letter = 't', .argument = "N", \
        .foreign = "numthreads nthreads jobs workers cores", \
        .fallback = "the processors available", .rare = RARE, .help = "number of threads; the result is the same bits for any number") \
    ROW(KERNEL, kernel, CHOICE(enum path, PATHS), ABILITY_SHOWS, .name = "kernel", .argument = "PATH", \
        .foreign = "backend impl attnimplementation", \
        .initial = "auto", .fallback = "auto: by the size of the job and by what is asked", .rare = RARE, .help = "which code computes: the reference, or the fused kernels") \
    ROW(PROGRESS, progress, CHOICE(enum when, WHENS), ABILITY_COMPUTES, .name = "progress", .of_run = true, .argument = "WHEN", \
        .foreign = "bar", \
        .initial = "auto", .fallback = "auto: on a terminal, after a second", .rare = RARE, .help = "a bar on standard error") \
    ROW(JSONL, jsonl, FLAG, ABILITY_SHOWS, .name = "jsonl", .of_run = true, .foreign = "ndjson jsonlines ldjson", .rare = RARE, \
        .help = "run a job per line of the input, and write a line of JSON for each, in order") \
    ROW(COMPLETION, completion, CHOICE(enum shell, SHELLS), ABILITY_HELPS, .name = "completion", .argument = "SHELL", \
        .help = "write a completion script for that shell") \
    ROW(HELP, help, FLAG, ABILITY_ANY, .name = "help", .of_run = true, .letter = 'h', .argument = "all", .optional = true, \
        .parse = option_parse_help, .help = "the help of the command; --help=all: with every option") \
    ROW(VERSION, version, FLAG, ABILITY_ANY, .name = "version", .of_run = true, .letter = 'V', .help = "the version")

/* Other names for an option with a value: name, option, value. */
#define SYNONYM_ROWS(ROW) \
    ROW("json", FORMAT, "json") \
    ROW("csv", FORMAT, "csv") \
    ROW("svg", FORMAT, "svg") \
    ROW("png", FORMAT, "png") \
    ROW("pdf", FORMAT, "pdf") \
    ROW("html", FORMAT, "html") \
    ROW("npy", FORMAT, "npy") \
    ROW("safetensors", FORMAT, "safetensors") \
    ROW("markdown", FORMAT, "markdown") \
    ROW("latex", FORMAT, "latex") \
    ROW("no-color", COLOR, "never") \
    ROW("no-colour", COLOR, "never") \
    ROW("quiet", PROGRESS, "never") \
    ROW("silent", PROGRESS, "never")
/* clang-format on */
