/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rule file as parsed: words and where they stand. */
#ifndef CELLAR_TABLE_STRUCTURAL_STRUCTURAL_RULES_H
#define CELLAR_TABLE_STRUCTURAL_STRUCTURAL_RULES_H

#include "base/memory.h"
#include "table/structural/structural.h"

typedef struct structural_word {
    const char *text;
    size_t length, line, column;
    struct structural_word *next;
} structural_word;

typedef struct structural_condition {
    structural_word variable;
    int negated;
    structural_word *codes;
    struct structural_condition *next;
} structural_condition;

typedef struct structural_rule {
    structural_condition *conditions;
    struct structural_rule *next;
} structural_rule;

struct cellar_structural_rules {
    cellar_arena *arena;
    const char *name; /* of the file, in messages */
    structural_rule *rules;
    size_t n_rules;
};

enum { STRUCTURAL_MAX_RULES = 4096 };

/* Adds a name or code as the parser reads it, quoted where it must be. */
void cellar_structural_add_word(cellar_text *text, const char *word);

#endif
