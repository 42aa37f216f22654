#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# frame_test.sh PROGRAM SOURCE_FOLDER: what dpsosp.frame makes of a sweep that tunes, with a stand-in for pandas.
set -euo pipefail
program=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/tuned.toml" <<'TEXT'
title = "Tuned"
metric = "output.gradient_norm"
seeds = 2
dimension = 2
noise = "calibrated"
[tune]
budget = 3
seeds = 2
space = { steps = [2, 5, 9] }
[[arm]]
name = "gd, plain"
algorithm = "wang-ye-xu-2017/dp-gd"
problem = "cosine-saddle"
settings = { clip = 2 }
problem_settings = { "told.lipschitz" = 2 }
[[part]]
name = "n"
axes = [{ records = [1000, 2000] }]
[[part]]
name = "again"
axes = [{ records = [2000] }]
TEXT
"$program" sweep "$folder/tuned.toml" --out "$folder/out" --quiet >/dev/null
mkdir "$folder/modules"
cat >"$folder/modules/pandas.py" <<'TEXT'
class DataFrame:
    def __init__(self, rows, columns=None):
        self.columns = list(dict.fromkeys(k for row in rows for k in row) if columns is None else columns)
        values = [[row.get(c) for c in self.columns] for row in rows] if columns is None else rows
        assert all(len(row) == len(self.columns) for row in values), values
        self.data = dict(zip(self.columns, zip(*values))) if self.columns else {}

    def insert(self, place, name, values):
        self.columns.insert(place, name)
        self.data[name] = tuple(values)

    def __getitem__(self, name):
        return list(self.data[name])
TEXT
PYTHONPATH=$folder/modules /usr/bin/python3 - "$folder/out" "$source/python/dpsosp/experiments.py" <<'TEXT'
import importlib.util
import sys

out, module = sys.argv[1:]
spec = importlib.util.spec_from_file_location("experiments", module)
dpsosp = importlib.util.module_from_spec(spec)
sys.modules["experiments"] = dpsosp
spec.loader.exec_module(dpsosp)

whole, store = dpsosp.frame(out + "/tuned"), dpsosp.frame(out + "/store.sqlite")
# Two seeds of three trials and of the result, in two cells; the second cell is in both parts.
assert len(whole["key"]) == 2 * 3 * 3 + 2 * 3, len(whole["key"])
assert len(store["key"]) == len(set(whole["key"])), "of a store, each run once"
assert whole.columns[:4] == ["sweep", "part", "arm", "use"] and "part" not in store.columns
assert set(whole["sweep"]) == {"tuned"} and set(whole["arm"]) == {"gd, plain"}
for part, use, records, seed in zip(*(whole[c] for c in ("part", "use", "records", "seed"))):
    assert (seed >= 1000000) == (use == "tuning") and (records == 2000 or part == "n"), (part, use, records, seed)

asked = ["arm", "result.output.gradient_norm", "records", "problem_settings.told.lipschitz", "key", "use"]
some = dpsosp.frame(out + "/tuned", columns=asked)
assert some.columns == asked, some.columns
for name in asked:
    assert some[name] == whole[name], name
assert set(some["problem_settings.told.lipschitz"]) == {"2"}, "a name with a dot"
assert dpsosp.frame(out + "/tuned", columns=["use", "part"]).columns == ["use", "part"]
for bad, line in ((["record"], "no run has record, the nearest is records"), (["arm"], "no run has arm")):
    try:
        dpsosp.frame(out + "/store.sqlite", columns=bad)
        raise AssertionError(bad)
    except dpsosp.Failed as e:
        assert str(e).startswith(line), e
try:
    dpsosp.frame(out)
    raise AssertionError("no sweep")
except dpsosp.Failed as e:
    assert "expected" in str(e), e
TEXT
