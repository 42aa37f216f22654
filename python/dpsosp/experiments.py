# SPDX-License-Identifier: Apache-2.0
"""The experimenter's side: the program `dpsosp`, its JSON and its stores. Nothing is computed here.

    import dpsosp
    result = dpsosp.run("abadi-2016/dp-sgd", "double-well", records=1000, epsilon=1, delta=1e-6)
    result["output"]["sosp_level"]
    dpsosp.sweep("mine.toml", out="out")
    dpsosp.frame("out/mine")                # pandas: a row a run, with part and arm
    dpsosp.figures("out/mine")["figure-n"]  # as the program drew it; a notebook shows it

The program is the one that the environment variable DPSOSP names, else `dpsosp` of PATH.
"""
from __future__ import annotations

import contextlib
import csv
import dataclasses
import difflib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
from typing import Any, Mapping, Optional, Sequence, Union

Path = Union[str, "os.PathLike[str]"]


class Failed(RuntimeError):
    """What the program refused or could not do: its line, below the last lines of an algorithm that is a program and
    failed, and its exit code as `code`."""

    def __init__(self, line: str, code: int) -> None:
        super().__init__(line)
        self.code = code


def program() -> str:
    """The path of the program. Raises Failed where there is none."""
    found = os.environ.get("DPSOSP") or shutil.which("dpsosp")
    if not found:
        raise Failed("dpsosp is not on PATH; set the environment variable DPSOSP to its path", 2)
    return found


