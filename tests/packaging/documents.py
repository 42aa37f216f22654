#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents name, link and repeat, and what the sources cite.

usage: documents.py names|links|once|citations [SOURCE_FOLDER]
names: paths, tests and identifiers in code font exist. links: they lead to files and headings, and docs/index.md to
every page. once: no twelve words in a row stand on two pages; blocks of code, heads of tables, formulas, quotations and
pages that the program writes are left out. citations: each erratum, place of a paper and heading of its notes that a
source cites exists. Exit code 1 and one line for each that is not so.
"""
import pathlib
import re
import sys
import urllib.parse

CODE_BLOCK = re.compile(r"^```.*?^```", flags=re.S | re.M)


def read(file):
    return file.read_text(encoding="utf-8")


def pages(root, *folders):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md", "benchmarks/README.md"))
    for folder in folders:
        yield from sorted((root / folder).glob("**/*.md"))


TEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)")
CTEST = re.compile(r"\badd_test\(NAME (\w[\w.]*)")
# Of more than one word, as Curator::answer, SparseVector and read_mean(); others may be words of English.
IDENTIFIER = re.compile(r"\w+(?:::\w+)+(?:\(\))?|[A-Z][a-z]+\w*[A-Z]\w*|[a-z]+(?:_[a-z0-9]+)+(?:\(\))?")
NAMED_SOURCE = re.compile(r"[\w.-]+\.(?:cpp|hpp|sh|cmake)")
NAMED_FILE = re.compile(r"[\w./-]+\.(?:cpp|hpp|md|toml|txt|csv|py|sh|cmake|svg|in)")
NO_SOURCES = {".git", "build", "data", "docs", "out", "results"}
SOURCE_ENDINGS = {".cpp", ".hpp", ".py", ".sh", ".toml", ".cmake", ".txt", ".in", ".csv", ".css", ".js", ".ts"}
# Written by the program or by the reader, or the name of a kind of file.
WRITTEN = re.compile(r"(?:^|/)(?:out|build|data|mnist|randhie|cifar10|PREFIX)/|[A-Z]{3,}|smith|my-|^tuned\.sh$")


def words_of(root):
    """Identifiers of sources, and names of programs, which are those of their sources."""
    words = set()
    for source in root.glob("**/*"):
        if source.relative_to(root).parts[0] not in NO_SOURCES and source.suffix in SOURCE_ENDINGS:
            words.add(source.stem)
            if source.name != pathlib.Path(__file__).name:
                words.update(re.findall(r"\w+", read(source)))
    return words


def names(root):
    tests = {".".join(test) for source in (root / "tests").glob("**/*.cpp") for test in TEST.findall(read(source))}
    tests.update(name for lists in root.glob("tests/**/CMakeLists.txt") for name in CTEST.findall(read(lists)))
    words = words_of(root)
    files = {str(f.relative_to(root)) for f in root.glob("**/*")
             if f.is_file() and f.relative_to(root).parts[0] not in (".git", "build", "out")}
    endings = {"/".join(f.split("/")[k:]) for f in files for k in range(f.count("/") + 1)}
    top = {f.split("/")[0] for f in files if "/" in f}
    lines, named = [], 0
    for page in dict.fromkeys(pages(root, "docs", "benchmarks", "tests")):
        text = read(page)
        listings = set(re.findall(r"\w+", " ".join(re.findall(r"^```(?:.|\n)*?^```|^    .*$", text, flags=re.M))))
        for span in re.findall(r"`([^`\n]+)`", CODE_BLOCK.sub("", text)):
            missing = None
            if re.fullmatch(r"[A-Z]\w*\.[A-Z]\w+|packaging\.\w+", span):
                missing = span not in tests and f"no test is called {span}"
            elif WRITTEN.search(span):
                continue
            elif NAMED_SOURCE.fullmatch(span):
                missing = span not in endings and f"there is no file {span}"
            elif IDENTIFIER.fullmatch(span):
                unknown = [word for word in re.findall(r"\w+", span) if word not in words and word not in listings]
                missing = unknown and f"no source has {', '.join(unknown)}"
            elif NAMED_FILE.fullmatch(span) and "/" in span and "*" not in span:
                missing = span not in endings and f"there is no file {span}"
            elif re.fullmatch(r"[\w.-]+(?:/[\w.-]+)*/?", span) and "/" in span and span.split("/")[0] in top:
                missing = not (root / span).exists() and span not in endings and f"there is no {span}"
            else:
                continue
            named += 1
            if missing:
                lines.append(f"{page.relative_to(root)}: {missing}")
    return lines, named, 1000


def anchors(text):
    """Of the headings, as GitHub and the site make them."""
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", CODE_BLOCK.sub("", text), flags=re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
        if found[slug]:
            found[f"{slug}-{found[slug]}"] = 0
    return set(found) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def links(root):
    texts = {page.resolve(): read(page) for page in [*pages(root, "docs"), root / "CHANGELOG.md"]}
    lines, count, linked = [], 0, {}
    for page, text in texts.items():
        where = page.relative_to(root)
        prose = re.sub(r"^(?:    [^\n]*\n)+|`[^`\n]*`", "", CODE_BLOCK.sub("", text), flags=re.M)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            parts = urllib.parse.urlsplit(target)
            if parts.scheme:
                continue
            count += 1
            to = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            linked.setdefault(str(where), set()).add(to)
            if not to.exists():
                lines.append(f"{where}: there is no {target}")
            elif parts.fragment and to in texts and parts.fragment not in anchors(texts[to]):
                lines.append(f"{where}: there is no heading {target}")
    for page in texts:
        name = str(page.relative_to(root))
        # Written for those who work on the suite, or part of a page that is listed.
        listed = not name.startswith("docs/") or re.match(r"docs/errata/|docs/index\.md", name)
        if not listed and page not in linked.get("docs/index.md", set()):
            lines.append(f"docs/index.md: does not lead to {name}")
    return lines, count, 100


RUN = 12
# The program writes them from its sources; problems.md and the cards quote proofs that papers' notes have too.
BY_PROGRAM = {"docs/algorithms.md", "docs/findings.md", "docs/problems.md"}


def passages(text):
    """Runs of words, broken where code, a quotation, a table's head or a formula stands."""
    text = re.sub(r"^```.*?^```|^(?:    [^\n]*\n)+|^\|[^\n]*\n\|[ :|-]+\n", "\0", text, flags=re.S | re.M)
    text = re.sub(r"\]\([^)\s]+\)", "]", text)
    text = re.sub(r"`[^`\n]*`|“[^”]*”|\"[^\"\n]*\"|^> [^\n]*$", "\0", text, flags=re.M)
    for part in text.split("\0"):
        plain = [re.sub(r"[^\w'-]", "", w).lower() for w in re.findall(r"[^\s|]+", part)]
        yield [(p, bool(re.fullmatch(r"[a-z][a-z'-]*", p))) for p in plain if p]


