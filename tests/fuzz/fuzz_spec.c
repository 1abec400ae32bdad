/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grammar of specs: what is read reads again from its canonical spelling, to the same values.
 */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "mechanism/mechanism.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_rules(const cellar_mechanism_ops *ops, const char *parameters)
{
    cellar_parameter_list list, back;
    cellar_text text = {0};
    cellar_error err = {""};
    cellar_status status =
        cellar_parameter_list_parse(ops->parameters, ops->name, parameters, &list, &err);

    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status != CELLAR_OK)
        return;
    cellar_text_add_string(&text, "");
    for (size_t i = 0; i < list.n; i++)
        cellar_text_printf(&text, "%s%s=%s", i > 0 ? "," : "", list.items[i].name,
                           list.items[i].text);
    CELLAR_ASSERT(cellar_parameter_list_parse(ops->parameters, ops->name, text.bytes, &back,
                                              NULL) == CELLAR_OK);
    CELLAR_ASSERT(back.n == list.n);
    for (size_t i = 0; i < list.n; i++) {
        CELLAR_ASSERT(strcmp(list.items[i].text, back.items[i].text) == 0);
        CELLAR_ASSERT(fmpq_equal(list.items[i].value, back.items[i].value));
    }
    cellar_text_clear(&text);
    cellar_parameter_list_clear(&list);
    cellar_parameter_list_clear(&back);
}

/* The first byte chooses the mechanism: names are few, and found by comparing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[4096];
    size_t n = 0;
    if (size < 1 || size > sizeof spec)
        return 0;
    while (cellar_mechanism_registry[n] != NULL)
        n++;
    memcpy(spec, data + 1, size - 1);
    spec[size - 1] = '\0';
    fuzz_rules(cellar_mechanism_registry[data[0] % n], spec);
    flint_cleanup();
    return 0;
}
