r"""Git-LFS pointers: told from models and from damaged pointers; content checked against them.

The form is that of the specification, https://git-lfs.github.com/spec/v1: at most 1024 bytes of lines
`key value`, `version` first, with `oid sha256:<64 hex>` and `size <bytes>`.

House: vcs. Standard library only.
Touch: model/load.py refuses pointers by their first line; this module explains them before that.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 1024
_VERSIONS = (b"https://git-lfs.github.com/spec/", b"https://hawser.github.com/spec/")
_OID = re.compile(rb"sha256:([0-9a-f]{64})")
_SIGNS = (b"git-lfs.github.com/spec/", b"hawser.github.com/spec/", b"oid sha256:")
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_CONFLICT = re.compile(rb"^(<<<<<<<|=======|>>>>>>>)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A whole pointer.

    Attributes:
        sha256: Digest of the content, as hex.
        size: Bytes of the content.
    """

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class DamagedPointer:
    """Text that was a pointer once.

    Attributes:
        reason: What is wrong with it, without a full stop.
    """

    reason: str


def read_pointer(head: bytes) -> Pointer | DamagedPointer | None:
    """What a file is that starts with `head`; None if it is no pointer, whole or damaged.

    Args:
        head: At least the first 1025 bytes of the file, or all of it.
    """
    if _BINARY.search(head) or not any(sign in head[:MAX_BYTES] for sign in _SIGNS):
        return None
    if _CONFLICT.search(head):
        return DamagedPointer("it has conflict markers")
    if len(head) > MAX_BYTES:
        return DamagedPointer(f"it has more than {MAX_BYTES} bytes")
    lines = head.decode("utf-8", errors="replace").splitlines()
    keys = dict(line.partition(" ")[::2] for line in lines if line)
    if not lines or not lines[0].startswith("version "):
        return DamagedPointer("its first line is not the version")
    if not keys["version"].encode().startswith(_VERSIONS):
        return DamagedPointer(f"its version {keys['version']!r} is unknown")
    oid = _OID.fullmatch(keys.get("oid", "").encode())
    if oid is None:
        return DamagedPointer("it has no oid of the form sha256:<64 hex digits>")
    if not re.fullmatch(r"[0-9]{1,19}", keys.get("size", "")):
        return DamagedPointer("it has no size")
    return Pointer(sha256=oid[1].decode("ascii"), size=int(keys["size"]))


def mismatch(pointer: Pointer, content: bytes | Path) -> str | None:
    """Why `content` is not what the pointer stands for, in one sentence; None if it is.

    Size and digest decide: git-lfs hands a malformed pointer through with exit code 0.
    """
    size = content.stat().st_size if isinstance(content, Path) else len(content)
    if size != pointer.size:
        return f"the content has {size} bytes, the LFS pointer says {pointer.size}"
    if isinstance(content, Path):
        with content.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    else:
        digest = hashlib.sha256(content).hexdigest()
    if digest != pointer.sha256:
        return f"the content has sha256 {digest}, the LFS pointer says {pointer.sha256}"
    return None
