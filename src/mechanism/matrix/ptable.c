/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ptable: any transition matrix, from a file. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/matrix/matrix.h"
#include "mechanism/matrix/matrix_file.h"
#include "mechanism/registry.h"

const char *const cellar_matrix_large_words[] = {"last", "rotate", NULL};

/* A path tells about the custodian's machine: parameters and specs keep the name alone. */
static void parameter_drop_folder(cellar_parameter *file)
{
    const char *slash = strrchr(file->text, '/');
    if (slash != NULL)
        memmove(file->text, slash + 1, strlen(slash + 1) + 1);
}

cellar_status cellar_matrix_check_parameters(cellar_parameter_list *list, const char *name,
                                             const cellar_matrix *matrix, cellar_error *err)
{
    const cellar_parameter *digest = cellar_parameter_find(list, "digest");
    parameter_drop_folder(&list->items[0]);
    if (digest == NULL || strcmp(digest->text, cellar_matrix_digest(matrix)) == 0)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: the file holds another matrix than the one whose digest is given",
                       name);
}

cellar_status cellar_matrix_from_parameters(cellar_parameter_list *list, const char *name,
                                            cellar_matrix **out, cellar_error *err)
{
    const cellar_parameter *large = cellar_parameter_find(list, "large");
    const cellar_parameter *file = &list->items[0]; /* the first rule's, and required */
    cellar_matrix_large rule = CELLAR_MATRIX_LARGE_DEFAULT;
    cellar_status status;

    if (large != NULL)
        rule = strcmp(large->text, "rotate") == 0 ? CELLAR_MATRIX_LARGE_ROTATE
                                                  : CELLAR_MATRIX_LARGE_LAST;
    status = cellar_matrix_read(file->text, rule, out, err);
    if (status != CELLAR_OK)
        return status;
    status = cellar_matrix_check_parameters(list, name, *out, err);
    if (status != CELLAR_OK) {
        cellar_matrix_free(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_matrix_spec(const cellar_parameter_list *list, const char *name,
                                 const cellar_matrix *matrix, char **spec, cellar_error *err)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, name);
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, "digest") != 0)
            cellar_text_printf(&text, "%c%s=%s", i == 0 ? ':' : ',', list->items[i].name,
                               list->items[i].text);
    cellar_text_printf(&text, ",digest=%s", cellar_matrix_digest(matrix));
    if (text.failed) {
        cellar_text_clear(&text);
        return cellar_fail_memory(err, "a mechanism");
    }
    *spec = text.bytes;
    return CELLAR_OK;
}

cellar_status cellar_matrix_file_init(cellar_mechanism *m, cellar_error *err)
{
    cellar_matrix *matrix = NULL;
    char *spec = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_matrix_from_parameters(&m->parameters, m->ops->name, &matrix, err));
    CELLAR_TRY(cellar_matrix_spec(&m->parameters, m->ops->name, matrix, &spec, err));
    cellar_free(m->spec);
    m->spec = spec;
    if (m->ops->is_joint)
        CELLAR_TRY(cellar_matrix_keep_zeros(matrix, err));
    status = cellar_matrix_mechanism_init(m, matrix, err);
    matrix = NULL;
out:
    cellar_matrix_free(matrix);
    return status;
}

static const cellar_parameter_rule ptable_parameters[] = {
    CELLAR_MATRIX_FILE_RULES,
    {0},
};

const cellar_mechanism_ops cellar_ptable_ops = {
    .name = "ptable",
    .revision = 1,
    .summary = "any transition matrix, from a file",
    .parameters = ptable_parameters,
    .init = cellar_matrix_file_init,
    CELLAR_MATRIX_SLOTS,
};
