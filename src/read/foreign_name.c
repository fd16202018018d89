/* SPDX-License-Identifier: MIT */
#include "read/foreign_name.h"

#include "base/suggest.h"
#include "base/text.h"
#include "cli/options.h"

#include <stdio.h>
#include <string.h>

/* Parameters of a layer, whose names may continue with .weight, .bias or .kernel: foreign names (see suggest_knows),
 * and attn's. */
static const struct {
    const char *foreign, *own;
    bool as_matrix; /* attn also reads it as d_in x d_out, under its name without ".weight" */
} LAYERS[] = {
    {"wq qproj queryproj queryprojection toq qlin qlinear linearq querylinear fcq wquery query queries queryweight "
     "qweight q qlayer querylayer querydense qw weightq weightquery denseq",
     "W_query", true},
    {"wk kproj keyproj keyprojection tok klin klinear lineark keylinear fck wkey key keys keyweight kweight k klayer "
     "keylayer keydense kw weightk weightkey densek",
     "W_key", true},
    {"wv vproj valueproj valueprojection tov vlin vlinear linearv valuelinear fcv wvalue value values valueweight "
     "vweight v vlayer valuelayer valuedense vw weightv weightvalue densev",
     "W_value", true},
    {"wo oproj outproj outputproj outprojection outputprojection toout outlin outlinear linearout fcout cproj proj "
     "projection dense out output outputdense attentionoutput woutput wout oweight o linearo fco",
     "out_proj", false},
};

/* The three projections in one matrix. */
static const char PACKED[] =
    "cattn qkv qkvproj wqkv toqkv inproj querykeyvalue wpack qkvlinear attnqkv qkvweight inprojection kv kvproj tokv";

/* Other tensors: foreign names, and the hint. */
static const struct {
    const char *foreign, *hint;
} NAMES[] = {
    {"q queryvector", "attn sdpa takes 'query'; the others take a matrix, 'W_query'"},
    {"k keyvector", "attn sdpa takes 'key'; the others take a matrix, 'W_key'"},
    {"v valuevector", "attn sdpa takes 'value'; the others take a matrix, 'W_value'"},
    {"x xs input inp inputsembeds inputembeds inputembeddings embeddings embedding embeds embed emb embs "
     "tokenembeddings wordembeddings hiddenstates hiddenstate hidden features vectors vector data tensor matrix array "
     "src sequence batch",
     "did you mean 'inputs'?"},
    {"words word labels label names text sentence token tokennames inputtokens vocab strings",
     "did you mean 'tokens'?"},
    {"inputids tokenids ids", "attn reads the embeddings themselves, under 'inputs', and their names, under 'tokens'"},
    {"attentionmask causalmask keypaddingmask srcmask paddingmask padmask attnbias attentionbias",
     "did you mean 'attn_mask'?"},
    {"pastkeys pastk", "did you mean 'past_key'?"},
    {"pastvalues pastv", "did you mean 'past_value'?"},
    {"pastkeyvalues pastkeyvalue pastkv past", "did you mean 'past_key' and 'past_value'?"},
    {"kcache cachek keycache cachekey pagedk pagedkcache", "did you mean 'past_key', or 'key_cache' for pages?"},
    {"vcache cachev valuecache cachevalue pagedv pagedvcache",
     "did you mean 'past_value', or 'value_cache' for pages?"},
    {"kvcache pagedkvcache cache",
     "did you mean 'past_key' and 'past_value', or 'key_cache' and 'value_cache' for pages?"},
    {"encoderhiddenstates memory encoderoutput encoderoutputs crossinputs", "did you mean 'key_inputs'?"},
    {"kvlen kvlens lengths seqlen seqlens cacheseqlens cacheseqlen sequsedk sequsedkv contextlens contextlen "
     "contextlengths kvseqlen kvseqlens seqlenkv seqlenskv actualseqlengthskv seqlenskvcache keylengths keylens klens",
     "did you mean 'kv_lengths'?"},
    {"seqlenk seqlensk seqlenskey", "did you mean 'kv_lengths', or 'cu_seqlens_k', their sums?"},
    {"maxseqlenq maxseqlenk maxseqlenkv maxqlen maxkvlen", "attn finds the longest by itself: leave it out"},
    {"cuseqlens cuseqlen cuseqlensq cuqseqlens cuseqlensquery qcuseqlens qoindptr qindptr querystartloc qstartloc",
     "did you mean 'cu_seqlens_q'?"},
    {"cukvseqlens cuseqlenskv cuseqlenskey kvcuseqlens kvindptr kvstartloc", "did you mean 'cu_seqlens_k'?"},
    {"blocktables pagetable pagetables pageids blockids", "did you mean 'block_table'?"},
    {"kvpageindices pagedkvindices kvindices", "did you mean 'block_table', a row of pages for each item?"},
    {"alibi slopes", "did you mean 'alibi_slopes'?"},
    {"sink attentionsinks attnsinks attentionsink attnsink saux", "did you mean 'sinks'?"},
    {"config options args parameters params hyperparameters", "did you mean 'settings'?"},
    {"cells nbformat", "this is a notebook; expected what a cell holds"},
    {"note notes description", "free text goes under \"comment\""},
};

