# SPDX-License-Identifier: Apache-2.0
"""How a table is set on a page: headline words stand in the second column, long texts below their row, and so do the
columns that a page is too narrow for."""
from __future__ import annotations

from types import SimpleNamespace as Model
from typing import Iterator, Optional, Sequence

from .text import flat, plain_number, word_class

LONG_TEXT = 44  # longer ones stand below their row
PAGE = 158  # what fits beside each other, in characters of a table's size and their spaces
EMPTY = "–"


def layout(table: Model) -> Model:
    """The columns that stand side by side; below each row its long texts, each in a line, and what else is too wide.

    Columns of one group stand together, but for words.
    """
    columns = _columns(table)
    labels = [len(flat(row.label)) for row in _rows(table)]
    width = max([_longest_word(table.row_header), *(min(n, 34) for n in labels)]) + 2
    beside: list[Model] = []
    more: list[Model] = []
    for c in [c for c in columns if c.word] + [c for c in columns if not c.word and not c.below]:
        width += 14 if c.word and c.below else c.width
        (more if more or beside and width > PAGE else beside).append(c)
    while more and more[0].group and beside[-1].group == more[0].group != beside[0].group and not beside[-1].word:
        more.insert(0, beside.pop())
    return Model(columns=beside, below=_below(columns), more=more)


def heads(columns: Sequence[Model]) -> list[Model]:
    """Cells of the upper row of heads, each with the columns below it if it has a group's label."""
    found: list[Model] = []
    for c in columns:
        if found and c.group and found[-1].group == c.group:
            found[-1].columns.append(c)
        else:
            found.append(Model(group=c.group, columns=[c]))
    return found


def said(row: Model, columns: Sequence[Model]) -> list[tuple[Model, Model]]:
    """Those in which the row says something, with its cells."""
    cells = [(c, row.cells[c.index]) for c in columns]
    return [(c, cell) for c, cell in cells
            if cell.content not in (None, "", EMPTY) or cell.labels and not c.below]


def notes(table: Model) -> list[str]:
    """Those of the table, and one on what medians mean where some runs failed."""
    partly = any(is_spread(c) and c.content.failed > 0 and has_median(c.content) for r in _rows(table) for c in r.cells)
    return table.notes + (["Where runs failed, median and range are over the runs that finished, so they are a "
                           "favourable selection."] if partly else [])


def sort_value(cell: Model) -> Optional[str]:
    """By which a table is sorted, where the text is no plain number."""
    if is_number(cell):
        value, form = cell.content.value, cell.content.format
    elif is_spread(cell) and has_median(cell.content):
        value, form = cell.content.median, cell.content.format
    else:
        return None
    return f"{value:.6g}" if "e" in plain_number(value, form) else None


def is_number(cell: Model) -> bool:
    return hasattr(cell.content, "value")


def is_spread(cell: Model) -> bool:
    return hasattr(cell.content, "median")


def has_median(spread: Model) -> bool:
    return spread.failed < spread.count


def failure(spread: Model) -> str:
    return f"{spread.failed} of {spread.count} failed: {spread.failure}" if spread.failed else ""


def mark(index: int) -> str:
    """0 → "a", 25 → "z", 26 → "aa"."""
    letters = ""
    index += 1
    while index > 0:
        letters = chr(ord("a") + (index - 1) % 26) + letters
        index = (index - 1) // 26
    return letters


def _rows(table: Model) -> Iterator[Model]:
    for group in table.row_groups:
        yield from group.rows


def _columns(table: Model) -> list[Model]:
    named = [(group.label, label) for group in table.column_groups for label in group.columns]
    columns = []
    for k, (group, label) in enumerate(named):
        cells = [row.cells[k] for row in _rows(table)]
        c = Model(index=k, group=group, label=label,
                  numeric=any(is_number(cell) or is_spread(cell) for cell in cells) or _counts(cells),
                  below=any(isinstance(cell.content, str) and len(cell.content) > LONG_TEXT for cell in cells),
                  word=any(word_class(label.text.split(" (")[0]) for cell in cells for label in cell.labels),
                  width=max(_longest_word(label), 3))
        if not c.below:
            c.width = max([c.width, *map(_width, cells)]) + 2
        columns.append(c)
    return columns


def _counts(cells: Sequence[Model]) -> bool:
    """Whether all are whole numbers, or missing."""
    texts = {cell.content for cell in cells if isinstance(cell.content, str)} - {EMPTY, ""}
    return bool(texts) and all(text.isdecimal() for text in texts)


def _below(columns: Sequence[Model]) -> list[Model]:
    """The columns whose texts stand below their row; a lone one has no heading there."""
    found = [c for c in columns if c.below]
    for c in found:
        c.headed = len(found) > 1 or c.word
    return found


def _width(cell: Model) -> int:
    """Of its longest line."""
    width = 1
    if isinstance(cell.content, str):
        width = len(flat(cell.content))
    elif is_number(cell):
        width = len(plain_number(cell.content.value, cell.content.format))
    elif is_spread(cell):
        s = cell.content
        ends = len(plain_number(s.low, s.format)) + len(plain_number(s.high, s.format)) + 4
        width = max(ends, 22 if s.failed else 0)
    return max([width, *(len(label.text) + 3 for label in cell.labels)])


def _longest_word(label: str) -> int:
    return max(map(len, flat(label).split(" ")))
