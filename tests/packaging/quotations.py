#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the quotations of claims and errata.

Every claim of a paper quotes it, and so does every section of docs/errata/KEY.md. Without --texts
only their form is checked. With it each quotation is looked up in FOLDER/KEY.txt, the paper as
plain text with its formulas in LaTeX: prose and formulas are compared without white space, and
the snippets of one quotation must stand in the text in their order.
"""

import argparse
import os
import pathlib
import re
import sys
import tomllib
import unicodedata

MOST_WORDS = 90


def squeezed(text: str) -> str:
    """Without what an extraction of a page may change: spaces, line breaks in LaTeX, quotes."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"%\s", "", text)
    text = text.translate(str.maketrans("‘’“”–—−", "''\"\"---"))
    return re.sub(r"\s+", "", text).lower()


def pieces(quotation: str) -> list[str]:
    """Prose and formulas of a quotation in their order, squeezed."""
    parts = []
    for snippet in quotation.split("…"):
        parts += [squeezed(part) for part in snippet.split("$")]
    return [part for part in parts if part]


def missing_piece(quotation: str, text: str) -> str | None:
    """The first piece that does not follow the one before in the squeezed text, if any."""
    wanted = pieces(quotation)
    # The first piece may occur more than once: any of its places may begin the quotation.
    start, best = text.find(wanted[0]), wanted[0]
    while start >= 0:
        at = start
        for piece in wanted:
            at = text.find(piece, at)
            if at < 0:
                best = piece
                break
            at += len(piece)
        else:
            return None
        start = text.find(wanted[0], start + 1)
    return best


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
            folded[key] = squeezed((texts / f"{key}.txt").read_text())
        piece = missing_piece(quotation, folded[key])
        if piece is not None:
            yield f"{name}: not in {key}.txt: {piece}"


def check_itself():
    text = squeezed("Let the gradient be $x$ x\\leq % \n y small, as “printed”. Then it\nholds.")
    assert missing_piece('Let the gradient … $x\\leq y$ … as "printed"', text) is None
    assert missing_piece("Then it holds … Let the gradient", text) is not None
    assert missing_piece("$x\\leq z$", text) == "x\\leqz"


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
