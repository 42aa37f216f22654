# SPDX-License-Identifier: Apache-2.0
"""Messages of the protocol (docs/protocol.md): a length, a name, and MessagePack scalars."""
from __future__ import annotations

import os
import socket
import struct
import sys
import threading
from typing import Any

Part = Any  # None, bool, int, float, str, bytes

_LOOKS = 100 if len(os.sched_getaffinity(0)) > 1 else 0  # before it sleeps, which takes 60 us to wake


def encoded(part: Part) -> bytes:
    """One part."""
    if isinstance(part, bytes):
        return b"\xc6" + struct.pack(">I", len(part)) + part
    if isinstance(part, str):
        data = part.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if part is None:
        return b"\xc0"
    if isinstance(part, bool):
        return b"\xc3" if part else b"\xc2"
    if isinstance(part, float):
        return b"\xcb" + struct.pack(">d", part)
    try:
        return b"\xd3" + struct.pack(">q", part)
    except struct.error:
        raise TypeError(f"a question has the part {part!r}, expected None, a boolean, a number, an integer of "
                        "64 bits, a text or bytes") from None


_FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
          0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
_SIZED = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
_WORDS = {0xC0: None, 0xC2: False, 0xC3: True}


def decoded(data: bytes) -> list[Part]:
    """The parts of a message."""
    parts: list[Part] = []
    at = 0
    while at < len(data):
        kind = data[at]
        at += 1
        if kind < 0x80:
            parts.append(kind)
        elif kind >= 0xE0:
            parts.append(kind - 0x100)
        elif kind in _WORDS:
            parts.append(_WORDS[kind])
        elif kind in _FIXED:
            form = _FIXED[kind]
            parts.append(struct.unpack_from(form, data, at)[0])
            at += struct.calcsize(form)
        else:
            if 0xA0 <= kind < 0xC0:
                size = kind - 0xA0
            else:
                form = _SIZED[kind]
                (size,) = struct.unpack_from(form, data, at)
                at += struct.calcsize(form)
            part = data[at : at + size]
            at += size
            parts.append(part.decode() if 0xA0 <= kind < 0xC0 or kind >= 0xD9 else part)
    return parts


class HostGone(SystemExit):
    """Nobody is left to hear of it."""


class Channel:
    """The socket to the host, whose descriptor is told in DPSOSP_SOCKET. Of one thread: answers name no question."""

    def __init__(self) -> None:
        if "DPSOSP_SOCKET" not in os.environ:
            raise SystemExit(f"{sys.argv[0]}: `dpsosp run --program CARD` starts this program")
        self._socket = socket.socket(fileno=int(os.environ["DPSOSP_SOCKET"]))
        self._process, self._thread = os.getpid(), threading.get_ident()
        self._out: list[bytes] = []
        self._in = b""
        self._due = False

    def post(self, *parts: Part) -> None:
        """Puts a message into what goes out with the next question."""
        self.post_body(b"".join([encoded(part) for part in parts]))

    def post_body(self, body: bytes) -> None:
        self._expect_own()
        self._out.append(struct.pack("<I", len(body)) + body)
        if len(self._out) > 256:
            self.flush()

    def question(self, body: bytes) -> bytes:
        """The answer to a question, which goes out with what was posted."""
        self._expect_own()
        if self._due:
            raise RuntimeError("a question was interrupted before its answer came, so that later answers would be "
                               "taken for others; the run cannot go on")
        self._due = True  # whatever interrupts, as a handler of signals may, until the whole answer is here
        self._out.append(struct.pack("<I", len(body)) + body)
        answer = self.body()
        self._due = False
        return answer

    def _expect_own(self) -> None:
        if os.getpid() != self._process:
            raise RuntimeError("asked from another process than the run's; ask from one process")
        if threading.get_ident() != self._thread:
            raise RuntimeError("asked from another thread than the run's; ask from one thread")

    def drop(self, question: str, number: int) -> None:
        """Posts that a handle is let go, which the last reference to it decides, in any thread."""
        body = encoded(question) + encoded(number)
        self._out.append(struct.pack("<I", len(body)) + body)

    def flush(self) -> None:
        if self._out:
            out, self._out = self._out, []  # before it sends: what fails is not sent again
            self._socket.sendall(b"".join(out))

    def body(self) -> bytes:
        """The next message, after sending what was posted."""
        self.flush()
        data = self._in or self._more()
        while len(data) < 4:
            data += self._more()
        size = int.from_bytes(data[:4], "little") + 4
        if len(data) < size:
            pieces, length = [data], len(data)
            while length < size:
                pieces.append(self._more())
                length += len(pieces[-1])
            data = b"".join(pieces)
        self._in = data[size:]
        return data[4:size]

    def receive(self) -> list[Part]:
        return decoded(self.body())

    def _more(self) -> bytes:
        receive = self._socket.recv
        for _ in range(_LOOKS):
            try:
                data = receive(1 << 18, socket.MSG_DONTWAIT)
                break
            except BlockingIOError:
                pass
        else:
            data = receive(1 << 18)
        if not data:
            raise HostGone("the host is gone")
        return data