def once(root):
    seen, lines, count = {}, [], 0
    for page in pages(root, "docs"):
        name = str(page.relative_to(root))
        for words in passages(read(page)) if name not in BY_PROGRAM else ():
            end = -1
            for k in range(len(words) - RUN + 1):
                run = words[k:k + RUN]
                count += 1
                # Numbers and symbols in most places: a formula.
                if sum(is_word for _, is_word in run) < 9:
                    continue
                text = " ".join(w for w, _ in run)
                other = seen.setdefault(text, name)
                if other != name and end < k:
                    lines.append(f"{name} and {other}: {text} ...")
                    end = k + RUN
    return lines, count, 30000


CODE = ("core", "trusted", "problems", "networks", "privacy", "evaluator", "algorithms", "plots", "experiments", "checks",
        "audit", "isolation", "reproductions", "cli", "benchmarks")
PLACE = (r"(?:Algorithm|Theorem|Lemma|Corollary|Proposition|Definition|Assumption|Claim|Remark|Table|Figure|Section|"
         r"Appendix|Footnote) [A-Z]?\.?\d*(?:\.\d+)*")


def unwrapped(code):
    """Comments of several lines on one; an empty comment line still ends its paragraph."""
    return re.sub(r"\n[ \t]*//[/!]?[ \t]+(?=[^ \t\n])", " ", code)


def notes_of(text):
    """The numbered headings of a page of docs/papers, and the places of the paper that it lists with the number of lines
    of an algorithm, 0 where the paper's lines have no numbers."""
    table = text[text.find("\n## Places"):] if "\n## Places" in text else ""
    rows = re.findall(r"\n\| *`?([A-Z]\w*(?: [\w.()]+)?)(?: \((?:lines 1[-–](\d+)|unnumbered)\))?`? *\|", table)
    return set(re.findall(r"\n#+ +(\d+(?:\.\d+)?)\b", "\n" + text)), {place: int(lines or 0) for place, lines in rows}


def errata_ids(text):
    return set(re.findall(r"\n(?:\| *|### )([A-Z]+[0-9]+)[ ,]", "\n" + text))


