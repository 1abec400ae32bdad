/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a file of tokens, which is written again as it was read, and as a token. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "serve/token_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char hash[TOKEN_HASH];
    token_lines lines;
    if (token_lines_parse("fuzz", (const char *) data, size, &lines, NULL) == CELLAR_OK) {
        cellar_text again = {0};
        token_lines twice;
        cellar_text_add_string(&again, TOKEN_HEADING "\n");
        for (size_t i = 0; i < lines.n; i++)
            token_line_write(&lines.items[i], &again);
        if (!again.failed) {
            CELLAR_ASSERT(token_lines_parse("again", again.bytes, again.length, &twice, NULL) ==
                          CELLAR_OK);
            CELLAR_ASSERT(twice.n == lines.n);
            token_lines_clear(&twice);
        }
        cellar_text_clear(&again);
    }
    token_lines_clear(&lines);
    token_hash((const char *) data, size, hash);
    return 0;
}