def _call(*words: Any, verdict: bool = False) -> str:
    done = subprocess.run([program(), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0 and not (verdict and done.returncode == 1 and done.stdout):
        raise Failed(done.stderr.strip() or done.stdout.strip(), done.returncode)
    if "--show-output" in words:
        print(done.stderr, end="", file=sys.stderr)
    return done.stdout


def _options(**options: Any) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(str(value))
    return words


def _settings(settings: Optional[Mapping[str, Any]], prefix: str = "") -> list[str]:
    words: list[str] = []
    for name, value in (settings or {}).items():
        words += ["--set", f"{prefix}{name}={_text(value)}"]
    return words


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Problem:
    """A problem with settings, which run, certify, check and audit take in place of a name; without one, a table of
    your own with a loss, as

        Problem(data="visits.csv", loss="max(t, 0) + log1p(exp(-abs(t))) - y*t", regulariser=0.1, penalty="t^2")

    `str` of it are the lines for an arm of a sweep's file. The program reads the table: no record comes to Python.
    """

    def __init__(self, name: str = "own-glm", **settings: Any) -> None:
        self.name, self.settings = name, settings
        data = settings.get("data")
        if data is not None and not str(data).startswith("sha256:"):
            settings["data"] = os.path.abspath(data)

    def __str__(self) -> str:
        values = ", ".join(f"{json.dumps(k)} = {json.dumps(_text(v))}" for k, v in self.settings.items())
        return f"problem = {json.dumps(self.name)}\nproblem_settings = {{ {values} }}"


def _named(problem: Union[str, Problem], settings: Optional[Mapping[str, Any]] = None) -> tuple[str, list[str]]:
    """The name of a problem and the words that set it."""
    if isinstance(problem, Problem):
        return problem.name, _settings({**problem.settings, **(settings or {})}, "problem.")
    return problem, _settings(settings, "problem.")


def run(algorithm: Path, problem: Union[str, Problem], *, epsilon: float, delta: float,
        settings: Optional[Mapping[str, Any]] = None, problem_settings: Optional[Mapping[str, Any]] = None,
        **options: Any) -> dict[str, Any]:
    """One private run, as `dpsosp run --json`. `algorithm` may be the path of a program's card.

    Further options are those of the command: records, dimension, seed, data_seed, noise, calibrator,
    observations, trace, release, threads; show_output prints what a program wrote.
    """
    name, of_problem = _named(problem, problem_settings)
    words = _options(algorithm=os.fspath(algorithm), problem=name, epsilon=epsilon, delta=delta, **options)
    return json.loads(_call("run", "--json", *words, *_settings(settings), *of_problem))


def certify(problem: Union[str, Problem], point: Union[str, Sequence[float]] = "initial", *,
            problem_settings: Optional[Mapping[str, Any]] = None, **options: Any) -> dict[str, Any]:
    """The certificate of a point: `initial`, `origin`, or d numbers."""
    text = point if isinstance(point, str) else json.dumps([float(x) for x in point])
    name, of_problem = _named(problem, problem_settings)
    return json.loads(_call("certify", "--json", *_options(problem=name, point=text, **options), *of_problem))


def check(what: Union[str, Problem], **options: Any) -> dict[str, Any]:
    """Derivatives, clipping and constants of a problem, or progress and budget of an algorithm; `passed` is the verdict."""
    name, of_problem = _named(what)
    return json.loads(_call("check", name, "--json", *_options(**options), *of_problem, verdict=True))[0]


def audit(algorithm: Path, problem: Union[str, Problem, None] = None, **options: Any) -> dict[str, Any]:
    """Attacks on an algorithm's claim of privacy. On a problem that is named: record and replay, with `passed`."""
    name, of_problem = _named(problem) if problem is not None else (None, [])
    words = _options(algorithm=os.fspath(algorithm), problem=name, **options)
    return json.loads(_call("audit", "--json", *words, *of_problem, verdict=True))


def account(**options: Any) -> dict[str, Any]:
    """Epsilon of a sequence of mechanisms: the options of `dpsosp account`."""
    return json.loads(_call("account", "--json", *_options(**options)))


def calibrate(*, epsilon: float, delta: float, steps: int, mechanism: str = "gaussian",
              **options: Any) -> dict[str, Any]:
    """The noise for a target: `dpsosp account --calibrate`."""
    return json.loads(_call("account", "--json", *_options(mechanism=mechanism, calibrate=True, epsilon=epsilon,
                                                           delta=delta, steps=steps, **options)))


def sweep(file: Path, *, out: Path = "out", **options: Any) -> list[pathlib.Path]:
    """Computes the missing runs of a sweep. The files that it wrote."""
    text = _call("sweep", os.fspath(file), *_options(out=os.fspath(out), quiet=True, **options))
    return [pathlib.Path(line) for line in text.splitlines()]


def slopes(file: Path, *, out: Path = "out", **options: Any) -> list[dict[str, Any]]:
    """The slopes of a finished sweep, with intervals and verdicts."""
    return json.loads(_call("fit", os.fspath(file), "--json", *_options(out=os.fspath(out), **options)))


def listed(what: str) -> list[dict[str, Any]]:
    """algorithms, problems, exhibits or claims."""
    return json.loads(_call("list", what, "--json"))


def info() -> str:
    """Version, compiler, processor, libraries."""
    return _call("info")


_APPLICATION = 0x64707370  # that SQLite keeps in the head of a store
_OF_SWEEP = ("sweep", "part", "arm", "use")
_OF_RUN = ("key", "status", "reason")


def frame(path: Path, columns: Optional[Sequence[str]] = None) -> "Any":
    """Runs as a pandas frame: a column a number of description or result, as records or result.output.value.

    Of a store, a row a run. Of the folder of a sweep, as out/mine, a row for every run of every cell, with sweep,
    part, arm and use, which is tuning or result. `columns` reads these alone, in a small part of time and memory.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ImportError("No module named 'pandas', which dpsosp.frame needs: `apt install python3-pandas` or "
                          "`pip install pandas`", name="pandas") from None

    place = pathlib.Path(path)
    file = place.parent / "store.sqlite" if place.is_dir() else place
    if not file.is_file():
        raise Failed(f"{file} does not exist, expected a store", 2)
    cells = _cells_of(place) if place.is_dir() else None
    asked = None if columns is None else [c for c in columns if cells is None or c not in _OF_SWEEP]
    words, values = ("key, description, status, reason, result", []) if asked is None else _selection(asked)
    with contextlib.closing(_opened(file)) as connection:
        if cells is None:
            found = connection.execute(f"SELECT {words} FROM runs ORDER BY key", values)
        else:
            found = (row for cell in cells
                     for row in connection.execute(f"SELECT {words} FROM runs WHERE key = ?", [*values, cell["run"]]))
        rows = [_row(row) if asked is None else [_value(v) for v in row[:len(asked)]] for row in found]
        if cells is not None and len(rows) < len(cells):
            raise Failed(f"{file} lacks {len(cells) - len(rows)} of the {len(cells)} runs of {place}", 2)
        for name, of_runs in zip(asked or [], zip(*rows)):
            if all(v is None for v in of_runs) and name not in _OF_RUN:
                _refuse_column(connection, name)
    made = pandas.DataFrame(rows, columns=asked)
    for k, name in enumerate(_OF_SWEEP if cells is not None else ()):
        if columns is None or name in columns:
            made.insert(k if columns is None else list(columns).index(name), name, [cell[name] for cell in cells])
    return made


def _opened(file: pathlib.Path) -> sqlite3.Connection:
    """A store for reading alone, also where nothing may be written. Raises Failed for what is none."""
    uri = file.resolve().as_uri()

    def opened(how: str) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{uri}?{how}", uri=True)
        try:
            ours = connection.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        if not ours:
            connection.close()
            raise Failed(f"{file} is not a store of dpsosp", 2)
        return connection

    try:
        try:
            return opened("mode=ro")
        except sqlite3.OperationalError:
            # Readers of a write-ahead log write beside it; a store that nobody has open can do without.
            log = pathlib.Path(f"{file.resolve()}-wal")
            if log.exists() and log.stat().st_size > 0:
                raise Failed(f"{file} has runs in {file}-wal, which cannot be taken in where nothing may be written; "
                             "copy both files to a folder of your own", 2) from None
            return opened("immutable=1")
    except sqlite3.Error as e:
        raise Failed(f"{file} cannot be read as a store: {e}", 2) from None


def _cells_of(folder: pathlib.Path) -> list[dict[str, str]]:
    file = folder / "runs.csv"
    if not file.is_file():
        raise Failed(f"{folder} holds no runs.csv, expected the folder of a sweep", 2)
    with open(file, encoding="utf-8", newline="") as rows:
        return [{"sweep": folder.resolve().name, **row} for row in csv.DictReader(rows)]


def _selection(columns: Sequence[str]) -> tuple[str, list[str]]:
    """What SQLite selects, and the paths in it. A name may end in one with dots, as settings have."""
    words, paths = [], []
    for name in columns:
        if name in _OF_RUN:
            words.append(name)
            continue
        where, parts = ("result", name.split(".")[1:]) if name.startswith("result.") else ("description", name.split("."))
        ends = range(len(parts), 0, -1)
        words.append(f"COALESCE({', '.join(f'json_extract({where}, ?)' for _ in ends)}, NULL)")
        paths += ["$" + "".join(f'."{p}"' for p in [*parts[:k - 1], ".".join(parts[k - 1:])]) for k in ends]
    return ", ".join(words) or "key", paths


def _row(stored: Sequence[Any]) -> dict[str, Any]:
    key, description, status, reason, result = stored
    row: dict[str, Any] = {"key": key, "status": status, "reason": reason}
    _flatten(json.loads(description), "", row)
    if result:
        _flatten(json.loads(result), "result.", row)
    return row


def _value(stored: Any) -> Any:
    if isinstance(stored, str) and stored[:1] in ("[", "{"):
        return json.loads(stored)
    return float(stored) if stored in ("inf", "-inf", "nan") else stored


def _refuse_column(connection: sqlite3.Connection, name: str) -> None:
    if name.removeprefix("result.").startswith("trace."):
        raise Failed(f"no run has {name}; the trace is in column result.trace, of rows [t, value, gradient_norm, "
                     "lambda_min, sosp_level], from which sweeps make their metrics trace.*", 2)
    one = connection.execute("SELECT key, description, status, reason, result FROM runs ORDER BY status = 'failed' LIMIT 1")
    near = difflib.get_close_matches(name, _row(one.fetchone()), 1)
    raise Failed(f"no run has {name}" + (f", the nearest is {near[0]}" if near else ""), 2)


@dataclasses.dataclass(frozen=True)
class Figure:
    """A drawing that the program has made."""

    file: pathlib.Path

    def _repr_svg_(self) -> str:
        return self.file.read_text(encoding="utf-8")

    def save(self, to: Path) -> pathlib.Path:
        """A copy as .svg, or as .pdf where the program drew one (sweeps; `--print` in reports)."""
        target = pathlib.Path(to)
        source = self.file.with_suffix(target.suffix)
        if target.suffix not in (".svg", ".pdf") or not source.is_file():
            raise Failed(f"{target}: there is no {source.name}, expected a name in .svg or .pdf", 2)
        return pathlib.Path(shutil.copyfile(source, target))


def figures(folder: Path) -> dict[str, Figure]:
    """The figures of a folder that `sweep` or `reproduce` wrote, as out/mine, by their names."""
    place = pathlib.Path(folder)
    found = {file.stem: Figure(file) for file in sorted(place.glob("*.svg"))}
    if not found:
        raise Failed(f"{place} holds no figures, expected the folder of a sweep or an exhibit", 2)
    return found


def _flatten(value: Any, name: str, row: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _flatten(part, f"{name}{key}." if isinstance(part, dict) else f"{name}{key}", row)
    elif value in ("inf", "-inf", "nan"):
        row[name] = float(value)
    else:
        row[name] = value
