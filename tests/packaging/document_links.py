#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the documents lead to files and headings that exist, and the front page leads to every document.

usage: document_links.py [SOURCE_FOLDER]
Exit code 1 and a line for each that does not.
"""
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?) *#*$", re.M)
# Written for those who work on the suite, or part of a page that is listed.
NOT_LISTED = re.compile(r"docs/errata/|docs/index\.md")


def documents(root):
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md", "benchmarks/README.md"))
    yield from sorted((root / "docs").glob("**/*.md"))


def prose(text):
    """Without blocks and spans of code."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?:    [^\n]*\n)+", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """Of the headings, as GitHub and the site make them."""
    found = {}
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
        if found[slug]:
            found[f"{slug}-{found[slug]}"] = 0
    return set(found) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def dead_ends(root):
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in documents(root)}
    lines, count, linked = [], 0, {}
    for page, text in texts.items():
        where = page.relative_to(root)
        for target in LINK.findall(prose(text)):
            parts = urllib.parse.urlsplit(target)
            if parts.scheme:
                continue
            count += 1
            to = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
            linked.setdefault(where, set()).add(to)
            if not to.exists():
                lines.append(f"{where}: there is no {target}")
            elif parts.fragment and to in texts and parts.fragment not in anchors(texts[to]):
                lines.append(f"{where}: there is no heading {target}")
    listed = linked.get(pathlib.Path("docs/index.md"), set())
    for page in texts:
        name = str(page.relative_to(root))
        if name.startswith("docs/") and not NOT_LISTED.match(name) and page not in listed:
            lines.append(f"docs/index.md: does not lead to {name}")
    return lines, count


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
    problems, read = dead_ends(source)
    print("\n".join(problems))
    print(f"{read} links, {len(problems)} lead nowhere")
    if read < 100:
        sys.exit("too few links were read: the reader is broken")
    sys.exit(1 if problems else 0)
