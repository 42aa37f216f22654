# SPDX-License-Identifier: Apache-2.0
# peak_memory_test.py BENCHMARKS_FOLDER: a program's peak is its own, however large its parent is.
import sys

sys.path.insert(0, sys.argv[1])
import peak_memory

MB = 1 << 20
parent = bytearray(b"x") * (400 * MB)
own = peak_memory.of([sys.executable, "-c", "import time; x = bytearray(b'x') * (80 << 20); time.sleep(0.2)"])
assert 80 * MB < own < 200 * MB, own / MB
