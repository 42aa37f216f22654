#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""DP-SGD as a program of its own: dpsosp run --program isolation/examples/dp_sgd.py ...

Speaks the protocol of docs/protocol.md. Needs python3-msgpack.
"""
import os
import socket
import struct

import msgpack

host = socket.socket(fileno=int(os.environ["DPSOSP_SOCKET"]))


def receive():
    """The parts of the next message."""

    def exactly(size):
        data = b""
        while len(data) < size:
            part = host.recv(size - len(data))
            if not part:
                raise SystemExit("the host is gone")
            data += part
        return data

    (size,) = struct.unpack("<I", exactly(4))
    unpacker = msgpack.Unpacker()
    unpacker.feed(exactly(size))
    return list(unpacker)


def post(*parts):
    body = b"".join(msgpack.packb(part) for part in parts)
    host.sendall(struct.pack("<I", len(body)) + body)


def ask(*parts):
    post(*parts)
    name, *answer = receive()
    if name != "ok":
        raise RuntimeError(f"{name}: {answer[0]}")
    return answer


def doubles(data):
    return list(struct.unpack(f"<{len(data) // 8}d", data))


def packed(x):
    return struct.pack(f"<{len(x)}d", *x)


# What the host says of the run: the key, the preparation, the public facts.
_, version, _, epsilon, delta, calibrator, _, _, _, _, _, *rest = receive()
if version != 3:
    post("failed", "input", f"it speaks version 3 of the protocol, the host version {version}")
    raise SystemExit(1)


def table(parts):
    """A table at the beginning of the parts, and what follows it."""
    count, *rest = parts
    return dict(zip(rest[0 : 2 * count : 2], rest[1 : 2 * count : 2])), rest[2 * count :]


settings, rest = table(rest)
common_noise, *rest = rest
defaults, facts = table(rest)
initial_point = doubles(facts[10])

steps = int(settings.get("steps", 100))
step_size = float(settings.get("step_size", 0.1))
limit = float(settings.get("limit", 1.0))

# The least noise with which the budget allows that many queries of all records.
plan = 1, "all", 0, 0.0, steps, "several_queries"
ratio, calibrator, order, *_ = ask("noise", *plan)

# The whole budget of the calibrator that was asked for; nothing is promised.
parameters = {"steps": steps, "step_size": step_size, "limit": limit}
post("ready", version, calibrator, order, None, 0.0, 0.0, 0.0,
     0.0, "heuristic", "a program", 0.0, 0.0,
     len(parameters), *(text for item in parameters.items() for text in map(str, item)), *plan)
assert receive() == ["run"]

x = initial_point
(batch,) = ask("draw", 0, "all", 0, 0.0, "several_queries")
for t in range(steps):
    post("iterate", t, packed(x))
    (answer,) = ask("gradient", 0, packed(x), b"", batch, limit, "sensitivity_ratio", ratio, "x")
    x = [a - step_size * g for a, g in zip(x, doubles(answer))]
post("done", "steps_done", steps, packed(x), 0)
