/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A registry that holds the template alone: linked before the library, it takes the place of the
 * library's. */
#include "mechanism/mechanism.h"

extern const cellar_mechanism_ops cellar_template_ops;

const cellar_mechanism_ops *const cellar_mechanism_registry[] = {&cellar_template_ops, NULL};
