# SPDX-License-Identifier: Apache-2.0
"""Numbers, words and running text of pages.

Texts are plain but for `_{...}` and `^{...}`, which set scripts, and `code`. A name of something that has a page, as a
claim or an algorithm, becomes a link to it.
"""
from __future__ import annotations

import math
import re
from types import SimpleNamespace as Model
from typing import Callable, Mapping, Optional, Sequence

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from markupsafe import Markup, escape

# Headline words: their class and short form, in the order in which they are listed.
WORDS = {"confirmed": ("confirmed", "confirmed"), "bound met, exponent open": ("bound", "bound met"),
         "vacuous": ("vacuous", "vacuous"), "refuted": ("refuted", "refuted"), "slip": ("slip", "slip"),
         "open": ("open", "open")}


def word_class(word: str) -> str:
    return WORDS.get(word, ("", ""))[0]


def short_word(word: str) -> str:
    return WORDS.get(word, ("", word))[1]


def counted(counts: Mapping[str, int]) -> str:
    """ "3 confirmed, 1 slip" """
    return ", ".join(f"{counts[word]} {short_word(word)}" for word in WORDS if word in counts)


# --- numbers ----------------------------------------------------------------------------------------------------------

def minus(number: str) -> str:
    return "−" + number[1:] if number.startswith("-") else number


def signed(value: float, digits: int = 3) -> str:
    return minus(f"{value:+.{digits}f}")


def exponent(value: float) -> str:
    """ "−2/3", or with three digits"""
    for denominator in range(1, 15):
        numerator = value * denominator
        whole = round(numerator)
        if abs(numerator - whole) < 2e-3:
            if whole == 0:
                return "0"
            return minus(f"{whole:+d}" if denominator == 1 else f"{whole:+d}/{denominator}")
    return signed(value)


def interval(low: float, high: float) -> str:
    return f"[{signed(low)}, {signed(high)}]"


def is_claimed(rate: Model) -> bool:
    return not math.isnan(rate.claimed_high)


def claimed(rate: Model) -> str:
    if not is_claimed(rate):
        return "–"
    if rate.claimed_low == rate.claimed_high:
        return exponent(rate.claimed_high)
    return f"{exponent(rate.claimed_low)} to {exponent(rate.claimed_high)}"


def rate_text(rate: Model) -> str:
    """ "exponent in n: claimed −2/3, measured −0.674 [−0.678, −0.672]" """
    start = f"exponent in {rate.axis}: " + (f"claimed {claimed(rate)}" if is_claimed(rate) else "none claimed")
    if rate.value is None:
        return start + ", no slope"
    return f"{start}, measured {signed(rate.value)} {interval(rate.low, rate.high)}"


def parts_of(rate: Model) -> str:
    """What its headline word is made of: "Exponent: as claimed; bound: below the promise" """
    return "; ".join(f"{part}: {said}" for part, said in (("Exponent", rate.verdict), ("bound", rate.bound)) if said)


def power_of_ten(e: int) -> str:
    return "10" + str(e).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def short_number(v: float) -> str:
    """ "0.00120", "3.2·10⁵" """
    if math.isnan(v):
        return "–"
    if math.isinf(v):
        return "∞" if v > 0 else "−∞"
    if v == 0:
        return "0"
    e = math.floor(math.log10(abs(v)) + 1e-12)
    if -3 <= e < 5:
        whole = abs(v - round(v)) < 1e-9 * abs(v)
        return minus(f"{v:.0f}" if whole else f"{v:.{max(0, 2 - e)}f}")
    mantissa = v / 10.0 ** e
    if abs(mantissa - 1) < 1e-9:
        return power_of_ten(e)
    return minus(f"{mantissa:.3g}·{power_of_ten(e)}")


def decimal(value: float, form: Model) -> tuple[str, Optional[int]]:
    """Mantissa with its sign, and the power of ten if it is written with one."""
    if value == 0:
        return "0", None
    mantissa, e = f"{abs(value):.{form.digits - 1}e}".split("e")
    sign = "−" if value < 0 else ""
    if form.scientific or int(e) < -4 or int(e) >= form.digits:
        return sign + mantissa, int(e)
    return f"{sign}{abs(value):.{form.digits - 1 - int(e)}f}", None


def number(value: float, form: Model) -> Markup:
    """A number of a table."""
    mantissa, e = decimal(value, form)
    return Markup(mantissa if e is None else f"{mantissa}×10<sup>{minus(str(e))}</sup>")


def plain_number(value: float, form: Model) -> str:
    mantissa, e = decimal(value, form)
    return mantissa if e is None else f"{mantissa}e{e}"


