#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents say stands in one of them: no twelve words in a row are in two.

usage: said_once.py [SOURCE_FOLDER]
Left out are blocks of code, table heads, formulas, what a paper says word for word, and pages that the program writes.
Exit code 1 and a line for each passage that stands twice.
"""
import pathlib
import re
import sys

WORDS = 12
# The program writes them from its sources; problems.md and the cards quote proofs that papers' notes have too.
WRITTEN = {"docs/algorithms.md", "docs/findings.md", "docs/problems.md"}


def documents(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md", "benchmarks/README.md"))
    for page in sorted((root / "docs").glob("**/*.md")):
        if str(page.relative_to(root)) not in WRITTEN:
            yield page


def passages(text):
    """Runs of words, broken where code, a quotation, a table's head or a formula stands."""
    text = re.sub(r"^```.*?^```|^(?:    [^\n]*\n)+|^\|[^\n]*\n\|[ :|-]+\n", "\0", text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)\s]+\)", "]", text)
    text = re.sub(r"\]\([^)\s]+\)", "]", text)
    text = re.sub(r"`[^`\n]*`|“[^”]*”|\"[^\"\n]*\"|^> [^\n]*$", "\0", text, flags=re.M)
    for part in text.split("\0"):
        words = re.findall(r"[^\s|]+", part)
        plain = [re.sub(r"[^\w'-]", "", w).lower() for w in words]
        yield [(w, bool(re.fullmatch(r"[a-z][a-z'-]*", p))) for w, p in zip(plain, plain) if p]


def twice(root):
    seen, lines, count = {}, [], 0
    for page in documents(root):
        name = str(page.relative_to(root))
        end = {}
        for number, words in enumerate(passages(page.read_text(encoding="utf-8"))):
            for k in range(len(words) - WORDS + 1):
                run = words[k:k + WORDS]
                count += 1
                # Numbers and symbols in most places: a formula.
                if sum(is_word for _, is_word in run) < 9:
                    continue
                text = " ".join(w for w, _ in run)
                other = seen.setdefault(text, name)
                if other != name and end.get(number, -1) < k:
                    lines.append(f"{name} and {other}: {text} ...")
                    end[number] = k + WORDS
    return lines, count


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    problems, read = twice(source)
    print("\n".join(problems))
    print(f"{read} runs of {WORDS} words, {len(problems)} passages stand twice")
    if read < 30000:
        sys.exit("too few words were read: the reader is broken")
    sys.exit(1 if problems else 0)
