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
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$folder/modules /usr/bin/python3 - "$folder/out" "$source/python/dpsosp/experiments.py" <<'TEXT'
import importlib.util
import os
import pathlib
import shutil
import sqlite3
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
for bad, line in ((["record"], "no run has record, the nearest is records"), (["arm"], "no run has arm"),
                  (["result.trace.mean_gradient_norm"],
                   "no run has result.trace.mean_gradient_norm; the trace is in column result.trace, of rows [t, value, ")):
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

# What stands in a path is no part of an address, and reading makes no other files.
place = pathlib.Path(out).parent / "paths"
few = place / "pA/store.sqlite"
names = ["pA", "p%41", "run#1", "q?mode=rwc", "two words", "ä", "file:x"]
for name in names:
    (place / name).mkdir(parents=True)
    shutil.copy(out + "/store.sqlite", place / name / "store.sqlite")
with sqlite3.connect(few) as connection:
    connection.execute("DELETE FROM runs WHERE rowid > 3")
connection.close()
os.chdir(place)
for name in names:
    for path in (name + "/store.sqlite", place / name / "store.sqlite"):
        assert len(dpsosp.frame(path)["key"]) == (3 if name == "pA" else len(store["key"])), path
assert sorted(os.listdir()) == sorted(names), os.listdir()
for name in names:
    beside = {"store.sqlite", "store.sqlite-shm", "store.sqlite-wal"}  # of readers of a write-ahead log
    assert set(os.listdir(name)) <= beside, os.listdir(name)


def refusal(path):
    try:
        dpsosp.frame(path)
    except dpsosp.Failed as e:
        return str(e)
    raise AssertionError(path)


pathlib.Path("none").touch()
sqlite3.connect("other").execute("CREATE TABLE runs(key)").connection.close()
pathlib.Path("text").write_text("no store " * 100)
assert "is not a store of dpsosp" in refusal("none") and "is not a store of dpsosp" in refusal("other")
assert "text cannot be read as a store: " in refusal("text"), refusal("text")

# Where nothing may be written; the file in WAL has all its runs, or says that it has not.
for name in ("kept", "killed"):
    (place / name).mkdir()
    shutil.copy(out + "/store.sqlite", place / name / "store.sqlite")
    if name == "killed":
        (place / name / "store.sqlite-wal").write_bytes(b"runs")
    (place / name).chmod(0o555)
for folder in (place, *list(place.parents)[:1]):
    folder.chmod(0o755)


def as_anybody():
    if os.geteuid() == 0:
        os.seteuid(65534)


pid = os.fork()
if pid == 0:
    try:
        as_anybody()
        assert len(dpsosp.frame("kept/store.sqlite")["key"]) == len(store["key"])
        assert "copy both files to a folder of your own" in refusal("killed/store.sqlite")
        os._exit(0)
    except BaseException as e:
        print(repr(e), file=sys.stderr)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
for name in ("kept", "killed"):
    (place / name).chmod(0o755)
TEXT
