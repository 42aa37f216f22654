# SPDX-License-Identifier: Apache-2.0
"""The author's side: an algorithm in Python, which asks a curator and never sees a record.

    import dpsosp

    class Mine(dpsosp.Algorithm):
        parameters = {"steps": 100, "step_size": 0.1, "clip": 1.0}

        def plan(self, facts, budget):
            return [dpsosp.Planned(self.steps)]

        def run(self, curator, stream):
            x = curator.facts.initial_point.copy()
            for t in range(self.steps):
                self.show(t, x)
                x -= self.step_size * curator.gradient(x, curator.draw(), limit=self.clip, noise=self.noise)
            return x

    if __name__ == "__main__":
        dpsosp.serve(Mine)

docs/protocol.md has every question with its units. Vectors are float64 arrays.
"""
from __future__ import annotations

import dataclasses
import math
import operator
import os
import struct
import sys
import traceback
from typing import Any, Iterable, NoReturn, Optional, Sequence

try:
    import numpy as np
except ModuleNotFoundError as error:
    if error.name != "numpy":
        raise
    raise ImportError("No module named 'numpy', which dpsosp needs: `apt install python3-numpy` or `pip install numpy`",
                      name="numpy") from None

from ._wire import Channel, HostGone, decoded, encoded

VERSION = 3
Vector = np.ndarray


class Refused(Exception):
    """A question that was not answered, and charged nothing."""

    status = "budget"


class BudgetExhausted(Refused):
    """The charge would exceed the privacy budget."""


class DataExhausted(Refused):
    """No fresh records are left."""

    status = "data"


class InputError(ValueError):
    """A question or a parameter that makes no sense."""


class UnsupportedError(Exception):
    """What no proof covers."""


_ERRORS: dict[str, type[Exception]] = {"budget": BudgetExhausted, "data": DataExhausted,
                                       "input": InputError, "unsupported": UnsupportedError}


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"an array of shape {value.shape} of {value.dtype}"
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "..."


def _expect(expected: str, where: str, argument: str, value: Any) -> NoReturn:
    raise InputError(f"{where}: {argument} = {_shown(value)}, expected {expected}") from None


