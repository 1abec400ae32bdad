/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs one fuzzer over inputs that are at hand, without libFuzzer and what it does to the build:
 *
 *     replay NAME FOLDER...
 *
 * Every file of the folders is an input, and so is nothing at all. A folder that is missing is
 * empty. FUZZERS, which CMake defines, has FUZZER(name) for each of them. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzzer(const uint8_t *data, size_t size);

#define FUZZER(name) fuzzer replay_##name;
FUZZERS
#undef FUZZER

#define FUZZER(name) {#name, replay_##name},
static const struct {
    const char *name;
    fuzzer *run;
} fuzzers[] = {FUZZERS};

/* Gives the fuzzer the file in a block of exactly its size, so that a byte read too far is seen. */
static void run_file(fuzzer *run, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    long size;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0 || (data = malloc((size_t) size)) == NULL ||
        fread(data, 1, (size_t) size, file) != (size_t) size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one before a report is its cause */
    run(data, (size_t) size);
    free(data);
}

static size_t run_folder(fuzzer *run, const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    size_t n = 0;
    if (entries == NULL)
        return 0;
    while ((entry = readdir(entries)) != NULL) {
        char path[4096];
        if (entry->d_type != DT_REG)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        run_file(run, path);
        n++;
    }
    closedir(entries);
    return n;
}

int main(int n_arguments, char **arguments)
{
    for (size_t i = 0; n_arguments > 1 && i < sizeof fuzzers / sizeof *fuzzers; i++) {
        size_t n = 1;
        if (strcmp(fuzzers[i].name, arguments[1]) != 0)
            continue;
        fuzzers[i].run((const uint8_t *) "", 0);
        for (int k = 2; k < n_arguments; k++)
            n += run_folder(fuzzers[i].run, arguments[k]);
        printf("%zu inputs\n", n);
        return 0;
    }
    fputs("usage: replay NAME FOLDER...\n", stderr);
    return 2;
}
