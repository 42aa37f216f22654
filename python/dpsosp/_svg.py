# SPDX-License-Identifier: Apache-2.0
"""SVG as matplotlib writes it with outlines for letters, in an eighth of the bytes and looking the same. Texts are texts, each
of the length that it was laid out with, in whatever font; a style is stated once; points are relative, in hundredths."""
from __future__ import annotations

import re
import string
import xml.etree.ElementTree as ET
from typing import Iterable, Iterator, NoReturn
from xml.sax.saxutils import escape

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
KNOWN = {f"{SVG}g": {"id", "style", "transform", "clip-path"}, f"{SVG}path": {"id", "d", "style", "clip-path"},
         f"{SVG}use": {"x", "y", "style", "transform", LINK}, f"{SVG}rect": {"x", "y", "width", "height"}}
FONTS = '"DejaVu Sans",Verdana,Geneva,sans-serif'  # the second is as wide as the first
LETTER = re.compile(r"#DejaVuSans(-Bold)?-([0-9a-f]+)")
TEXT = re.compile(r"translate\((\S+) (\S+)\)(?: (rotate\(\S+\)))? scale\((\S+) -\4\)")
PLACE = re.compile(r"translate\((\S+) (\S+)\)(?: scale\((\S+)\))?")
SHORT = 3  # letters of a text that may have the length of its font


def small(svg: str) -> str:
    """The same drawing; `svg` itself where it has what is not known here."""
    try:
        return _Drawing(ET.fromstring(svg.split(".dtd\">", 1)[-1])).text
    except (ValueError, KeyError):
        return svg


