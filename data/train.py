# SPDX-License-Identifier: MIT
"""Trains data/trained.json: one layer of attention that predicts the next word.

    python3 data/train.py data/trained.json tests/trained.jsonl

The model: a word's embedding plus its position's, four heads of attention, their output added, and the logits of the
next word; no norm, no MLP, no bias. It needs PyTorch and half a minute, and prints the figures below. The second file
gets sentences that training has not seen, with their questions and answers, for tests/check_trained.sh.

Gradient descent (AdamW) learns every number, and the three decimals of the file are what the figures are about. The
loss is that of the prediction, plus an auxiliary one that nudges each head towards one job: 0.3 times
-log(its weight on the word of its job), or on the first word where there is no such word. Without the nudge the
predictions are as good, but the heads share the jobs, and a weight no longer says why a word was predicted. Of the
seeds 1 and 2, 1 has the cleaner heads.
"""
import json
import random
import sys
import zlib

import torch
from torch.nn import functional

LONGEST, WIDTH, HEADS = 21, 24, 4
NOUNS = {"dog": "bark", "cat": "purr", "bird": "sing", "frog": "jump", "horse": "run"}
PLACES = {"in": "garden", "on": "roof", "under": "tree", "by": "river"}
NAMES = ["anna", "tom", "mia", "ben"]
BRACKETS = {"(": ")", "[": "]"}
ADJECTIVES = ["old", "small"]
TIMES = ["today", "now"]
VERBS = [verb + s for verb in NOUNS.values() for s in ("s", "")]
WORDS = ([*TIMES, "the", *ADJECTIVES] + [n + s for n in NOUNS for s in ("", "s")] + ["near", *PLACES, *PLACES.values()]
         + VERBS + NAMES + ["says", "and", "smiles"]
         + [*BRACKETS, *BRACKETS.values(), "."])
INDEX = {word: i for i, word in enumerate(WORDS)}
JOBS = ["subject", "name", "bracket", "previous"]
HEAD_NAMES = ["subject", "name", "bracket", "previous word"]
KINDS = ["verb", "name", "close", "place"]
TEXT = "anna says ( the dogs near the cat"
COMMENT = ('Each head learned to look at one word: the subject, the name, the open bracket, the word before. Where there '
           'is none, it rests on the first word. Try "anna says ( the dog near the cat", "tom says [ the birds sing" '
           'or "mia says the frog jumps and".')


def verb_of(noun):
    """The verb that agrees with this subject: the sound or move of the animal, with an s after a singular."""
    return NOUNS[noun] + "s" if noun in NOUNS else NOUNS[noun[:-1]]


def sentence(pick):
    """The words of a sentence; the questions in it, kind -> positions; and where subject, name and bracket stand."""
    words, questions, at = [], {"verb": [], "place": [], "close": [], "name": []}, {}
    if pick.random() < 0.3:
        words.append(pick.choice(TIMES))
    if pick.random() < 0.5:
        name = pick.choice(NAMES)
        at["name"] = len(words)
        words += [name, "says"]
    bracket = pick.choice([None, None, *BRACKETS, *BRACKETS])
    if bracket:
        at["bracket"] = len(words)
        words.append(bracket)
    noun, plural = pick.choice([*NOUNS]), pick.random() < 0.5
    words.append("the")
    if pick.random() < 0.4:
        words.append(pick.choice(ADJECTIVES))
    at["subject"] = len(words)
    words.append(noun + "s" * plural)
    kinds = pick.choice([[], [], ["near"], ["near"], ["near"], ["place"], ["place", "near"], ["near", "place"],
                         ["place", "place"]])
    used = set()
    for kind in kinds:
        if kind == "near":
            words += ["near", "the"]
            if pick.random() < 0.3:
                words.append(pick.choice(ADJECTIVES))
            words.append(pick.choice([*NOUNS]) + "s" * (pick.random() < 0.5))
        else:
            preposition = pick.choice([p for p in PLACES if p not in used])
            used.add(preposition)
            words += [preposition, "the"]
            questions["place"].append(len(words))
            words.append(PLACES[preposition])
    questions["verb"].append(len(words))
    words.append(verb_of(noun + "s" * plural))
    if bracket:
        questions["close"].append(len(words))
        words.append(BRACKETS[bracket])
    if "name" in at:
        words.append("and")
        questions["name"].append(len(words))
        words += [name, "smiles"]
    words.append(".")
    return words, questions, at


def sentences(count, held_out, seed):
    """That many sentences; one in ten of all possible ones, by a checksum of its text, is held out from training."""
    pick, chosen = random.Random(seed), []
    while len(chosen) < count:
        drawn = sentence(pick)
        if (zlib.crc32(" ".join(drawn[0]).encode()) % 10 == 0) == held_out:
            chosen.append(drawn)
    return chosen


def tensors(chosen):
    """Words, next words (-100: none), and each head's job word; a head whose job word is absent rests on word 1."""
    words = torch.zeros(len(chosen), LONGEST, dtype=torch.long)
    following = torch.full_like(words, -100)
    job_word = torch.zeros(HEADS, len(chosen), LONGEST, dtype=torch.long)
    has_job = torch.zeros(HEADS, len(chosen), LONGEST, dtype=torch.bool)
    for i, (text, _, at) in enumerate(chosen):
        ids, rows = torch.tensor([INDEX[word] for word in text]), len(text) - 1
        words[i, :rows + 1], following[i, :rows] = ids, ids[1:]
        for head, job in enumerate(JOBS[:3]):
            if job in at:
                job_word[head, i, at[job]:rows] = at[job]
                has_job[head, i, at[job]:rows] = True
        job_word[3, i, 1:rows] = torch.arange(rows - 1)
        has_job[3, i, 1:rows] = True
    return words, following, job_word, has_job


