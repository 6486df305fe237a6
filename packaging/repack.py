"""Writes a source distribution again with the same bytes for the same files: setuptools keeps times and owners of the
machine that it was built on (pypa/setuptools#2133).

    SOURCE_DATE_EPOCH=1700000000 python packaging/repack.py dist/NAME.tar.gz
"""

import gzip
import io
import os
import sys
import tarfile
from pathlib import Path


def of_nobody(member: tarfile.TarInfo, when: int) -> tarfile.TarInfo:
    """The member of an archive without what the machine adds: owner, times (all are `when`), rights of a group."""
    member.mtime, member.uid, member.gid, member.uname, member.gname, member.pax_headers = when, 0, 0, "", "", {}
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def repacked(packed: bytes, when: int) -> bytes:
    """The archive with its members by name, all from the time `when` (seconds since 1970), and of nobody."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(packed)) as old,
        gzip.GzipFile("", "wb", mtime=when, fileobj=out) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member = of_nobody(member, when)
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
    return out.getvalue()


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_bytes(repacked(path.read_bytes(), int(os.environ["SOURCE_DATE_EPOCH"])))