class _Drawing:
    def __init__(self, root: ET.Element) -> None:
        self.named = {e.get("id"): e for e in root.iter() if e.get("id")}
        self.names: dict[str, str] = {}  # here, by those of matplotlib
        self.classes: dict[str, str] = {}  # by style
        self.widths: dict[str, float] = {}
        self.defined: list[str] = []
        body = "".join(self._merged(e for child in root if child.tag == f"{SVG}g" for e in self._flat(child)))
        style = f"*{{stroke-linejoin:round}}text{{font-family:{FONTS}}}" + "".join(
            f".{name}{{{style}}}" for style, name in self.classes.items())
        words = "".join(f"<{name}>{escape(found)}</{name}>" for name, found in (
            ("title", root.findtext(f"{SVG}title")), ("desc", root.findtext(".//{*}description"))) if found)
        size = " ".join(f'{name}="{root.attrib[name]}"' for name in ("width", "height", "viewBox"))
        self.text = (f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{words}<style>{style}</style>'
                     f"<defs>{''.join(self.defined)}</defs>{body}</svg>\n")

    def _flat(self, e: ET.Element) -> Iterator[ET.Element]:
        """What is drawn, without the groups that only have names."""
        if e.tag != f"{SVG}g" or set(e.keys()) - {"id"}:
            yield e
        for child in e if e.tag == f"{SVG}g" and not set(e.keys()) - {"id"} else ():
            yield from self._flat(child)

    def _merged(self, elements: Iterable[ET.Element]) -> Iterator[str]:
        """Lines of one opaque style that follow each other are one path."""
        last, lines = "", ""
        for e in elements:
            look, style = self._look(e), e.get("style", "")
            is_line = e.tag == f"{SVG}path" and "fill: none" in style and "opacity" not in style
            if lines and not (is_line and look == last):
                yield f'<path d="{lines}"{last}/>'
                lines = ""
            if is_line:
                last, lines = look, lines + _path(e.attrib["d"])
            elif e.tag != f"{SVG}defs":
                yield self._element(e, look)
        if lines:
            yield f'<path d="{lines}"{last}/>'

    def _element(self, e: ET.Element, look: str) -> str:
        if e.tag == f"{SVG}path":
            return f'<path d="{_path(e.attrib["d"])}"{look}/>'
        if e.tag == f"{SVG}use":
            return f'<use href="#{self._name(e.attrib[LINK][1:])}"{_box(e, "x", "y")}{look}/>'
        if not e.get("transform"):
            return f"<g{look}>{''.join(self._merged(each for child in e for each in self._flat(child)))}</g>"
        return "".join(self._texts(e))

    def _texts(self, e: ET.Element) -> Iterator[str]:
        """Letters of one size on one line are one text."""
        place = TEXT.fullmatch(e.get("transform", ""))
        left, top, size = (float(place[k]) for k in (1, 2, 4)) if place else _refuse(e.tag)
        lines: list[tuple[tuple, list]] = []  # height, scale, weight; letters with their places and widths
        for use in e.iter(f"{SVG}use"):
            letter, at = LETTER.fullmatch(use.attrib[LINK]), PLACE.fullmatch(use.get("transform", "translate(0 0)"))
            if letter is None or at is None:
                _refuse(str(use.attrib))
            x, y = (float(use.get(k, "0")) + float(at[i]) for k, i in (("x", 1), ("y", 2)))
            line = (y, float(at[3] or 1), letter[1])
            if not lines or lines[-1][0] != line:
                lines.append((line, []))
            lines[-1][1].append((x, chr(int(letter[2], 16)), self._width(use.attrib[LINK][1:])))
        for (y, scale, bold), letters in lines:
            said = "".join(letter for _, letter, _ in letters)
            first, end = len(said) - len(said.lstrip()), len(said.rstrip())
            if not said.strip():
                continue
            x, wide = letters[first][0], letters[end - 1][0] - letters[first][0] + scale * letters[end - 1][2]
            at = f' x="{_n(left + x * size)}" y="{_n(top - y * size)}"'
            if place[3]:
                at = f' transform="translate({place[1]} {place[2]}){place[3]}" x="{_n(x * size)}" y="{_n(-y * size)}"'
            length = f' textLength="{_n(wide * size)}"' if end - first > SHORT else ""
            style = re.sub(r"([:;]) ", r"\1", e.get("style", "")) + f";font-size:{_n(100 * size * scale)}px"
            style += ";font-weight:bold" if bold else ""
            yield f"<text{at}{length}{self._class(style.strip(';'))}>{escape(said.strip())}</text>"

    def _width(self, name: str) -> float:
        """Of a letter, in hundredths of its size, by its outline."""
        if name not in self.widths:
            points = re.findall(r"[\d.-]+", self.named[name].get("d", ""))
            self.widths[name] = max(map(float, points[::2]), default=0) / 64 + 8
        return self.widths[name]

    def _look(self, e: ET.Element) -> str:
        if set(e.keys()) - KNOWN.get(e.tag, set()) or "url" in e.get("style", ""):
            if e.tag != f"{SVG}defs":
                _refuse(e.tag)
        clip = re.fullmatch(r"url\(#(.*)\)", e.get("clip-path", ""))
        return self._class(re.sub(r"([:;]) ", r"\1", e.get("style", "")),
                           f"clip-path:url(#{self._name(clip[1])})" if clip else "")

    def _class(self, *styles: str) -> str:
        names = [self.classes.setdefault(style, _letters(len(self.classes))) for style in styles if style]
        return f' class="{" ".join(names)}"' if names else ""

    def _name(self, name: str) -> str:
        """Of a mark or a clip path, which is defined when it is first named."""
        if name not in self.names:
            short = self.names[name] = _letters(len(self.names))
            e = self.named[name]
            if e.tag == f"{SVG}clipPath" and [child.tag for child in e] == [f"{SVG}rect"]:
                inside = f'<rect{_box(e[0], "x", "y", "width", "height")}{self._look(e[0])}/>'
                self.defined.append(f'<clipPath id="{short}">{inside}</clipPath>')
            elif e.tag == f"{SVG}path":
                self.defined.append(f'<path id="{short}" d="{_path(e.attrib["d"])}"{self._look(e)}/>')
            else:
                _refuse(e.tag)
        return self.names[name]


def _refuse(what: str) -> NoReturn:
    raise ValueError(what)


def _letters(k: int) -> str:
    """a … z, A … Z, a1 …"""
    return string.ascii_letters[k % 52] + (str(k // 52) if k >= 52 else "")


def _n(number: float) -> str:
    """To a hundredth, without what need not be said."""
    shown = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if shown in ("-0", "0") else re.sub(r"^(-?)0\.", r"\1.", shown)


def _box(e: ET.Element, *sides: str) -> str:
    return "".join(f' {side}="{_n(float(e.get(side, "0")))}"' for side in sides)


def _path(d: str) -> str:
    """A path of M, L, Q, C and z with relative points."""
    out: list[str] = []
    last = ""
    here = start = [0, 0]
    words = iter(d.split())
    for command in words:
        count = {"M": 2, "L": 2, "Q": 4, "C": 6, "z": 0}[command]
        p = [round(100 * float(next(words))) for _ in range(count)]
        if command == "M":
            start = p
        else:
            command = command.lower()
        numbers = p if command == "M" else [v - here[k % 2] for k, v in enumerate(p)]
        if command == "l" and 0 in numbers and numbers != [0, 0]:
            command = "v" if numbers[0] == 0 else "h"
            numbers = [v for v in numbers if v]
        text = "" if command == last and command != "M" else command
        for v in numbers:
            shown = _n(v / 100)
            text += shown if text[-1:].isalpha() or shown[0] == "-" else f" {shown}"
        out.append(text)
        last, here = command, p[-2:] or start
    return "".join(out)
