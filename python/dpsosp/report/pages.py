# SPDX-License-Identifier: Apache-2.0
"""Pages from their models and templates. A template places and does not compute, so that a page is edited as HTML; scripts
are classic ones, as modules and requests are refused to pages from disk."""
from __future__ import annotations

import hashlib
import json
import pathlib
import re
from types import SimpleNamespace as Model
from typing import Any, Iterable, Iterator, Sequence

import jinja2
from markupsafe import Markup

from . import charts, models, tables, text

HERE = pathlib.Path(__file__).parent
LOOK = ("style.css", "report.js", "theme.js")
TEMPLATES = {"IndexPage": "index", "ClaimsPage": "claims", "ClaimPage": "claim", "ExhibitPage": "exhibit",
             "PaperPage": "paper", "AlgorithmPage": "algorithm", "AlgorithmsPage": "algorithms",
             "ProblemPage": "problem", "ProblemsPage": "problems", "WhichPage": "which", "TextPage": "text"}
NAVIGATION = (("Summary", "index.html"), ("Exhibits", "index.html#exhibits"), ("Claims", "claims/list.html"),
              ("Algorithms", "algorithms/index.html"), ("Problems", "problems/index.html"), ("League", "league.html"),
              ("Which method?", "which.html"), ("What moved", "moved.html"), ("Privacy", "privacy.html"),
              ("Speed", "speed.html"), ("Provenance", "provenance.html"))


class Unwritten(Exception):
    """One line on a file that cannot be written."""


def make(folder: pathlib.Path) -> Iterator[str]:
    """The addresses of the pages that were made; those that are as before are left. The first page comes last: where
    it lies all others do."""
    site = Site(folder)
    whole = site.whole
    for name in LOOK:
        _write(folder / name, (HERE / name).read_text(encoding="utf-8"))
    if whole:
        _write(folder / "search.js", f"var INDEX={json.dumps(list(search(site)), ensure_ascii=False)};\n")
    for address in sorted(site.kinds, key=lambda address: address == "index.html"):
        digest = site.digest(address)
        if digest not in _head(folder / address):
            _write(folder / address, site.html(address, digest))
            yield address


