/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request: method, path, query and Accept on the first four lines, the body after them. Whatever
 * it is, the answer is no 5xx. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fuzz_serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_site site = fuzz_site();
    cellar_response response;
    cellar_request request = {0};
    char *text = cellar_alloc(size + 1, 1), *rest = text;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    request.method = strsep(&rest, "\n");
    request.path = strsep(&rest, "\n");
    request.query = strsep(&rest, "\n");
    request.accept = strsep(&rest, "\n");
    request.body = rest;
    request.body_length = rest != NULL ? size - (size_t) (rest - text) : 0;
    cellar_site_answer(&site, &request, &response);
    CELLAR_ASSERT(response.status >= 200 && response.status < 500);
    cellar_response_clear(&response);
    cellar_free(text);
    return 0;
}