# --- running text -----------------------------------------------------------------------------------------------------

SCRIPT = re.compile(r"([_^])\{([^}]*)\}")
NAME = re.compile(r"[\w/.-]*\w|.", re.ASCII | re.DOTALL)
ERRATUM = re.compile(r"[A-Z]\d{1,2}")


def clean(text: str) -> str:
    """Without control characters."""
    return re.sub(r"[\x00-\x1f]", " ", text)


def scripts(markup: str, subscript: str = "<sub>{}</sub>", superscript: str = "<sup>{}</sup>") -> Markup:
    """With its scripts as elements."""
    return Markup(SCRIPT.sub(lambda m: (subscript if m[1] == "_" else superscript).format(m[2]),
                             str(escape(clean(markup)))))


def svg_scripts(markup: str) -> Markup:
    """The same for a drawing, which has no sub and sup."""
    piece = '<tspan dy="{0}" font-size="75%">{{}}</tspan><tspan dy="{1}">\u200b</tspan>'
    return scripts(markup, piece.format("3", "-3"), piece.format("-4", "4"))


def breakable(name: str) -> Markup:
    """A name that a narrow page may break after its slash."""
    return Markup("/<wbr>").join(name.split("/"))


def flat(markup: str) -> str:
    """Without markup: "λ_min"; a script that is more than a word or a number keeps its braces."""
    return SCRIPT.sub(lambda m: m[1] + (f"{{{m[2]}}}" if re.search(r"[ _^+/,=]", m[2]) else m[2]), markup)


