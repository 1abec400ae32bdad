/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a file through the library's output as a verb would: hardened, in many pieces.
 *
 *     crash_writer PATH [--force]
 */
#include <stdio.h>
#include <string.h>

#include <cellar/cellar.h>

int main(int argc, char **argv)
{
    cellar_output_options options = {.replace = argc > 2 && strcmp(argv[2], "--force") == 0};
    cellar_output *output = NULL;
    cellar_error err = {""};

    if (argc < 2 || cellar_process_harden(&err) != CELLAR_OK ||
        cellar_output_open(argv[1], &options, &output, &err) != CELLAR_OK)
        goto failed;
    cellar_output_string(output, "place,count\nplanted-Qx7,48611\n");
    for (int i = 0; i < 100000; i++)
        cellar_output_printf(output, "elsewhere,%d\n", i);
    cellar_output_string(output, "planted-Qx7,48611\nend\n");
    if (cellar_output_commit(output, &err) != CELLAR_OK)
        goto failed;
    return 0;
failed:
    fprintf(stderr, "crash_writer: %s\n", err.message);
    return 1;
}