class Site:
    """A report: its models, and what turns them into pages."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        about, schema = _json(folder / "site.json"), _json(folder / "models.json")
        self.reader = models.Reader(schema)
        self.about = self.reader.read("SiteFile", about)
        self.kinds = {page.address: page.kind for page in self.about.pages}
        self.whole = "IndexPage" in self.kinds.values()  # not one page alone
        self.texts = text.Texts(self.about.addresses)
        self.looks = charts.Looks(self.about.methods)
        self._models: dict[str, Any] = {}
        self._bytes: dict[str, bytes] = {}
        self._shared = hashlib.sha256(repr((self.about, schema)).encode())
        for file in sorted(HERE.rglob("*.*")):
            if file.suffix in (".py", ".html"):
                self._shared.update(file.read_bytes())
        self.templates = self._environment()

    def model(self, address: str) -> Any:
        if address not in self._models:
            value = json.loads(self._read(address))
            value.pop("methods", None)  # for whoever draws its figures
            self._models[address] = self.reader.read(self.kinds[address], value)
        return self._models[address]

    def of(self, kind: str) -> list[tuple[str, Any]]:
        return [(address, self.model(address)) for address, its in self.kinds.items() if its == kind]

    def claim(self, name: str) -> Any:
        address = self.texts.address_of_claim(name)
        return self.model(address) if address in self.kinds else None

    def digest(self, address: str) -> str:
        """Of all that decides a page."""
        whole = self._shared.copy()
        whole.update(self._read(address))
        if self.kinds[address] == "AlgorithmPage":  # which shows the figure of a claim
            for row in self.model(address).rows[:1]:
                claim = self.texts.address_of_claim(row.claim)
                whole.update(self._read(claim) if claim in self.kinds else b"")
        return whole.hexdigest()[:32]

    def html(self, address: str, digest: str) -> str:
        self.texts.here = address
        there = [(label, page) for label, page in NAVIGATION if page.split("#")[0] in self.kinds]
        made = self.templates.get_template(TEMPLATES[self.kinds[address]] + ".html").render(
            page=self.model(address), address=address, digest=digest, site=self.about, whole=self.whole,
            navigation=there, up="../" * address.count("/"), json=pathlib.PurePath(address).stem + ".json")
        return re.sub(r"[\x00-\x09\x0b-\x1f]", " ", made)

    def _read(self, address: str) -> bytes:
        if address not in self._bytes:
            self._bytes[address] = (self.folder / address).with_suffix(".json").read_bytes()
        return self._bytes[address]

    def _environment(self) -> jinja2.Environment:
        e = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "templates"), autoescape=True, trim_blocks=True,
                               lstrip_blocks=True, keep_trailing_newline=True, undefined=jinja2.StrictUndefined)
        texts, looks = self.texts, self.looks
        e.globals.update(charts=charts, tables=tables, looks=looks, words=list(text.WORDS), Model=Model,
                         described=lambda f, rates: text.flat(". ".join(charts.described(p, rates) for p in f.panels)))
        e.filters.update(
            prose=texts.prose, plain=texts.plain, markdown=texts.markdown, flat=text.flat, breakable=text.breakable,
            quotation=text.quotation, svg_scripts=text.svg_scripts, href_of=texts.href_of,
            # With the context, or the link of a constant would be one for all pages.
            link=jinja2.pass_context(lambda context, address: texts.link(address)),
            address_of=lambda name: self.about.addresses.get(name, ""), address_of_claim=texts.address_of_claim,
            href_of_claim=texts.href_of_claim, claim_page=self.claim,
            drawn=lambda file: self.about.drawn.get(file, ""),
            word_class=text.word_class, short_word=text.short_word, counted=text.counted,
            most=lambda counts: max([1, *(n for c in counts for n in c.values())]),
            number=text.number, signed=text.signed, exponent=text.exponent, interval=text.interval,
            claimed=text.claimed, rate_text=text.rate_text, parts_of=text.parts_of, short=text.short_number,
            g=lambda v, digits=6: f"{v:.{digits}g}", px=charts.px, pc=lambda v: f"{v:.2f}".rstrip("0").rstrip(".") + "%",
            deviation_at=charts.deviation_at, colour=lambda name: looks.of(name)[0],
            shape=lambda name: looks.of(name)[1],
            footnote_mark=tables.mark, numbered=numbered, for_script=for_script)
        return e


def numbered(lines: Sequence[str], block: int) -> Iterator[tuple[str, str]]:
    """Lines of pseudo-code, each with its anchor if it begins with a number of its own."""
    taken = set()
    for line in lines:
        found = re.match(r" *(\d+) ", line)
        name = f"line-{block}-{found[1]}" if found else ""
        yield ("" if name in taken else name, line)
        taken.add(name)


def for_script(cells: Iterable[Model]) -> Markup:
    """Cells of the league for report.js, which finds those nearest to a question."""
    short = text.short_number
    data = [{"group": c.group, "title": c.title, "n": c.n, "d": c.d, "e": c.epsilon, "start": short(c.start),
             "floor": short(c.floor), "levels": [[x.algorithm, short(x.median), short(x.low), short(x.high), x.settings]
                                                 for x in c.levels]} for c in cells]
    return Markup(json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"))


def search(site: Site) -> Iterator[list[str]]:
    """What the search finds: title, address, text."""
    for title, address, words in _entries(site):
        yield [text.flat(title), address, text.flat(words)]


def _entries(site: Site) -> Iterator[tuple[str, str, str]]:
    for at, e in site.of("ExhibitPage"):
        yield f"{e.id}: {e.title}", at, f"{e.finding}. {' '.join(e.paper_says)}"
        for shown in [*e.figures, *e.tables]:
            yield shown.title or shown.id, f"{at}#{shown.id}", f"{e.title} {shown.caption}"
    for at, c in site.of("ClaimPage"):
        yield f"{c.id}: {c.place}", at, f"{c.word} · {c.reading} {c.measured}"
    for at, p in site.of("PaperPage"):
        yield p.name, at, f"paper {p.key}"
    for at, a in site.of("AlgorithmPage"):
        yield a.key, at, " ".join([a.title, *(f.text for f in a.card)])
    for at, p in site.of("ProblemPage"):
        yield p.name, at, f"problem, {p.group}: {p.summary}"
    for at, _ in site.of("WhichPage"):
        yield "Which method?", at, "league nearest cell n d epsilon saddle start question"
    for at, t in site.of("TextPage"):
        yield t.title, at, t.lead
        for s in t.sections:
            if s.heading:
                yield s.heading, f"{at}#{s.id}", t.title
    for at, index in site.of("IndexPage"):
        for h in index.highlights:
            yield "Finding", f"{at}#findings", h.sentence


def _head(file: pathlib.Path) -> str:
    """The beginning of a page, which says what it was made from; nothing where there is none."""
    try:
        with file.open(encoding="utf-8", errors="replace") as content:
            return content.read(200)
    except OSError:
        return ""


def _json(file: pathlib.Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise models.Invalid(f"{file}: {e.strerror if isinstance(e, OSError) else e}") from None


def _write(file: pathlib.Path, content: str) -> None:
    """Leaves no part of a file where the disk is full."""
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(content, encoding="utf-8")
        part.replace(file)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise Unwritten(f"{file}: cannot write this file ({e.strerror})") from e
