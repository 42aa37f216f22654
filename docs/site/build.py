#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the documents: pages, a reference that the program writes, the API, search.

usage: build.py --program DPSOSP --out FOLDER [--no-api]

The pages are the Markdown files of the tree. What differs on the site:
- docs/index.md is its front page, and the lists there are its navigation; README.md is left out;
- a page of all commands is written by the program, and so are the protocol and the cards of algorithms and problems, which get a
  page each; docs/algorithms.md, docs/problems.md and docs/protocol.md are tables of what these pages are about;
- a key of an algorithm or name of a problem in code font leads to its card;
- links to sources, which are not on the site, become plain text.

Sphinx, and not MkDocs, which is faster: the search of MkDocs starts a worker, which browsers refuse to pages from a folder.

Exit code 1 and a line for each problem: a warning of Sphinx, a link or an anchor that leads nowhere, a resource from outside.
"""
import argparse
import html.parser
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = pathlib.Path(__file__).resolve().parent
# Pages from outside docs/, and their places on the site.
OUTSIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "results/README.md": "results.md",
    "benchmarks/README.md": "benchmarks.md",
}
WRITTEN = ("algorithms", "problems")  # with a card each
CARD = re.compile(r"^### `([^`]+)`\n", re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
ALL_COMMANDS = "- [Commands](commands.md): every command with its options\n"
ITEM = re.compile(r"^- \[[^\]]+\]\(([^)#]+)\)", re.M)


def written_pages(program, folder):
    """Runs the program, which writes the reference."""
    for kind in (*WRITTEN, "protocol"):
        subprocess.run([program, "list", kind, "--document", folder], check=True, stdout=subprocess.DEVNULL)
    (folder / "reference/protocol.md").replace(folder / "protocol.md")
    page = subprocess.run([program, "help", "--markdown"], check=True, capture_output=True, text=True).stdout
    (folder / "commands.md").write_text(page, encoding="utf-8")


def sources(written):
    """Place in the tree -> text, of all pages."""
    pages = {f"docs/{f.relative_to(ROOT / 'docs')}": f for f in sorted((ROOT / "docs").glob("**/*.md"))}
    pages |= {name: ROOT / name for name in OUTSIDE}
    pages |= {f"docs/{f.name}": f for f in sorted(written.glob("*.md"))}
    return {name: file.read_text(encoding="utf-8") for name, file in pages.items()}


def place_of(name):
    """Place on the site of a page or picture of the tree."""
    return OUTSIDE.get(name, name.removeprefix("docs/"))


class Cards:
    """Algorithms and problems with a page of their own: word in code font -> page, anchor -> page."""

    def __init__(self):
        self.pages = {}
        self.of_word = {}
        self.of_anchor = {}

    def split(self, kind, text):
        """The text with lists of links in place of the cards."""
        parts = CARD.split(text)
        out = parts[0]
        for name, body in zip(parts[1::2], parts[2::2]):
            # A heading of a group ends the card before it.
            card, *groups = re.split(r"^(?=## )", body, flags=re.M)
            page = f"docs/{kind}/{name}.md"
            self.pages[page] = f"# `{name}`\n{card}"
            self.of_word[name] = page
            self.of_anchor[f"docs/{kind}.md", re.sub(r"[^\w-]", "", name)] = page
            out += f"- [`{name}`]({kind}/{name}.md)\n" + "".join("\n" + g for g in groups)
        return out


def outside_code(text, change):
    """The text, changed where it is no code: neither a block nor a span."""
    blocks = re.split(r"(^```.*?^```[^\n]*\n|^(?:    [^\n]*\n)+)", text, flags=re.S | re.M)
    for k in range(0, len(blocks), 2):
        blocks[k] = change(blocks[k])
    return "".join(blocks)


def with_links(name, text, pages, cards):
    """Links of a page of the tree as links of the site."""
    here = posixpath.dirname(place_of(name))

    def to(page, anchor=""):
        return posixpath.relpath(place_of(page), here or ".") + (f"#{anchor}" if anchor else "")

    def link(match):
        mark, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            return match.group(0)
        page = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        page = "docs/index.md" if page == "README.md" else page
        # A card keeps the links of the page that it was taken from.
        if name in cards.pages and page not in pages:
            page = posixpath.normpath(posixpath.join("docs", path))
        if (page, anchor) in cards.of_anchor:
            return f"[{words}]({to(cards.of_anchor[page, anchor])})"
        if page in pages or page in cards.pages:
            return f"[{words}]({to(page, anchor)})"
        if page.startswith(("docs/", "results/")) and page.endswith(".svg"):
            return f"{mark}[{words}]({to(page)})"
        return words

    def code(match):
        page = cards.of_word.get(match.group(1))
        return f"[{match.group(0)}]({to(page)})" if page and page != name else match.group(0)

    def change(block):
        out = ""
        for k, part in enumerate(re.split(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)\s]+\))", block)):
            if k % 2 == 1:
                out += LINK.sub(link, part)
            else:
                out += "\n".join(line if line.startswith("#") else re.sub(r"`([^`\n]+)`", code, line)
                                 for line in part.split("\n"))
        return out

    return outside_code(text, change)


def contents(entries, *options):
    """A hidden table of contents, by which Sphinx knows a page's place."""
    return "\n```{toctree}\n:hidden:\n" + "".join(f"{o}\n" for o in options) + "\n" + "\n".join(entries) + "\n```\n"


