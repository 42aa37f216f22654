# SPDX-License-Identifier: Apache-2.0
"""The build backend (PEP 517): files of pure Python in a wheel. It needs nothing but Python."""
import base64
import hashlib
import pathlib
import zipfile

NAME, VERSION = "dpsosp", "1.0"
HERE = pathlib.Path(__file__).parent
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: frames
Requires-Dist: pandas ; extra == 'frames'
Provides-Extra: plots
Requires-Dist: matplotlib >= 3.6 ; extra == 'plots'
Provides-Extra: report
Requires-Dist: jinja2 >= 3.0 ; extra == 'report'
Requires-Dist: markdown-it-py >= 2.0 ; extra == 'report'
"""
WHEEL = """Wheel-Version: 1.0
Generator: dpsosp
Root-Is-Purelib: true
Tag: py3-none-any
"""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = f"{NAME}-{VERSION}.dist-info"
    files = {f"{NAME}/{path.relative_to(HERE / NAME)}": path.read_bytes()
             for path in sorted((HERE / NAME).rglob("*")) if path.is_file() and path.suffix != ".pyc"}
    files[f"{info}/METADATA"] = METADATA.encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("install from the folder")
