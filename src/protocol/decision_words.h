/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a decision says in words, and what it repeats of the invitation. Both follow from the
 * invitation alone: a decision says them all, or it is none. */
#ifndef CELLAR_PROTOCOL_DECISION_WORDS_H
#define CELLAR_PROTOCOL_DECISION_WORDS_H

#include <cellar/collect.h>

#include "base/text.h"

void decision_write_terms(const cellar_invitation *invitation, cellar_text *text);
void decision_write_words(const cellar_invitation *invitation, cellar_text *text);

#endif