def _whole(where: str, argument: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        _expect("an integer", where, argument, value)


def _within(where: str, argument: str, value: Any, least: int, most: int, shown: str) -> int:
    whole = _whole(where, argument, value)
    if not least <= whole <= most:
        _expect(f"an integer in {shown}", where, argument, value)
    return whole


def _word(where: str, argument: str, value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        _expect("a printable text", where, argument, value)
    return value


def _real(where: str, argument: str, value: Any) -> float:
    try:
        if not isinstance(value, (str, bytes, bool)):
            return float(value)
    except (TypeError, ValueError):
        pass
    _expect("a number", where, argument, value)


def _vector_of(x: Any) -> Optional[Vector]:
    """What is a vector of real numbers, as float64; None: it is none."""
    try:
        given = np.asarray(x)
        if given.ndim == 1 and given.dtype.kind in "fiuO" and _odd(given) is None:
            return np.ascontiguousarray(given, dtype="<f8")
    except (TypeError, ValueError):
        pass
    return None


def _odd(given: Vector) -> Optional[int]:
    """The place of an entry that NumPy would make a number of, as NaN of None; None: there is none."""
    if given.dtype.kind != "O":
        return None
    return next((k for k, entry in enumerate(given) if entry is None or isinstance(entry, (str, bytes))), None)


def _floats(where: str, argument: str, x: Any) -> bytes:
    vector = _vector_of(x)
    if vector is None:
        _refuse_odd(where, argument, x)
        _expect("a vector of real numbers", where, argument, x)
    return vector.tobytes()


def _refuse_odd(where: str, argument: str, x: Any) -> None:
    """Names the first entry that is no number."""
    try:
        given = np.asarray(x)
    except (TypeError, ValueError):  # nested lists of several lengths
        return
    place = _odd(given) if given.ndim == 1 else None
    if place is not None:
        _expect("a number", where, f"{argument}[{place}]", given[place])


@dataclasses.dataclass(frozen=True)
class Policy:
    """How a batch is drawn: all, fresh (size), sample (size) or poisson (rate)."""

    kind: str = "all"
    size: int = 0
    rate: float = 0.0


ALL = Policy()


def fresh(size: int) -> Policy:
    """The next `size` records that no batch had; public."""
    return Policy("fresh", _whole("fresh", "size", size))


def sample(size: int) -> Policy:
    """Exactly `size` records, uniform without replacement; secret."""
    return Policy("sample", _whole("sample", "size", size))


def poisson(rate: float) -> Policy:
    """Each record with probability `rate`; secret."""
    return Policy("poisson", 0, _real("poisson", "rate", rate))


@dataclasses.dataclass(frozen=True)
class Planned:
    """At most `count` queries of batches drawn by `policy`, all with the noise `self.noise`."""

    count: int
    policy: Policy = ALL
    several_queries: bool = False


@dataclasses.dataclass(frozen=True)
class Budget:
    epsilon: float
    delta: float
    calibrator: str


@dataclasses.dataclass(frozen=True)
class Constant:
    value: float
    origin: str
    region: str
    proof: str
    attained: float


@dataclasses.dataclass(frozen=True)
class Domain:
    kind: str
    radius: float


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is public of the problem."""

    name: str
    dimension: int
    records: int
    dual_kind: str
    dual_dimension: int
    feature_bound: float
    domain: Domain
    dual_domain: Domain
    initial_point: Vector
    initial_dual: Vector
    separable: bool
    constants: dict[str, Constant]

    def constant(self, name: str) -> float:
        """The value of a constant. Raises InputError where the problem does not state it."""
        if name not in self.constants:
            raise InputError(f"problem {self.name} states no `{name}`")
        return self.constants[name].value


@dataclasses.dataclass
class Outcome:
    """The end of a run: its output, why it ended (steps_done, certified, budget, data, cap), steps."""

    point: Vector
    status: str = "steps_done"
    steps: Optional[int] = None
    counts: dict[str, int] = dataclasses.field(default_factory=dict)


class _Parts:
    """Reads parts in their order."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self._parts = iter(parts)

    def one(self) -> Any:
        return next(self._parts)

    def vector(self) -> Vector:
        return np.frombuffer(self.one(), dtype="<f8").copy()

    def table(self) -> dict[str, str]:
        return {self.one(): self.one() for _ in range(self.one())}

    def domain(self) -> Domain:
        return Domain(self.one(), float(self.one()))

    def facts(self) -> Facts:
        head = [self.one() for _ in range(6)]
        domain, dual_domain = self.domain(), self.domain()
        point, dual = self.vector(), self.vector()
        separable = self.one()
        constants = {self.one(): Constant(float(self.one()), self.one(), self.one(), self.one(),
                                          float(self.one())) for _ in range(self.one())}
        return Facts(head[0], head[1], head[2], head[3], head[4], float(head[5]), domain, dual_domain,
                     point, dual, separable, constants)


def _vector(parts: Sequence[Any]) -> Vector:
    return np.frombuffer(parts[0], dtype="<f8").copy()


def _matrix(columns: int, data: bytes) -> Vector:
    return np.frombuffer(data, dtype="<f8").reshape(columns, -1).T.copy()


def _matrix_parts(where: str, argument: str, m: Any) -> tuple[int, bytes]:
    try:
        given = np.asarray(m)
    except (TypeError, ValueError):  # rows of several lengths
        given = np.empty(0)
    entries = _vector_of(given.T.ravel()) if given.ndim == 2 else None  # column by column
    if entries is None:
        _expect("a matrix of real numbers", where, argument, m)
    return given.shape[1], entries.tobytes()


class _Host:
    def __init__(self) -> None:
        self.channel = Channel()

    def ask(self, *parts: Any) -> list[Any]:
        return self.answer(self.channel.question(b"".join([encoded(part) for part in parts])))

    @staticmethod
    def answer(body: bytes) -> list[Any]:
        name, *answer = decoded(body)
        if name != "ok":
            raise _ERRORS.get(name, RuntimeError)(answer[0])
        return answer


class Batch:
    """What was drawn; who is in it stays with the curator."""

    def __init__(self, host: _Host, number: int, policy: Policy) -> None:
        self._host, self.number, self.policy = host, number, policy
        self._encoded = encoded(number)

    def __del__(self) -> None:
        self._host.channel.drop("drop_batch", self.number)


@dataclasses.dataclass(frozen=True)
class Noise:
    """Noise by its standard deviation, in the query's unit, in place of a multiple of sensitivity."""

    standard_deviation: float


NoiseLike = "float | Noise"


def _noise(where: str, noise: Any) -> tuple[str, float]:
    if isinstance(noise, Noise):
        return "standard_deviation", _real(where, "noise", noise.standard_deviation)
    return "sensitivity_ratio", _real(where, "noise", noise)


def _policy(where: str, policy: Policy) -> tuple[str, int, float]:
    return (_word(where, "policy.kind", policy.kind), _whole(where, "policy.size", policy.size),
            _real(where, "policy.rate", policy.rate))


def _number(where: str, batch: Any) -> int:
    if not isinstance(batch, Batch):
        _expect("what curator.draw() returned", where, "batch", batch)
    return batch.number


class Curator:
    """Holds the records and answers questions about them with noise.

    `noise` is the standard deviation over the sensitivity, or a `Noise`. `limit` clips each record.
    """

    def __init__(self, host: _Host, number: int, facts: Facts) -> None:
        self._host, self._number, self.facts = host, number, facts
        self._own = encoded(number)
        self._tails: dict[Any, bytes] = {}
        self._everyone: Optional[Batch] = None

    # What is left.

    def remaining(self) -> tuple[float, int, float]:
        """Shares of the budget and of the pure account that are left, and fresh records."""
        share, records, pure = self._host.ask("remaining", self._number)
        return float(share), records, float(pure)

    def fresh_records(self) -> int:
        return self._host.ask("fresh_records", self._number)[0]

    def label(self) -> str:
        return self._host.ask("label", self._number)[0]

    def answers_second_order(self) -> bool:
        return self._host.ask("answers_second_order", self._number)[0]

    # Batches and queries.

    def draw(self, policy: Policy = ALL, several_queries: bool = False) -> Batch:
        if not isinstance(policy, Policy):
            _expect("ALL, fresh(size), sample(size) or poisson(rate)", "draw", "policy", policy)
        if policy == ALL:  # public, so one answers any number of queries
            if self._everyone is None:
                self._everyone = self._drawn(policy, "one_query")
            return self._everyone
        return self._drawn(policy, "several_queries" if several_queries else "one_query")

    def _drawn(self, policy: Policy, use: str) -> Batch:
        (number,) = self._host.ask("draw", self._number, *_policy("draw", policy), use)
        return Batch(self._host, number, policy)

    def gradient(self, x: Any, batch: Batch, limit: float, noise: Any, y: Any = None,
                 block: str = "x") -> Vector:
        """The mean of the batch's clipped gradients, with noise."""
        name = "gradient"
        return self._fast(name, _GRADIENT + self._own,
                          [_floats(name, "x", x), _EMPTY if y is None else _floats(name, "y", y)],
                          batch, (limit, noise, block))

    def gradient_difference(self, x: Any, previous: Any, batch: Batch, limit: float, noise: Any,
                            y: Any = None, previous_y: Any = None, block: str = "x") -> Vector:
        """The mean of the clipped differences of each record's gradients at two points."""
        name = "gradient_difference"
        return self._fast(name, _DIFFERENCE + self._own,
                          [_floats(name, "x", x), _EMPTY if y is None else _floats(name, "y", y),
                           _floats(name, "previous", previous),
                           _EMPTY if previous_y is None else _floats(name, "previous_y", previous_y)],
                          batch, (limit, noise, block))

    def gradient_combination(self, gamma: float, x: Any, previous: Any, batch: Batch, limit: float,
                             difference_limit: float, noise: Any, block: str = "x") -> Vector:
        """gamma clip(grad(x)) + (1 - gamma) clip(grad(x) - grad(previous)), averaged."""
        name = "gradient_combination"
        return _vector(self._host.ask(name, self._number, _real(name, "gamma", gamma), _floats(name, "x", x), b"",
                                      _floats(name, "previous", previous), b"", _number(name, batch),
                                      _real(name, "limit", limit),
                                      _real(name, "difference_limit", difference_limit),
                                      *_noise(name, noise), _word(name, "block", block)))

    def hessian(self, x: Any, batch: Batch, limit: float, noise: Any, rank: int = 0) -> Vector:
        name = "hessian"
        return _matrix(*self._host.ask(name, self._number, _floats(name, "x", x), b"", _number(name, batch),
                                       _real(name, "limit", limit), _whole(name, "rank", rank),
                                       *_noise(name, noise)))

    def hessian_product(self, x: Any, v: Any, batch: Batch, limit: float, noise: Any) -> Vector:
        name = "hessian_product"
        return _vector(self._host.ask(name, self._number, _floats(name, "x", x), b"", _floats(name, "v", v),
                                      _number(name, batch), _real(name, "limit", limit), *_noise(name, noise)))

    def child(self, name: str, share: float = 1.0, records: Optional[tuple[int, int]] = None,
              initial_point: Any = None, suboptimality: Optional[float] = None, pure_share: Optional[float] = None,
              delta_extra_share: Optional[float] = None, pure: bool = False, projection: Any = None,
              cap: float = 2.0) -> "Curator":
        """A curator of a part of the budget, and of a range or a projection of the records."""
        if not isinstance(pure, (bool, np.bool_)):
            _expect("True or False", "child", "pure", pure)
        if records is not None and (not isinstance(records, (tuple, list)) or len(records) != 2):
            _expect("None or (begin, end)", "child", "records", records)
        spec: list[Any] = [_word("child", "name", name), _real("child", "share", share)]
        spec += [None, None] if records is None else [_whole("child", "records", end) for end in records]
        spec.append(None if initial_point is None else _floats("child", "initial_point", initial_point))
        for argument, value in (("suboptimality", suboptimality), ("pure_share", pure_share),
                                ("delta_extra_share", delta_extra_share)):
            spec.append(None if value is None else _real("child", argument, value))
        spec.append(bool(pure))
        spec += [None, None] if projection is None else [*_matrix_parts("child", "projection", projection),
                                                         _real("child", "cap", cap)]
        number, *facts = self._host.ask("child", self._number, *spec)
        return Curator(self._host, number, _Parts(facts).facts())

    # Sessions.

    def tree(self, sigma: float, leaves: int) -> "Tree":
        """Room for `leaves` sums. sigma: standard deviation of a node's noise per coordinate, in the unit of the pushed
        means, whatever their sensitivity."""
        return Tree(self, "drop_tree", self._host.ask("tree", self._number, _real("tree", "sigma", sigma),
                                                      _whole("tree", "leaves", leaves))[0])

    def hessian_stream(self, mode: str = "lazy") -> "HessianStream":
        return HessianStream(self, "drop_hessian_stream",
                             self._host.ask("hessian_stream", self._number, _word("hessian_stream", "mode", mode))[0])

    def session(self, question: str, batch: Optional[Batch], *parts: Any) -> "Session":
        """stationarity_test, line_search, exponential or gibbs; docs/protocol.md has the parts."""
        of = -1 if batch is None else _number(question, batch)
        number = self._host.ask(question, self._number, of, *parts)[0]
        return Session(self, f"drop_{question}", number)

    def _fast(self, name: str, head: bytes, points: list[bytes], batch: Batch, query: Any) -> Vector:
        _number(name, batch)
        try:
            tail = self._tails.get(query)
        except TypeError:  # arrays and lists are no keys
            _expect("numbers", name, "limit, noise", query[:2])
        if tail is None:
            limit, noise, block = query
            tail = b"".join(encoded(part) for part in (_real(name, "limit", limit), *_noise(name, noise),
                                                            _word(name, "block", block)))
            if len(self._tails) > 64:
                self._tails.clear()
            self._tails[query] = tail
        pieces = [head]
        for point in points:
            pieces += (_BYTES, _SIZE(len(point)), point)
        pieces += (batch._encoded, tail)
        channel = self._host.channel
        body = channel.question(b"".join(pieces))
        if body.startswith(b"\xa2ok"):
            return np.frombuffer(body, dtype="<f8", offset=3 + _HEADS[body[3]]).copy()
        return _vector(self._host.answer(body))


_EMPTY = b""
_BYTES = b"\xc6"
_SIZE = struct.Struct(">I").pack
_GRADIENT = encoded("gradient")
_DIFFERENCE = encoded("gradient_difference")
_HEADS = {0xC4: 2, 0xC5: 3, 0xC6: 5}


class Session:
    """What the curator keeps between questions of one kind."""

    def __init__(self, curator: Curator, drop: str, number: int) -> None:
        self._curator, self._host, self._drop, self.number = curator, curator._host, drop, number

    def ask(self, question: str, *parts: Any) -> list[Any]:
        return self._host.ask(question, self.number, *parts)

    def __del__(self) -> None:
        self._host.channel.drop(self._drop, self.number)


class Tree(Session):
    """Sums of queries with the noise of a binary tree."""

    def restart(self) -> None:
        self.ask("tree_restart")

    def gradient(self, x: Any, batch: Batch, limit: float, noise: Any = 0.0, block: str = "x") -> Vector:
        name = "tree_gradient"
        return _vector(self.ask(name, _floats(name, "x", x), b"", _number(name, batch),
                                _real(name, "limit", limit), *_noise(name, noise), _word(name, "block", block)))

    def difference(self, x: Any, previous: Any, batch: Batch, limit: float, noise: Any = 0.0,
                   block: str = "x") -> Vector:
        name = "tree_difference"
        return _vector(self.ask(name, _floats(name, "x", x), b"", _floats(name, "previous", previous), b"",
                                _number(name, batch), _real(name, "limit", limit), *_noise(name, noise),
                                _word(name, "block", block)))

    def leaves(self) -> int:
        return self.ask("tree_leaves")[0]


class HessianStream(Session):
    """Hessian products of a sum of batches."""

    def copy(self) -> "HessianStream":
        """The estimate of this moment, which goes on by itself."""
        return HessianStream(self._curator, self._drop, self.ask("hessian_stream_copy")[0])

    def refresh(self, x: Any, batch: Batch, limit: float) -> None:
        name = "hessian_stream_refresh"
        self.ask(name, _floats(name, "x", x), b"", _number(name, batch), _real(name, "limit", limit))

    def add(self, x: Any, previous: Any, batch: Batch, limit: float) -> None:
        name = "hessian_stream_add"
        self.ask(name, _floats(name, "x", x), b"", _floats(name, "previous", previous), b"", _number(name, batch),
                 _real(name, "limit", limit))

    def groups(self) -> int:
        return self.ask("hessian_stream_groups")[0]

    def product(self, v: Any, standard_deviation: float) -> Vector:
        name = "hessian_stream_product"
        return _vector(self.ask(name, _floats(name, "v", v), _real(name, "standard_deviation", standard_deviation)))


class Stream:
    """The algorithm's own random numbers, the same as in C++; drawn by the host, which keeps the key.

    Use no other: a run is a function of its answers and of this stream.
    """

    def __init__(self, host: _Host, path: tuple[int, ...] = ()) -> None:
        self._host, self._path, self._at = host, struct.pack(f"<{len(path)}Q", *path), 0
        self._indices = path

    def child(self, index: int) -> "Stream":
        return Stream(self._host, (*self._indices, _within("child", "index", index, 0, 2**64 - 1, "[0, 2^64)")))

    def words(self, count: int) -> Vector:
        """Uniform words of 64 bits."""
        return self._take("words", "words", count, "<u8")

    def uniform(self, count: int) -> Vector:
        """On the midpoints of (0, 1)."""
        return ((self.words(count) >> np.uint64(12)).astype("<f8") + 0.5) * 2.0**-52

    def normal(self, count: int) -> Vector:
        """Standard normal."""
        return self._take("normal", "normals", count, "<f8")

    def below(self, count: int) -> int:
        """Uniform on 0, ..., count - 1."""
        count = _within("below", "count", count, 1, 2**63 - 1, "[1, 2^63)")
        while True:
            product = int(self.words(1)[0]) * count
            low = product & (2**64 - 1)
            if low >= count or low >= (2**64 - count) % count:
                return product >> 64

    def ball(self, radius: float, dimension: int) -> Vector:
        """Uniform in the ball around 0, as the host computes it."""
        length = _real("ball", "radius", radius)
        if not 0.0 <= length < math.inf:
            _expect("a finite number >= 0", "ball", "radius", radius)
        dimension = _within("ball", "dimension", dimension, 1, 2**20, "[1, 2^20]")
        (data,) = self._host.ask("ball", self._path, self._at, length, dimension)
        self._at += dimension + 1
        return np.frombuffer(data, dtype="<f8").copy()

    def _take(self, where: str, question: str, count: int, kind: str) -> Vector:
        pieces = []
        count = _within(where, "count", count, 0, 2**63 - 1, "[0, 2^63)")
        while count > 0:
            some = min(count, 4096)
            (data,) = self._host.ask(question, self._path, self._at, some)
            pieces.append(np.frombuffer(data, dtype=kind))
            self._at += some
            count -= some
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=kind)


class Algorithm:
    """Derive from it. A card (docs/isolation.md) states the parameters; without one, `parameters` does.

    Parameters are attributes: `self.steps`. `plan` may change those that were not given.
    """

    parameters: dict[str, Any] = {}
    #: Standard deviation over sensitivity of every planned query: the least that the budget allows.
    noise: float = 0.0
    #: Of each row of the plan: the standard deviation for a query of limit 1.
    deviations: Vector = np.empty(0)
    #: Names of the parameters that the run was given.
    given: frozenset[str] = frozenset()

    def plan(self, facts: Facts, budget: Budget) -> Sequence[Planned]:
        """The most queries that a run makes. An empty plan sets no noise."""
        return []

    def run(self, curator: Curator, stream: Stream) -> "Outcome | Vector":
        raise NotImplementedError

    def show(self, t: int, x: Any) -> None:
        """x before step t, for the trace; nothing flows back."""
        t, point = _within("show", "t", t, 0, 2**53, "[0, 2^53]"), _floats("show", "x", x)
        if len(point) != 8 * self._last[1].size:
            _expect(f"d = {self._last[1].size} numbers", "show", "x", x)
        self._host.channel.post_body(_ITERATE + encoded(t) + encoded(point))
        self._last = (t, np.frombuffer(point, dtype="<f8"))  # a copy: x may go on in place

    def show_estimate(self, t: int, x: Any, gradient: Any) -> None:
        name = "show_estimate"
        self._host.channel.post("estimate", _within(name, "t", t, 0, 2**53, "[0, 2^53]"), _floats(name, "x", x),
                                _floats(name, "gradient", gradient))

    def calibrated(self, plan: Sequence[Planned]) -> float:
        """The noise that the budget allows for a plan; sets `noise`. To be called from plan()."""
        rows = self._plan = _rows(plan)
        ratio, self._calibrator, self._order, _, deviations = self._host.ask("noise", *rows)
        self.noise, self.deviations = float(ratio), np.frombuffer(deviations, dtype="<f8").copy()
        return self.noise


_ITERATE = encoded("iterate")
_RESERVED = sorted(name for name in vars(Algorithm) if not name.startswith("_"))


def _rows(plan: Sequence[Planned]) -> list[Any]:
    rows: list[Any] = [len(plan)]
    for row in plan:
        if not isinstance(row, Planned) or not isinstance(row.policy, Policy):
            raise InputError(f"plan: {_shown(row)}, expected dpsosp.Planned(count, policy)")
        rows += [*_policy("plan", row.policy), _whole("plan", "count", row.count),
                 "several_queries" if row.several_queries else "one_query"]
    return rows


def _value(setting: str, text: str, like: Any) -> Any:
    """The value that a setting's text stands for, of the default's type."""
    if isinstance(like, str):
        return text
    if isinstance(like, float):
        return _real("setting", setting, text)
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if like is not None:
        _expect("a number", "setting", setting, text)
    return text


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _prepare(host: _Host, kind: type[Algorithm]) -> tuple[Algorithm, Facts]:
    name, version, *rest = host.channel.receive()
    if name != "start" or version != VERSION:
        raise InputError(f"it speaks version {VERSION} of the protocol, the host version {version}")
    parts = _Parts(rest)
    parts.one()
    budget = Budget(float(parts.one()), float(parts.one()), parts.one())
    for _ in range(5):  # variant, schedule, noise rule, its queries, whether facts changed
        parts.one()
    given = parts.table()
    parts.one()  # the common noise, which the host answers to `noise`
    defaults = parts.table()
    facts = parts.facts()
    algorithm = kind()
    algorithm._host, algorithm._calibrator, algorithm._order = host, budget.calibrator, None
    algorithm._last, algorithm._plan = (0, facts.initial_point.copy()), [0]
    own = dict(kind.parameters)
    if own:
        for setting in given:
            if setting not in own and not defaults:
                raise InputError(f"unknown setting '{setting}', expected one of {', '.join(own)}")
    own.update({k: _value(k, text, own.get(k)) for k, text in {**defaults, **given}.items()})
    for setting, value in own.items():
        if setting in _RESERVED or setting.startswith("_"):
            raise InputError(f"setting '{setting}' has a name that dpsosp.Algorithm keeps, as it does "
                             f"{', '.join(_RESERVED)}, and all that begin with _")
        if callable(getattr(kind, setting, None)):
            raise InputError(f"setting '{setting}' has the name of a method of {kind.__name__}; rename one of them")
        setattr(algorithm, setting, value)
    algorithm.given = frozenset(given)
    planned = algorithm.plan(facts, budget)
    if not isinstance(planned, Iterable):
        raise InputError(f"{kind.__name__}.plan returned {_shown(planned)}, expected a list of dpsosp.Planned")
    plan = list(planned)
    if plan:
        algorithm.calibrated(plan)
    table: list[Any] = [len(own)]
    for setting in own:
        table += [setting, _text(getattr(algorithm, setting))]
    host.channel.post("ready", VERSION, algorithm._calibrator, algorithm._order, None, 0.0, 0.0, 0.0, 0.0,
                      "heuristic", "a program", 0.0, 0.0, *table, *algorithm._plan)
    return algorithm, facts


def _run(host: _Host, algorithm: Algorithm, facts: Facts) -> None:
    if host.channel.receive() != ["run"]:
        raise RuntimeError("the host says something else")
    try:
        result = algorithm.run(Curator(host, 0, facts), Stream(host))
        outcome = result if isinstance(result, Outcome) else Outcome(result)
        if outcome.steps is None:
            outcome.steps = algorithm._last[0] + 1
    except Refused as refusal:  # a normal end, at the last iterate that was shown
        steps, last = algorithm._last
        outcome = Outcome(last, refusal.status, steps)
    point = _vector_of(outcome.point)
    if point is None or point.size != facts.dimension:
        _refuse_odd(f"{type(algorithm).__name__}.run", "point", outcome.point)
        raise InputError(f"{type(algorithm).__name__}.run returned {_shown(outcome.point)}, expected the point where "
                         f"it ends, d = {facts.dimension} numbers, or a dpsosp.Outcome of it")
    if not isinstance(outcome.counts, dict):
        _expect("a dict of texts and integers", "Outcome", "counts", outcome.counts)
    counts: list[Any] = [len(outcome.counts)]
    for name, count in outcome.counts.items():
        counts += [_word("Outcome", "a name of counts", name),
                   _within("Outcome", f"counts[{name!r}]", count, -2**53, 2**53, "[-2^53, 2^53]")]
    status = _word("Outcome", "status", outcome.status) if np.all(np.isfinite(point)) else "not_finite"
    host.channel.post("done", status, _within("Outcome", "steps", outcome.steps, 0, 2**53, "[0, 2^53]"),
                      point.tobytes(), *counts)


_FOREIGN = (os.path.dirname(os.path.abspath(__file__)) + os.sep, sys.prefix + os.sep, sys.base_prefix + os.sep, "<")


def _place(error: BaseException) -> str:
    """The last line of the author's files that an error went through, as "mine.py:12: "; of this file none."""
    lines = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)
             if not frame.f_code.co_filename.startswith(_FOREIGN)]
    if not lines:
        return ""
    file, line = lines[-1]
    return f"{file if file == sys.argv[0] else os.path.basename(file)}:{line}: "  # the host names the first


def serve(kind: type[Algorithm]) -> NoReturn:
    """Serves as the program of a run. To be called last in the program's file."""
    host = _Host()
    try:
        if not isinstance(kind, type) or not issubclass(kind, Algorithm):
            _expect("a class that derives from dpsosp.Algorithm", "serve", "kind", kind)
        if kind.run is Algorithm.run:
            raise InputError(f"{kind.__name__} has no run(self, curator, stream)")
        algorithm, facts = _prepare(host, kind)
        _run(host, algorithm, facts)
    except HostGone:
        raise
    except InputError as error:
        host.channel.post("failed", "input", _place(error) + str(error))
    except BaseException as error:
        traceback.print_exc()
        host.channel.post("failed", "exception", f"{_place(error)}{type(error).__name__}: {error}")
    host.channel.flush()
    sys.exit(0)