/* Foreign names of stages in a file of results; NULL: the last stage of the job. */
static const struct {
    const char *foreign, *own;
} STAGE_WORDS[] = {
    {"q queries", "query"},
    {"k keys", "key"},
    {"v values", "value"},
    {"s qk logits score", "scores"},
    {"p probs attn attention attnprobs attentionprobs attentionweights softmax weight", "weights"},
    {"l logsumexp softmaxlse", "lse"},
    {"o out y result attnout attnoutput attentionoutput", NULL},
    {"ctx contexts contextvector contextvectors contextvec", "context"},
    {"dq dquery gradq gradquery qgrad querygrad", "grad_query"},
    {"dk dkey gradk gradkey kgrad keygrad", "grad_key"},
    {"dv dvalue gradv gradvalue vgrad valuegrad", "grad_value"},
    {"ds dscores gradscore scoresgrad", "grad_scores"},
    {"dp dweights gradattn gradprobs weightsgrad", "grad_weights"},
    {"do dout gradout gradoutput outgrad dcontext", "grad_context"},
    {"dsink dsinks gradsink sinkgrad sinksgrad", "grad_sinks"},
    {"dmask dbias gradmask gradbias maskgrad biasgrad", "grad_attn_mask"},
};

/* Parts of a parameter's name: "encoder.0.q_proj.weight" has the stem q_proj and the ending weight. */
struct parts {
    char stem[64];
    const char *ending; /* "weight", "bias", "kernel" or "" */
};

static struct parts part(const char *name)
{
    static const char *const ENDINGS[] = {"weight", "bias", "kernel"};
    struct parts parts = {.ending = ""};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        const size_t ending = strlen(ENDINGS[i]);
        if (length > ending + 1 && strcmp(name + length - ending, ENDINGS[i]) == 0 &&
            strchr("._/", name[length - ending - 1]) != NULL) {
            parts.ending = ENDINGS[i];
            length -= ending + 1;
            break;
        }
    }
    size_t begin = length;
    while (begin > 0 && strchr("./", name[begin - 1]) == NULL)
        begin--;
    snprintf(parts.stem, sizeof parts.stem, "%.*s", (int)(length - begin), name + begin);
    return parts;
}

static bool hint_of_layer(const char *name, size_t head, struct text *text)
{
    const struct parts parts = part(name + head);
    if (suggest_knows(PACKED, parts.stem))
        text_add(text, "it holds several projections in one; expected W_query, W_key and W_value, or in_proj_weight, "
                       "3 d_out x d_in, in attn multihead");
    for (size_t i = 0; i < sizeof LAYERS / sizeof LAYERS[0] && text->length == 0; i++) {
        const char *own = LAYERS[i].own;
        const bool matrix = LAYERS[i].as_matrix && (parts.ending[0] == '\0' || parts.ending[0] == 'k');
        if (!suggest_knows(LAYERS[i].foreign, parts.stem))
            continue;
        text_add(text, "attn calls it ");
        if (matrix)
            text_add(text, "'%.*s%s' (d_in x d_out) or ", (int)head, name, own);
        text_add(text, "'%.*s%s.%s'", (int)head, name, own, strcmp(parts.ending, "bias") == 0 ? "bias" : "weight");
        if (matrix)
            text_add(text, " (d_out x d_in)");
    }
    return text->length > 0;
}

/* Hints for names without parts, at the top of a file. */
static bool hint_of_name(const char *name, struct text *text)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && text->length == 0; i++)
        if (suggest_knows(NAMES[i].foreign, name))
            text_add(text, "%s", NAMES[i].hint);
    if (strncmp(name, "heads.", strlen("heads.")) == 0)
        text_add(text, "heads are heads.0.W_query, heads.1.W_query and so on");
    return text->length > 0;
}

bool foreign_name_hint(const char *name, size_t head, char *text, size_t size)
{
    char setting[64];
    const char *meant = head == 0 ? options_setting_meant(name, setting, sizeof setting) : NULL;
    const bool itself = meant != NULL && strcmp(meant, name) == 0;
    struct text hint = text_begin(text, size);
    if (!itself && ((head == 0 && hint_of_name(name, &hint)) || hint_of_layer(name, head, &hint)))
        return true;
    if (meant != NULL)
        text_add(&hint, "it is a setting: \"settings\": {\"%s\": ...}", meant);
    return hint.length > 0;
}

const char *foreign_name_stage(const char *name, const char *last)
{
    for (size_t i = 0; i < sizeof STAGE_WORDS / sizeof STAGE_WORDS[0]; i++)
        if (suggest_knows(STAGE_WORDS[i].foreign, name))
            return STAGE_WORDS[i].own != NULL ? STAGE_WORDS[i].own : last;
    return NULL;
}
