/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables of a table of a cube, as they are typed. */
#include <stdlib.h>
#include <string.h>

#include <cellar/table.h>

#include "cube.h"

int cli_cube_sides(const cli_words *names, cellar_cube_side *sides)
{
    if (names->n > CELLAR_MAX_VARIABLES)
        return cli_usage("too many variables");
    for (size_t i = 0; i < names->n; i++) {
        char *level = strrchr(names->items[i], '^'), *end;
        sides[i] = (cellar_cube_side){.variable = names->items[i]};
        if (level == NULL)
            continue;
        sides[i].level = strtoul(level + 1, &end, 10);
        if (level[1] == '\0' || *end != '\0' || sides[i].level == 0)
            return cli_usage("%s: expected a level of at least 1 after '^'", names->items[i]);
        *level = '\0';
    }
    return CLI_GO_ON;
}
