#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores, losses and gradients of a tiny BERT, in plain Python from the formulas of its paper.

    tiny_bert.py FOLDER            writes tiny_bert.safetensors and tiny_bert.json there
    tiny_bert.py --check FOLDER    compares with them

Gradients are five-point central differences of the loss, one coordinate of each tensor or more. Source: Devlin,
Chang, Lee and Toutanova, BERT (2019); Vaswani and others, Attention is all you need (2017), Section 3.
"""
import json
import math
import struct
import sys
from pathlib import Path

VOCABULARY, POSITIONS, LAYERS, FEATURES, HEADS, INNER, CLASSES = 20, 10, 2, 8, 2, 12, 3
EPSILON = 1e-12  # of the variance in a normalisation
STEP = 2.0**-10  # of the differences

# Ids of a sentence's tokens, padded to 10 with a number of real tokens before; a label. Tokens repeat in the first two.
RECORDS = [([2, 7, 7, 7, 11, 3, 0, 0, 0, 0], 6, 0),
           ([2, 5, 9, 5, 13, 5, 9, 19, 3, 0], 9, 2),
           ([2, 3, 0, 0, 0, 0, 0, 0, 0, 0], 2, 1),
           ([2, 4, 6, 8, 10, 12, 14, 16, 18, 3], 10, 1)]


class Numbers:
    """A linear congruential generator: the same numbers everywhere."""

    def __init__(self, state):
        self.state = state

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return self.state >> 33

    def uniform(self, middle, half_width):
        value = middle + half_width * (self.next() / 2**30 - 1.0)
        return struct.unpack("<f", struct.pack("<f", value))[0]


def shapes():
    """Name, shape, middle and half width of every tensor, in the names of published files."""
    norm = lambda name: [(f"{name}.weight", [FEATURES], 1.0, 0.4), (f"{name}.bias", [FEATURES], 0.0, 0.3)]
    linear = lambda name, a, b: [(f"{name}.weight", [b, a], 0.0, 0.9), (f"{name}.bias", [b], 0.0, 0.3)]
    table = lambda name, rows: [(f"bert.embeddings.{name}_embeddings.weight", [rows, FEATURES], 0.0, 1.0)]
    every = table("word", VOCABULARY) + table("position", POSITIONS) + table("token_type", 2)
    every += norm("bert.embeddings.LayerNorm")
    for k in range(LAYERS):
        block = f"bert.encoder.layer.{k}"
        for part in ("query", "key", "value"):
            every += linear(f"{block}.attention.self.{part}", FEATURES, FEATURES)
        every += linear(f"{block}.attention.output.dense", FEATURES, FEATURES)
        every += norm(f"{block}.attention.output.LayerNorm")
        every += linear(f"{block}.intermediate.dense", FEATURES, INNER)
        every += linear(f"{block}.output.dense", INNER, FEATURES)
        every += norm(f"{block}.output.LayerNorm")
    return every + linear("bert.pooler.dense", FEATURES, FEATURES) + linear("classifier", FEATURES, CLASSES)


def weights():
    numbers = Numbers(20260719)
    return {name: [numbers.uniform(middle, half) for _ in range(math.prod(shape))]
            for name, shape, middle, half in shapes()}


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def plus(a, b):
    return [x + y for x, y in zip(a, b)]


def affine(w, name, x):
    bias, n = w[f"{name}.bias"], len(x)
    return [dot(w[f"{name}.weight"][k * n:(k + 1) * n], x) + bias[k] for k in range(len(bias))]


def normalised(w, name, x):
    mean = math.fsum(x) / len(x)
    deviation = math.sqrt(math.fsum((v - mean)**2 for v in x) / len(x) + EPSILON)
    return [scale * (v - mean) / deviation + shift
            for v, scale, shift in zip(x, w[f"{name}.weight"], w[f"{name}.bias"])]


def softmax(x):
    powers = [math.exp(v - max(x)) for v in x]
    return [p / math.fsum(powers) for p in powers]


def gelu(x):
    return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))


def attended(w, block, hidden, tokens):
    query, key, value = ([affine(w, f"{block}.attention.self.{part}", x) for x in hidden]
                         for part in ("query", "key", "value"))
    size = FEATURES // HEADS
    out = [[] for _ in hidden]
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        for t, _ in enumerate(hidden):
            mixing = softmax([dot(query[t][part], key[s][part]) / math.sqrt(size) +
                              (0.0 if s < tokens else -10000.0) for s, _ in enumerate(hidden)])
            out[t] += [dot(mixing, column) for column in zip(*(v[part] for v in value))]
    return out


def scores(w, ids, tokens):
    row = lambda name, k: w[f"bert.embeddings.{name}_embeddings.weight"][k * FEATURES:(k + 1) * FEATURES]
    hidden = [normalised(w, "bert.embeddings.LayerNorm",
                         plus(plus(row("word", i), row("position", t)), row("token_type", 0)))
              for t, i in enumerate(ids)]
    for k in range(LAYERS):
        block = f"bert.encoder.layer.{k}"
        mixed = attended(w, block, hidden, tokens)
        hidden = [normalised(w, f"{block}.attention.output.LayerNorm",
                             plus(x, affine(w, f"{block}.attention.output.dense", m)))
                  for x, m in zip(hidden, mixed)]
        inner = [[gelu(v) for v in affine(w, f"{block}.intermediate.dense", x)] for x in hidden]
        hidden = [normalised(w, f"{block}.output.LayerNorm", plus(x, affine(w, f"{block}.output.dense", y)))
                  for x, y in zip(hidden, inner)]
    pooled = [math.tanh(v) for v in affine(w, "bert.pooler.dense", hidden[0])]
    return affine(w, "classifier", pooled)


def loss(w, record):
    ids, tokens, label = record
    return -math.log(softmax(scores(w, ids, tokens))[label])


def derivative(w, record, name, at):
    middle = w[name][at]

    def moved(step):
        w[name][at] = middle + step
        return loss(w, record)

    first = (moved(STEP) - moved(-STEP)) / (2 * STEP)
    second = (moved(2 * STEP) - moved(-2 * STEP)) / (4 * STEP)
    w[name][at] = middle
    return (4 * first - second) / 3


def coordinates():
    """One of each tensor; of the words also rows of tokens that repeat, and one of a token that pads alone."""
    numbers = Numbers(7)
    word = shapes()[0][0]
    some = [(word, 7 * FEATURES + 2), (word, 5 * FEATURES), (word, 9 * FEATURES + 6), (word, 1)]
    return some + [(name, numbers.next() % math.prod(shape)) for name, shape, _, _ in shapes()]


def vectors(w):
    return {
        "options": {"vocabulary": VOCABULARY, "positions": POSITIONS, "layers": LAYERS, "features": FEATURES,
                    "heads": HEADS, "inner": INNER, "classes": CLASSES},
        "records": [{"ids": ids, "tokens": tokens, "label": label, "scores": scores(w, ids, tokens),
                     "loss": loss(w, (ids, tokens, label))} for ids, tokens, label in RECORDS],
        "gradients": [{"tensor": name, "at": at, "values": [derivative(w, r, name, at) for r in RECORDS]}
                      for name, at in coordinates()],
    }


def safetensors(w):
    header, end = {}, 0
    for name, shape, _, _ in shapes():
        begin, end = end, end + 4 * len(w[name])
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(struct.pack(f"<{len(v)}f", *v) for v in w.values())


def close(a, b):
    """Equal to 1e-9 where they are numbers with a point."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(close, a, b))
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) if isinstance(a, float) else a == b


def main(arguments):
    folder, w = Path(arguments[-1]), weights()
    made = vectors(w)
    binary, text = folder / "tiny_bert.safetensors", folder / "tiny_bert.json"
    if arguments[:-1] == ["--check"]:
        if binary.read_bytes() != safetensors(w) or not close(made, json.loads(text.read_text())):
            sys.exit(f"{folder}: not what this script makes")
        return
    binary.write_bytes(safetensors(w))
    lines = [f" {json.dumps(key)}: " + (json.dumps(value) if isinstance(value, dict) else
                                        "[\n  " + ",\n  ".join(map(json.dumps, value)) + "]")
             for key, value in made.items()]
    text.write_text("{\n" + ",\n".join(lines) + "}\n")


main(sys.argv[1:])
