/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/terms.h>

#include <stddef.h>
#include <string.h>

static const char *const neighbours_names[] = {[CELLAR_NEIGHBOURS_DEFAULT] = "default",
                                               [CELLAR_NEIGHBOURS_ADD_REMOVE] = "add-remove",
                                               [CELLAR_NEIGHBOURS_SUBSTITUTE] = "substitute"};
static const char *const negatives_names[] = {[CELLAR_NEGATIVES_UNDECIDED] = "undecided",
                                              [CELLAR_NEGATIVES_KEEP] = "keep",
                                              [CELLAR_NEGATIVES_ZERO] = "zero"};
static const char *const domain_names[] = {[CELLAR_DOMAIN_OBSERVED] = "observed",
                                           [CELLAR_DOMAIN_ASSERTED] = "asserted",
                                           [CELLAR_DOMAIN_DRAFTED] = "drafted",
                                           [CELLAR_DOMAIN_DECLARED] = "declared"};
static const char *const choice_names[] = {
    [CELLAR_CHOICE_UNSTATED] = "not stated",
    [CELLAR_CHOICE_IN_ADVANCE] = "declared in advance",
    [CELLAR_CHOICE_PUBLIC_DATA] = "from public data",
    [CELLAR_CHOICE_CONFIDENTIAL_DATA] = "from the confidential data: the choice is not covered"};

/* The position of a name from `first` to `last`, or -1. */
static int terms_find(const char *name, const char *const *names, int first, int last)
{
    for (int i = first; name != NULL && i <= last; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *cellar_neighbours_name(cellar_neighbours neighbours)
{
    return neighbours_names[neighbours];
}

int cellar_neighbours_find(const char *name, cellar_neighbours *out)
{
    int found = terms_find(name, neighbours_names, CELLAR_NEIGHBOURS_ADD_REMOVE,
                           CELLAR_NEIGHBOURS_SUBSTITUTE);
    if (found >= 0)
        *out = (cellar_neighbours) found;
    return found >= 0;
}

const char *cellar_negatives_name(cellar_negatives negatives)
{
    return negatives_names[negatives];
}

int cellar_negatives_find(const char *name, cellar_negatives *out)
{
    int found = terms_find(name, negatives_names, CELLAR_NEGATIVES_KEEP, CELLAR_NEGATIVES_ZERO);
    if (found >= 0)
        *out = (cellar_negatives) found;
    return found >= 0;
}

const char *cellar_domain_name(cellar_domain domain)
{
    return domain_names[domain];
}

int cellar_domain_find(const char *name, cellar_domain *out)
{
    int found = terms_find(name, domain_names, CELLAR_DOMAIN_OBSERVED, CELLAR_DOMAIN_DECLARED);
    if (found >= 0)
        *out = (cellar_domain) found;
    return found >= 0;
}

const char *cellar_parameter_choice_name(cellar_parameter_choice choice)
{
    return choice_names[choice];
}

int cellar_parameter_choice_find(const char *name, cellar_parameter_choice *out)
{
    int found =
        terms_find(name, choice_names, CELLAR_CHOICE_UNSTATED, CELLAR_CHOICE_CONFIDENTIAL_DATA);
    if (found >= 0)
        *out = (cellar_parameter_choice) found;
    return found >= 0;
}
