# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs quoted by pages are the programs that were built: usage: quotes.py [--update] SOURCE_FOLDER

After a line `<!-- quote PATH -->` a block must hold the file of that name, without its line about
the licence. --update writes it into the page."""
import pathlib
import re
import sys

import pages

QUOTE = re.compile(r"(<!-- quote (\S+) -->\n+```c\n)(.*?)(^```$)", re.M | re.S)


def main():
    update = "--update" in sys.argv
    root = pathlib.Path(sys.argv[-1]).resolve()
    quoted, complaints = 0, []
    for page in pages.tracked(root, "*.md"):
        text = page.read_text()
        wanted = QUOTE.sub(lambda m: m[1] + (root / m[2]).read_text().split("\n", 1)[1] + m[4], text)
        quoted += len(QUOTE.findall(text))
        if wanted != text and update:
            page.write_text(wanted)
        elif wanted != text:
            complaints.append(f"{page.relative_to(root)}: not the program; run quotes.py --update")
    print("\n".join(complaints + [f"{quoted} programs quoted"]))
    sys.exit(bool(complaints) or quoted == 0)


main()
