#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the quotations of claims and errata.

Every claim of a paper quotes it, and so does every section of docs/errata/KEY.md. Without --texts
only their form is checked. With it each quotation is looked up in FOLDER/KEY.txt, the paper as
plain text with its formulas in LaTeX: prose and formulas are compared without white space, and
the snippets of one quotation must stand in the text in their order, near each other. What is quoted
from several places is separated by " // ".
"""

import argparse
import os
import pathlib
import re
import sys
import tomllib
import unicodedata

MOST_WORDS = 90
# Characters, squeezed, that may stand in the text between two pieces: markup of a formula, and
# what an ellipsis leaves out.
BESIDE_FORMULA = 700
LEFT_OUT = 12000


def squeezed(text: str, fold: bool = True) -> str:
    """Without what an extraction of a page may change: spaces, line breaks in LaTeX, quotes; case
    is folded in prose alone."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"%\s", "", text)
    text = text.translate(str.maketrans("‘’“”–—−", "''\"\"---"))
    text = re.sub(r"\s+", "", text)
    return text.lower() if fold else text


def pieces(quotation: str) -> list[tuple[str, bool, int]]:
    """Prose and formulas of a quotation in their order, squeezed: what, whether it is a formula,
    and how far from the piece before it may stand."""
    parts = []
    for snippet in quotation.split("…"):
        reach = LEFT_OUT
        for k, part in enumerate(snippet.replace("$$", "$").split("$")):
            formula = k % 2 == 1
            if squeezed(part):
                parts.append((squeezed(part, fold=not formula), formula, reach))
                reach = BESIDE_FORMULA
    return parts


def missing_piece(quotation: str, text: str) -> str | None:
    """The first piece, of any place's quotation, that the text (squeezed, not folded) lacks."""
    for of_place in quotation.split(" // "):
        missing = missing_in_order(of_place, text)
        if missing is not None:
            return missing
    return None


def missing_in_order(quotation: str, text: str) -> str | None:
    folded = text.lower()
    wanted = pieces(quotation)
    whole = [folded, text]

    def first(k: int, start: int, end: int) -> int:
        piece, formula, _ = wanted[k]
        return whole[formula].find(piece, start, end)

    best = 0

    def follows(k: int, at: int) -> bool:
        """Whether the pieces from k on stand behind `at`."""
        nonlocal best
        best = max(best, k)
        if k == len(wanted):
            return True
        piece, _, reach = wanted[k]
        start = at
        while (start := first(k, start, at + reach + len(piece))) >= 0:
            if follows(k + 1, start + len(piece)):
                return True
            start += 1
        return False

    start = first(0, 0, len(text)) if wanted else -1
    while start >= 0:
        if follows(1, start + len(wanted[0][0])):
            return None
        start = first(0, start + 1, len(text))
    return wanted[min(best, len(wanted) - 1)][0]


def claims_of(root: pathlib.Path):
    """Key, name, quotation and problem of every claim that is a paper's."""
    for file in sorted(root.glob("reproductions/*/claims.toml")):
        for claim in tomllib.loads(file.read_text())["claim"]:
            if claim.get("of", "paper") == "paper":
                yield file.parent.name, claim["id"], claim.get("printed", "")


def errata_of(root: pathlib.Path):
    """Key, name and quotation of every section of docs/errata/KEY.md that is an erratum."""
    for file in sorted(root.glob("docs/errata/*.md")):
        for section in re.split(r"(?m)^(?=##+ )", file.read_text()):
            heading = re.match(r"### ([A-Z]+\d+[a-z]?)\b", section)
            if heading:
                quoted = re.findall(r"(?m)^> ?(.*)$", section)
                yield file.stem, f"{file.name}, {heading[1]}", " ".join(quoted)


def problems(root: pathlib.Path, texts: pathlib.Path | None):
    folded = {}
    for key, name, quotation in [*claims_of(root), *errata_of(root)]:
        if not pieces(quotation):
            yield f"{name}: quotes nothing"
            continue
        words = len(re.sub(r"\$[^$]*\$", " x ", quotation).split())
        if words > MOST_WORDS:
            yield f"{name}: quotes {words} words, at most {MOST_WORDS}"
        if quotation.count("$") % 2:
            yield f"{name}: a formula lacks its second $"
        if texts is None:
            continue
        if key not in folded:
            folded[key] = squeezed((texts / f"{key}.txt").read_text(), fold=False)
        piece = missing_piece(quotation, folded[key])
        if piece is not None:
            yield f"{name}: not in {key}.txt: {piece}"


def check_itself():
    text = squeezed("Let the gradient be $x$ x\\leq % \n y small, as “printed”. Then it\nholds. "
                    "The error is at most $d^{2}/n$ d^{2}/n for all. It is not so." + "z" * LEFT_OUT
                    + "The rate is optimal.", fold=False)
    for right in ('Let the gradient … $x\\leq y$ small, as "printed"', "the error is at most $d^{2}/n$",
                  "let the gradient be … Then it holds", "Let the gradient // the rate is optimal"):
        assert missing_piece(right, text) is None, right
    for wrong in ("Then it holds … Let the gradient", "$x\\leq z$", "the error is at most $D^{2}/n$",
                  "the error is at most $x\\leq y$", "Let the gradient … the rate is optimal"):
        assert missing_piece(wrong, text) is not None, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=pathlib.Path, default=os.environ.get("DPSOSP_PAPER_TEXTS"),
                        help="folder with KEY.txt of each paper; default: $DPSOSP_PAPER_TEXTS")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--only", default="", help="a paper's key")
    arguments = parser.parse_args()
    check_itself()
    texts = pathlib.Path(arguments.texts) if arguments.texts else None
    found = [p for p in problems(arguments.root, texts) if arguments.only in p]
    print(*found, sep="\n")
    quoted = len([*claims_of(arguments.root), *errata_of(arguments.root)])
    print(f"{quoted} quotations, {len(found)} problems")
    return 1 if found or quoted == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