class Texts:
    """Texts of the page at the address `here`."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.addresses = addresses
        self.here = ""

    def link(self, address: str) -> str:
        """An address of the report as seen from here."""
        if not address or address.startswith("#"):
            return address
        return "../" * self.here.count("/") + address

    def address_of_claim(self, name: str) -> str:
        """Of a claim, which an exhibit may share its id with."""
        return self.addresses.get(f"claim {name}") or self.addresses.get(name, "")

    def href_of_claim(self, name: str) -> str:
        address = self.address_of_claim(name)
        return "" if address == self.here else self.link(address)

    def prose(self, markup: str) -> Markup:
        """With scripts, code, and a link wherever it names what has a page."""
        return self._with_code(markup, self._linked, self.href_of)

    def plain(self, markup: str) -> Markup:
        """The same without links."""
        return self._with_code(markup, scripts, lambda name: "")

    def href_of(self, name: str) -> str:
        """A link to what has this name; none on its own page."""
        address = self.addresses.get(name, "")
        return "" if address == self.here else self.link(address)

    def _with_code(self, markup: str, text: Callable[[str], Markup], target: Callable[[str], str]) -> Markup:
        parts = markup.split("`")
        if len(parts) % 2 == 0:  # the last one is literal
            parts[-2:] = ["`".join(parts[-2:])]
        return Markup("").join(text(part) if k % 2 == 0 else self.code(part, target(part))
                               for k, part in enumerate(parts))

    def code(self, name: str, address: str) -> Markup:
        content = Markup("<code>{}</code>").format(clean(flat(name)))
        return Markup('<a href="{}">{}</a>').format(address, content) if address else content

    def _linked(self, markup: str) -> Markup:
        out, pending, of_errata = [], "", False
        for m in NAME.finditer(markup):
            name = m[0]
            if name in ";:":
                of_errata = False
            elif name.startswith("errat"):
                of_errata = True
            # Ids of errata are short: but for letters that nothing else has, only after the word.
            telling = (of_errata or name[0] in "XWZ") if ERRATUM.fullmatch(name) else re.search(r"[/\d-]", name)
            address = self.href_of(name) if telling else ""
            if address:
                out += [scripts(pending), Markup('<a href="{}">{}</a>').format(address, name)]
                pending = ""
            else:
                pending += name
        return Markup("").join([*out, scripts(pending)])

    def markdown(self, source: str, formulas: Mapping[str, str]) -> Markup:
        return Document(self, source, formulas).html()


def quotation(source: str, formulas: Mapping[str, str]) -> Markup:
    """With its formulas, LaTeX between $, as MathML."""
    return Markup("").join(escape(clean(part)) if k % 2 == 0 else Markup(formulas.get(part, escape(part)))
                           for k, part in enumerate(source.replace("$$", "$").split("$")))


class Document:
    """A page of Markdown: the title is left out, links are their texts, `###` and rows of tables have anchors."""

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    hidden = "\ue000"  # an underscore that begins a script and no emphasis

    def __init__(self, texts: Texts, source: str, formulas: Mapping[str, str]) -> None:
        self.texts, self.formulas = texts, formulas
        self.lines = source.split("\n")
        self.ids: set[str] = set()
        self.tree = SyntaxTreeNode(self.parser.parse(source.replace("_{", self.hidden + "{")))
        self.open_levels: list[int] = []  # of the headings that the next one may stand below

    def html(self) -> Markup:
        return Markup("").join(self._block(node) for node in self.tree.children)

    def _block(self, node: SyntaxTreeNode) -> Markup:
        if node.type == "heading":
            return self._heading(node)
        if node.type == "paragraph":
            return Markup("").join(map(Markup("<p>{}</p>").format, self._parts(node.children[0])))
        if node.type == "bullet_list":
            items = (Markup("<li>{}</li>").format(self._inside(item)) for item in node.children)
            return Markup("<ul>{}</ul>").format(Markup("").join(items))
        if node.type == "blockquote":
            start, end = node.map or (0, 0)
            said = " ".join(line.lstrip("> ") for line in self.lines[start:end]).strip()
            return Markup("<blockquote>{}</blockquote>").format(quotation(said, self.formulas))
        if node.type == "table":
            return self._table(node)
        if node.type in ("fence", "code_block"):
            return Markup("<pre><code>{}</code></pre>").format(node.content)
        raise ValueError(f"markdown has a {node.type}, which pages do not show")

    def _inside(self, node: SyntaxTreeNode) -> Markup:
        """What an item of a list or a cell holds, which is no paragraph of its own."""
        return Markup(" ").join(self._inline(n.children[0]) if n.type == "paragraph" else self._block(n)
                                for n in node.children)

    def _heading(self, node: SyntaxTreeNode) -> Markup:
        level = int(node.tag[1])
        if level == 1:
            return Markup("")
        title = self._inline(node.children[0])
        self.open_levels = [above for above in self.open_levels if above < level] + [level]
        return Markup("<h{0}{1}>{2}</h{0}>").format(
            1 + len(self.open_levels), self._anchor(node.children[0].content, 4 if level == 3 else 0), title)

    def _anchor(self, title: str, longest: int) -> Markup:
        name = title.split(" ")[0]
        if not 0 < len(name) <= longest or name in self.ids:
            return Markup("")
        self.ids.add(name)
        return Markup(' id="{}"').format(name)

    def _table(self, node: SyntaxTreeNode) -> Markup:
        rows = []
        for part in node.children:
            cells = [[self._cell(cell, k == 0) for k, cell in enumerate(row.children)] for row in part.children]
            lines = Markup("").join(Markup("<tr>{}</tr>").format(Markup("").join(row)) for row in cells)
            rows.append(Markup("<{0}>{1}</{0}>").format(part.tag, lines))
        return Markup('<div class="tw"><table class="t errata">{}</table></div>').format(Markup("").join(rows))

    def _cell(self, node: SyntaxTreeNode, first: bool) -> Markup:
        inline = node.children[0]
        if node.tag == "th":
            return Markup('<th scope="col">{}</th>').format(self._inline(inline))
        name = inline.content if first and " " not in inline.content else ""
        return Markup("<td{}>{}</td>").format(self._anchor(name, 3), self._inline(inline))

    def _parts(self, node: SyntaxTreeNode) -> list[Markup]:
        """Paragraphs: a line that begins in bold begins one."""
        parts: list[list[SyntaxTreeNode]] = [[]]
        children = [c for c in node.children if c.type != "text" or c.content]
        for child, after in zip(children, [*children[1:], None]):
            if child.type == "softbreak" and after is not None and after.type == "strong":
                parts.append([])
            else:
                parts[-1].append(child)
        return [self._spans(part) for part in parts]

    def _inline(self, node: SyntaxTreeNode) -> Markup:
        return self._spans(node.children)

    def _spans(self, nodes: Sequence[SyntaxTreeNode]) -> Markup:
        return Markup("").join(map(self._span, nodes))

    def _span(self, node: SyntaxTreeNode) -> Markup:
        content = node.content.replace(self.hidden, "_") if not node.children else ""
        if node.type == "text":
            return self.texts.prose(content)
        if node.type == "code_inline":
            return self.texts.code(content, self.texts.href_of(content))
        if node.type == "softbreak":
            return Markup(" ")
        if node.type == "hardbreak":
            return Markup("<br>")
        if node.type in ("strong", "em"):
            return Markup("<{0}>{1}</{0}>").format("b" if node.type == "strong" else "em", self._spans(node.children))
        if node.type == "link":
            return self._spans(node.children)
        raise ValueError(f"markdown has a {node.type}, which pages do not show")
