#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Paths, tests and identifiers that the documents name in code font exist.

usage: document_names.py [SOURCE_FOLDER]
Exit code 1 and one line for each that does not.
"""
import pathlib
import re
import sys

TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)")
NAMED_TEST = re.compile(r"[A-Z]\w*\.[A-Z]\w+")
CTEST = re.compile(r"\badd_test\(NAME (\w[\w.]*)")
NAMED_CTEST = re.compile(r"packaging\.\w+")
# Of more than one word, as Curator::answer, SparseVector and read_mean(); others may be words of English.
IDENTIFIER = re.compile(r"\w+(?:::\w+)+(?:\(\))?|[A-Z][a-z]+\w*[A-Z]\w*|[a-z]+(?:_[a-z0-9]+)+(?:\(\))?")
NAMED_SOURCE = re.compile(r"[\w.-]+\.(?:cpp|hpp|sh|cmake)")
NAMED_FILE = re.compile(r"[\w./-]+\.(?:cpp|hpp|md|toml|txt|csv|py|sh|cmake|svg|in)")
NO_SOURCES = {".git", "build", "data", "docs", "out", "results"}
SOURCE_ENDINGS = {".cpp", ".hpp", ".py", ".sh", ".toml", ".cmake", ".txt", ".in", ".csv", ".css", ".js", ".ts"}
# Written by the program or by the reader, or the name of a kind of file.
WRITTEN = re.compile(r"(?:^|/)(?:out|build|data|mnist|randhie|cifar10|PREFIX)/|[A-Z]{3,}|smith|my-|^tuned\.sh$")


def documents(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md"))
    for folder in ("docs", "results", "benchmarks", "tests"):
        yield from sorted((root / folder).glob("**/*.md"))


def spans(text):
    """Code spans outside of blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.findall(r"`([^`\n]+)`", text)


def tests_of(root):
    names = set()
    for source in (root / "tests").glob("**/*.cpp"):
        names.update(f"{suite}.{name}" for suite, name in TEST.findall(source.read_text(encoding="utf-8")))
    return names


def words_of(root):
    """Identifiers of sources, and names of programs, which are those of their sources."""
    words = set()
    for source in root.glob("**/*"):
        if source.relative_to(root).parts[0] in NO_SOURCES or source.suffix not in SOURCE_ENDINGS:
            continue
        words.add(source.stem)
        if source.name != pathlib.Path(__file__).name:
            words.update(re.findall(r"\w+", source.read_text(encoding="utf-8")))
    return words


def missing(root):
    tests = tests_of(root)
    words = words_of(root)
    ctests = {name for lists in root.glob("tests/**/CMakeLists.txt")
              for name in CTEST.findall(lists.read_text(encoding="utf-8"))}
    files = {str(f.relative_to(root)) for f in root.glob("**/*")
             if f.is_file() and f.relative_to(root).parts[0] not in (".git", "build", "out")}
    endings = {"/".join(f.split("/")[k:]) for f in files for k in range(f.count("/") + 1)}
    top = {f.split("/")[0] for f in files if "/" in f}
    lines, named = [], 0
    for page in documents(root):
        if not page.exists() or "results" == page.relative_to(root).parts[0] and page.name != "README.md":
            continue
        text = page.read_text(encoding="utf-8")
        listings = set(re.findall(r"\w+", " ".join(re.findall(r"^```(?:.|\n)*?^```|^    .*$", text, flags=re.M))))
        for span in spans(text):
            where = page.relative_to(root)
            if NAMED_TEST.fullmatch(span):
                named += 1
                if span not in tests:
                    lines.append(f"{where}: no test is called {span}")
            elif NAMED_CTEST.fullmatch(span):
                named += 1
                if span not in ctests:
                    lines.append(f"{where}: no test is called {span}")
            elif WRITTEN.search(span):
                continue
            elif NAMED_SOURCE.fullmatch(span):
                named += 1
                if span not in endings:
                    lines.append(f"{where}: there is no file {span}")
            elif IDENTIFIER.fullmatch(span):
                named += 1
                for word in re.findall(r"\w+", span):
                    if word not in words and word not in listings:
                        lines.append(f"{where}: no source has {word}")
            elif NAMED_FILE.fullmatch(span) and "/" in span and "*" not in span:
                named += 1
                if span not in endings:
                    lines.append(f"{where}: there is no file {span}")
            elif re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*/?", span) and "/" in span and span.split("/")[0] in top:
                named += 1
                if not (root / span).exists() and span not in endings:
                    lines.append(f"{where}: there is no {span}")
    return lines, named


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems, named = missing(root)
    print("\n".join(problems))
    print(f"{named} paths, tests and identifiers are named, {len(problems)} do not exist")
    if named < 1000:
        sys.exit("too few names were read: the reader is broken")
    sys.exit(1 if problems else 0)