def navigation(index):
    """A table of contents for each section of the front page."""
    sections = {s.split("\n", 1)[0]: ITEM.findall(s) for s in re.split(r"^## ", index, flags=re.M)[1:]}
    return "".join(contents(entries, f":caption: {title}") for title, entries in sections.items() if entries)


def children(name, pages):
    """A table of contents of the pages in the folder that is called like this one."""
    below = [place_of(p) for p in pages if p.startswith(name.removesuffix(".md") + "/")]
    return contents(below) if below else ""


def stage(program, folder):
    """Writes what Sphinx reads."""
    written = folder / "written"
    written.mkdir(parents=True)
    written_pages(program, written)
    pages = sources(written)
    cards = Cards()
    for kind in WRITTEN:
        long = (written / "reference" / f"{kind}.md").read_text(encoding="utf-8")
        pages[f"docs/{kind}.md"] += cards.split(kind, long.partition("\n")[2])  # without its title
    pages["docs/index.md"] = pages["docs/index.md"].replace("## Reference\n", "## Reference\n" + ALL_COMMANDS)
    for name, text in (pages | cards.pages).items():
        file = folder / "source" / place_of(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = with_links(name, text, pages, cards)
        text += navigation(text) if name == "docs/index.md" else children(name, pages | cards.pages)
        file.write_text(text, encoding="utf-8")
    shown = [f for f in (ROOT / "results").glob("**/*.svg")
             if any(f.relative_to(ROOT).as_posix() in text for text in pages.values())]
    for picture in [*(ROOT / "docs").glob("**/*.svg"), *written.glob("**/*.svg"), *shown]:
        base = next(base for base in (written, ROOT / "docs", ROOT) if picture.is_relative_to(base))
        file = folder / "source" / picture.relative_to(base)
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, file)
    shutil.copy(SITE / "conf.py", folder / "source")
    for name in ("static", "templates"):
        shutil.copytree(SITE / name, folder / "source" / name)


class Page(html.parser.HTMLParser):
    """Links, anchors and resources of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.resources = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors |= {attrs[a] for a in ("id", "name") if attrs.get(a)}
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        elif tag == "link" and attrs.get("rel") in ("stylesheet", "icon") or tag in ("script", "img"):
            self.resources.append(attrs.get("href") or attrs.get("src") or "")


def dead_ends(site):
    """Links and anchors of our pages that lead nowhere, resources from outside."""
    files = [f for f in sorted(site.glob("**/*.html")) if f.relative_to(site).parts[0] != "api"]
    pages = {f: Page(f.read_text(encoding="utf-8")) for f in files}
    lines, count = [], 0
    for file, page in pages.items():
        for target in page.resources + page.links:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.resources and parts.scheme != "data":
                    lines.append(f"{file.relative_to(site)}: {target} is fetched from outside")
                continue
            count += 1
            to = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            anchor = urllib.parse.unquote(parts.fragment)
            if not to.exists():
                # Without Doxygen's pages their link stays.
                if not target.endswith("api/index.html") or (site / "api").exists():
                    lines.append(f"{file.relative_to(site)}: there is no {target}")
            elif anchor and to in pages and anchor not in pages[to].anchors:
                lines.append(f"{file.relative_to(site)}: there is no anchor {target}")
    return sorted(set(lines)), len(pages), count


def api(out):
    """Doxygen's pages of all public headers."""
    headers = sorted({p.parent.parent for p in ROOT.glob("**/include/dpsosp")
                      if p.relative_to(ROOT).parts[0] not in ("build", "out")})
    settings = (SITE / "Doxyfile").read_text(encoding="utf-8")
    settings += f"INPUT = {' '.join(str(h / 'include') for h in headers)}\n"
    settings += f"STRIP_FROM_PATH = {' '.join(str(h / 'include') for h in headers)}\nOUTPUT_DIRECTORY = {out}\n"
    run = subprocess.run(["doxygen", "-"], input=settings, text=True, capture_output=True, check=False)
    return run.stderr.splitlines() if run.returncode == 0 else [*run.stderr.splitlines(), "doxygen failed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="dpsosp, which writes the reference")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder of the site; its pages are replaced")
    parser.add_argument("--no-api", action="store_true", help="without Doxygen's pages")
    given = parser.parse_args()
    start = time.monotonic()
    out = given.out.resolve()
    work = out.with_name(out.name + ".work")
    shutil.rmtree(work, ignore_errors=True)
    stage(os.path.abspath(given.program), work)
    sphinx = subprocess.run(["sphinx-build", "-q", "-b", "html", "-d", work / "doctrees", "-j", "auto",
                             work / "source", work / "html"], text=True, capture_output=True, check=False)
    problems = [line for line in sphinx.stderr.splitlines() if line.strip()]
    if sphinx.returncode != 0:
        sys.exit("\n".join([*problems, "build.py: sphinx-build failed"]))
    if not given.no_api:
        problems += api(work / "html")
    dead, pages, links = dead_ends(work / "html")
    problems += dead
    shutil.rmtree(out, ignore_errors=True)
    shutil.move(work / "html", out)
    shutil.rmtree(work)
    for line in problems:
        print(line, file=sys.stderr)
    print(f"site: {out / 'index.html'} ({pages} pages, {links} links, {time.monotonic() - start:.0f} s)")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