def model(parameters, words, gates=None):
    """The logits of the next word and the logarithms of each head's weights; gates of 0 take heads out."""
    embedding, position, query, key, value, out, unembedding = parameters
    embedded = embedding[words] + position[:words.shape[1]]

    def split(matrix):
        return (embedded @ matrix).unflatten(-1, (HEADS, -1)).transpose(1, 2)

    scores = split(query) @ split(key).transpose(2, 3) / (WIDTH / HEADS) ** 0.5
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    log_weights = scores.masked_fill(later, -torch.inf).log_softmax(-1)
    context = log_weights.exp() @ split(value)
    if gates is not None:
        context = context * gates[:, None, None]
    return (embedded + context.transpose(1, 2).flatten(2) @ out) @ unembedding, log_weights


def train(seed, steps=2500, nudge=0.3):
    """The parameters, unrounded. nudge: the auxiliary loss, that much times -log(a head's weight on its job word)."""
    torch.manual_seed(seed)
    words, following, job_word, _ = tensors(sentences(20000, False, seed))
    parameters = [torch.nn.Parameter(torch.randn(shape) * spread) for shape, spread in
                  [((len(WORDS), WIDTH), 0.3), ((LONGEST, WIDTH), 0.3), *[((WIDTH, WIDTH), WIDTH ** -0.5)] * 4,
                   ((WIDTH, len(WORDS)), 0.3)]]
    optimizer = torch.optim.AdamW(parameters, lr=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.02, total_steps=steps)
    for step in range(steps):
        batch = torch.randint(len(words), (128,))
        logits, log_weights = model(parameters, words[batch])
        prediction = functional.cross_entropy(logits.flatten(0, 1), following[batch].flatten())
        on_job = log_weights.transpose(0, 1).gather(3, job_word[:, batch, :, None])[..., 0]
        live = (following[batch] >= 0).expand(HEADS, -1, -1)
        loss = prediction - nudge * on_job[live].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 500 == 0:
            print(f"step {step:5}  prediction loss {prediction.item():.4f}", file=sys.stderr)
    return [(parameter.detach() * 1000).round() / 1000 for parameter in parameters]


def right(parameters, chosen, gates):
    """The share of each kind of question that the model answers rightly; of a verb: among all verbs."""
    with torch.no_grad():
        logits, _ = model(parameters, tensors(chosen)[0], gates)
    verbs = torch.tensor([INDEX[word] for word in VERBS])
    shares = {}
    for kind in KINDS:
        hits = []
        for i, (text, questions, at) in enumerate(chosen):
            for position in questions[kind]:
                row = logits[i, position - 1]
                if kind == "verb":
                    hits.append(VERBS[row[verbs].argmax()] == verb_of(text[at["subject"]]))
                else:
                    hits.append(WORDS[row.argmax()] == text[position])
        shares[kind] = sum(hits) / len(hits)
    return shares


def report(parameters, chosen):
    def line(name, shares):
        print(f"{name:24}" + "".join(f"{shares[kind]:8.3f}" for kind in shares))

    print(f"{len(chosen)} held-out sentences\nanswered rightly        " + "".join(f"{kind:>8}" for kind in KINDS))
    line("  all heads", right(parameters, chosen, torch.ones(HEADS)))
    for head, job in enumerate(JOBS):
        line(f"  without head {head + 1}", right(parameters, chosen, torch.arange(HEADS).ne(head).float()))
    words, _, job_word, has_job = tensors(chosen)
    with torch.no_grad():
        weights = model(parameters, words)[1].transpose(0, 1).exp()
    print("mean weight on          " + "".join(f"{job:>9}" for job in JOBS))
    for head in range(HEADS):
        share = [weights[head].gather(2, job_word[job][..., None])[..., 0][has_job[job]].mean() for job in range(HEADS)]
        print(f"  head {head + 1}                " + "".join(f"{number:9.3f}" for number in share))


def rows(matrix):
    return "[" + ",\n   ".join("[" + ", ".join(f"{number:g}" for number in row) + "]" for row in matrix.tolist()) + "]"


def write(path, parameters):
    embedding, position, query, key, value, out, unembedding = map(rows, parameters[:5] + [parameters[5].T, parameters[6]])
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'''{{"comment": {json.dumps(COMMENT)},
 "head_names": {json.dumps(HEAD_NAMES)},
 "text": "{TEXT}",
 "vocabulary": {{"words": {json.dumps(WORDS)},
  "embedding": {embedding},
  "position_embedding": {position}}},
 "W_query": {query},
 "W_key": {key},
 "W_value": {value},
 "out_proj.weight": {out},
 "unembedding": {unembedding},
 "settings": {{"heads": {HEADS}}}}}
''')


def write_questions(path, chosen):
    with open(path, "w", encoding="utf-8") as file:
        for text, questions, at in chosen:
            answers = [[kind, position, text[position]] for kind in KINDS for position in questions[kind]]
            file.write(json.dumps({"words": text, "questions": answers, "jobs": at}) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    trained = train(seed=1)
    report(trained, sentences(1000, True, seed=1000))
    write(sys.argv[1], trained)
    write_questions(sys.argv[2], sentences(100, True, seed=2000))
