# SPDX-License-Identifier: Apache-2.0
"""Peak memory of a program."""
import os
import pathlib
import shutil
import subprocess
import time


def of(command):
    """Most bytes that the program had in memory.

    ru_maxrss would be that of this process, which a child is a copy of before it begins; the
    high-water mark of /proc is the program's own.
    """
    program = os.path.realpath(shutil.which(command[0]))
    most = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        folder = pathlib.Path(f"/proc/{process.pid}")
        while process.poll() is None:
            try:
                if os.readlink(folder / "exe") == program:
                    for line in (folder / "status").read_text().splitlines():
                        if line.startswith("VmHWM:"):
                            most = max(most, 1024 * int(line.split()[1]))
            except OSError:  # it has just ended
                pass
            time.sleep(0.002)
    if process.returncode != 0:
        raise SystemExit(f"peak memory: {' '.join(command)} failed")
    return most
