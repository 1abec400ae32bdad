#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes an SPSS file of one column SEX with value labels: 1, 2, 9 (declared missing) and a
system-missing value.

usage: labelled_sav.py > FILE.sav
"""
import struct
import sys

SYSTEM_MISSING = struct.unpack("<d", b"\xff\xff\xff\xff\xff\xff\xef\xff")[0]
FORM = 5 << 16 | 8 << 8  # F8.0


def main():
    rows = [1.0, 2.0, 2.0, 9.0, SYSTEM_MISSING]
    header = b"$FL2" + b"@(#) SPSS DATA FILE".ljust(60)
    header += struct.pack("<5id", 2, 1, 0, 0, len(rows), 100.0)
    header += b"01 Jan 26" + b"00:00:00" + b" " * 64 + b"\0" * 3
    body = struct.pack("<6i8sd", 2, 0, 0, 1, FORM, FORM, b"SEX".ljust(8), 9.0)
    labels = {1.0: b"male", 2.0: b"female", 9.0: b"refused"}
    body += struct.pack("<2i", 3, len(labels))
    for value, label in labels.items():
        body += struct.pack("<dB", value, len(label)) + label.ljust(7)
    body += struct.pack("<3i", 4, 1, 1)
    body += struct.pack("<4i", 7, 3, 4, 8) + struct.pack("<8i", 20, 0, 0, -1, 1, 1, 2, 65001)
    body += struct.pack("<2i", 999, 0)
    sys.stdout.buffer.write(header + body + struct.pack(f"<{len(rows)}d", *rows))


if __name__ == "__main__":
    main()