def cited_errata(code):
    """What follows "errata.md" in the code: "errata.md, X1", "errata.md, X1 and X2"."""
    lists = re.findall(r"errata\.md((?:(?:,| and|:)? *[A-Z]+[0-9]+\b)+)", unwrapped(code))
    return [name for one in lists for name in re.findall(r"[A-Z]+[0-9]+", one)]


def stated_sources(code):
    return re.findall(r"\\source([^\n\\]*)", unwrapped(code))


def names_a_source(text, notes):
    """Whether it is a place of a paper or of its notes, or a publication with its year or arXiv number."""
    keys = "|".join(notes)
    return re.search(rf"\b(?:{keys})(?: notes)?, [A-Z\d]|\barXiv:\d{{4}}\.\d{{4,5}}|(?:^|[^-\w])(?:18|19|20)\d\d\b", text)


def unresolved(text, notes):
    """What a text cites that does not exist: "KEY notes, 3.1 and 3.2", "KEY, Algorithm 2, line 9"."""
    keys = "|".join(notes)
    for key, numbers in re.findall(rf"({keys}) notes,((?:(?:,| and)? \d+(?:\.\d+)?\b)+)", text):
        yield from (f"{key} notes, {n}" for n in re.findall(r"\d+(?:\.\d+)?", numbers) if n not in notes[key][0])
    for key, place, line, last in re.findall(rf"({keys}), ({PLACE})(?:, lines? (\d+)(?:[-–](\d+))?)?", text):
        if place not in notes[key][1] or int(last or line or 0) > notes[key][1][place]:
            yield f"{key}, {place} {line}"
    yield from re.findall(rf"(?:{keys}),? (?:sections?|zoo entry) [\d.]+|\bspecification\b", text)


def citations(root):
    docs = root / "docs"
    known = errata_ids("\n".join(read(page) for page in [docs / "errata.md", *docs.glob("errata/*.md")]))
    notes = {page.stem: notes_of(read(page)) for page in docs.glob("papers/*.md")}
    if len(known) < 60 or len(notes) < 7:
        sys.exit("too few errata or notes were read: the reader is broken")
    lines, count = [], 0
    for file in (f for folder in CODE for f in sorted((root / folder).glob("**/*.[ch]pp"))):
        code, where = read(file), file.relative_to(root)
        count += len(cited_errata(code)) + len(stated_sources(code))
        lines += [f"{where} cites {name}" for name in cited_errata(code) if name not in known]
        lines += [f"{where}: \\source{text}" for text in stated_sources(code) if not names_a_source(text, notes)]
        lines += [f"{where} cites {missing}" for missing in unresolved(unwrapped(code), notes)]
    return lines, count, 105


def self_test():
    """The readers of citations find what is wrong."""
    assert errata_ids("| id | where |\n|---|---|\n| X1 | here |\n\n### G12 · Lemma 2\n") == {"X1", "G12"}
    assert cited_errata("f();  // dev: (docs/errata.md,\n  // X9) and more; errata.md, G12 and X1\n") == ["X9", "G12", "X1"]
    assert cited_errata("the repairs of docs/errata.md.") == []
    notes = {"xu-2026": notes_of("# Title\n## 3. Schedules\n### 3.1 Theory\n## Places in the paper\n\n| place | x |\n|---|---|\n"
                                 "| Algorithm 1 (lines 1-24) | a |\n| `Algorithm 2 (unnumbered)` | b |\n| Theorem B.1 | c |\n")}
    found = stated_sources("/// \\source Wang,\n/// Lu (2020), Theorem 3. \\return x\n/// \\source folklore\n///\n/// Added in 1999.\n")
    assert [bool(names_a_source(text, notes)) for text in found + [" xu-2027, Theorem 3", " xu-2026, Theorem 3"]] == [
        True, False, False, True], found
    right = "xu-2026 notes, 3 and 3.1; xu-2026, Algorithm 1, lines 9-24; xu-2026, Algorithm 2; xu-2026, Theorem B.1"
    assert list(unresolved(right, notes)) == []
    for wrong in ("xu-2026 notes, 3.2", "xu-2026, Algorithm 1, line 25", "xu-2026, Algorithm 2, line 1", "xu-2026, Lemma 2",
                  "xu-2026, section 3.1", "as the specification says"):
        assert len(list(unresolved(wrong, notes))) == 1, wrong


if __name__ == "__main__":
    self_test()
    source = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[2]).resolve()
    problems, checked, least = {"names": names, "links": links, "once": once, "citations": citations}[sys.argv[1]](source)
    print(*problems, sep="\n")
    print(f"{checked} {sys.argv[1]} read, {len(problems)} problems")
    if checked < least:
        sys.exit("too few were read: the reader is broken")
    sys.exit(1 if problems else 0)
