#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words and pieces of random texts, by BERT's definition and Python's own Unicode tables.

    wordpiece_vectors.py > wordpiece_vectors.json
    wordpiece_vectors.py --check wordpiece_vectors.json

The characters are those of Unicode 3.2, so that the result does not depend on the version of Python.
"""
import json
import sys
from unicodedata import category, normalize, ucd_3_2_0

LENGTH = 12  # of an encoded text
LONGEST = 100  # characters of a word
IDEOGRAPHS = [(0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
              (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F)]

# First and last character of what texts are made of, and its weight.
ALPHABETS = [(0x61, 0x7A, 30), (0x41, 0x5A, 10), (0x20, 0x20, 20), (0x21, 0x7E, 10), (0x00, 0x1F, 2),
             (0x7F, 0xA0, 2), (0xA1, 0xFF, 8), (0x100, 0x24F, 8), (0x300, 0x36F, 6), (0x386, 0x3CE, 6),
             (0x3A3, 0x3A3, 3), (0x400, 0x4FF, 3), (0x5B0, 0x5EA, 2), (0x621, 0x655, 2), (0x900, 0x970, 2),
             (0x10A0, 0x10C5, 1), (0x1E00, 0x1EFF, 3), (0x1F00, 0x1FFF, 3), (0x2000, 0x206F, 6),
             (0x2100, 0x2140, 1), (0x3000, 0x303F, 2), (0x3041, 0x30FF, 2), (0x4E00, 0x9FA5, 4),
             (0x3400, 0x4DB5, 1), (0xAC00, 0xD7A3, 1), (0xF900, 0xFA6A, 1), (0xFE20, 0xFEFF, 1),
             (0xFF01, 0xFFEE, 1), (0xFFF9, 0xFFFD, 2), (0x10400, 0x1044D, 1), (0x1D400, 0x1D7FF, 1),
             (0x20000, 0x2A6D6, 1), (0x2F800, 0x2FA1D, 1), (0xE0001, 0xE007F, 1)]


class Numbers:
    """A linear congruential generator: the same numbers everywhere."""

    def __init__(self, state):
        self.state = state

    def below(self, bound):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % bound


def random_character(numbers):
    while True:
        at = numbers.below(sum(weight for _, _, weight in ALPHABETS))
        for first, last, weight in ALPHABETS:
            if at < weight:
                break
            at -= weight
        character = chr(first + numbers.below(last - first + 1))
        if ucd_3_2_0.category(character) not in ("Cn", "Cs"):
            return character


def spaced(character):
    kind = category(character)
    if character in "\t\n\r" or kind[0] == "Z":
        return " "
    if character == "\ufffd" or kind in ("Cc", "Cf"):
        return ""
    if any(first <= ord(character) <= last for first, last in IDEOGRAPHS):
        return f" {character} "
    return character


def is_punctuation(character):
    return category(character)[0] == "P" or character.isascii() and not character.isalnum()


def words_of(text):
    words = []
    for stretch in "".join(map(spaced, text)).split(" "):
        plain = [c for c in normalize("NFD", stretch.lower()) if category(c) != "Mn"]
        marked = "".join(f" {c} " if is_punctuation(c) else c for c in plain)
        words += [word for word in marked.split(" ") if word]
    return words


def pieces_of(word, vocabulary):
    """From the left, the longest each time."""
    pieces, rest = [], word
    while rest and len(word) <= LONGEST:
        mark = "##" if pieces else ""
        sizes = [k for k in range(len(rest), 0, -1) if mark + rest[:k] in vocabulary]
        if not sizes:
            break
        pieces.append(mark + rest[:sizes[0]])
        rest = rest[sizes[0]:]
    return ["[UNK]"] if rest else pieces


def made_vocabulary(texts, numbers):
    """Most words of every other text, in random pieces."""
    pieces = {"a", "##a", "##aa", "un", "##aff", "##able"}
    for text in texts[::2]:
        for word in words_of(text):
            begin = 0
            while begin < len(word):
                end = min(len(word), begin + 1 + numbers.below(3))
                if numbers.below(12):
                    pieces.add(("##" if begin else "") + word[begin:end])
                begin = end
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + sorted(pieces)


def vectors():
    numbers = Numbers(20261120)
    texts = ["".join(random_character(numbers) for _ in range(1 + numbers.below(24))) for _ in range(300)]
    texts += ["a" * 100, "a" * 101, "\u0301" + "a\u0301" * 100, "unaffable", "[CLS] [SEP]", "", " \u3000\n"]
    vocabulary = made_vocabulary(texts, numbers)
    ids = {piece: k for k, piece in enumerate(vocabulary)}
    cases = []
    for text in texts:
        words = words_of(text)
        pieces = [ids[piece] for word in words for piece in pieces_of(word, ids)]
        cut = [ids["[CLS]"]] + pieces[:LENGTH - 2] + [ids["[SEP]"]]
        cases.append({"text": text, "words": words, "ids": pieces,
                      "encoded": cut + [ids["[PAD]"]] * (LENGTH - len(cut)),
                      "mask": [1] * len(cut) + [0] * (LENGTH - len(cut))})
    return {"vocabulary": vocabulary, "length": LENGTH, "cases": cases}


def lines(made):
    rows = ",\n".join(json.dumps(case) for case in made["cases"])
    return (f'{{"vocabulary": {json.dumps(made["vocabulary"])},\n"length": {made["length"]},\n'
            f'"cases": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    text = lines(vectors())
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="ascii") as file:
            sys.exit(0 if file.read() == text else "the vectors are not those that this script makes")
    sys.stdout.write(text)
