/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reader.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static int reader_delimiter(const char *text, char *delimiter)
{
    if (strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0) {
        *delimiter = '\t';
        return CLI_GO_ON;
    }
    if (strlen(text) != 1 || strchr("\"\r\n", text[0]) != NULL || (unsigned char) text[0] >= 0x80)
        return cli_usage("--delimiter must be one character (not a quote or a line end) or 'tab'");
    *delimiter = text[0];
    return CLI_GO_ON;
}

/* A link to the data may be replaced: the data stay. */
int cli_reader_spare(const char *path, const char *output)
{
    struct stat data, there;
    if (output == NULL || stat(path, &data) != 0 || lstat(output, &there) != 0 ||
        data.st_dev != there.st_dev || data.st_ino != there.st_ino)
        return CLI_GO_ON;
    return cli_usage("%s: is the data file; choose another name for what is written", output);
}

int cli_reader_options(const cli_reader *reader, cellar_reader_options *out)
{
    *out = cellar_reader_options_default();
    out->no_header = reader->no_header;
    out->max_columns = (size_t) reader->max_columns.value;
    out->max_row_mib = (size_t) reader->max_row_mib.value;
    out->reader_memory_mib = (size_t) reader->reader_memory_mib.value;
    if (reader->count != NULL && strcmp(reader->count, "none") == 0)
        out->rows_are_records = 1;
    else
        out->count_column = reader->count;
    if (reader->encoding > 0)
        out->encoding = (cellar_encoding) (reader->encoding - 1);
    if (reader->bad_rows > 0)
        out->bad_rows = (cellar_bad_rows) (reader->bad_rows - 1);
    return reader->delimiter != NULL ? reader_delimiter(reader->delimiter, &out->delimiter)
                                     : CLI_GO_ON;
}

void cli_reader_report(const char *path, const cellar_row_report *rows)
{
    const struct {
        uint64_t n;
        const char *what;
    } losses[] = {{rows->n_bad, "skipped because they cannot be read"},
                  {rows->n_filtered, "left out by --where"},
                  {rows->n_missing, "dropped for missing values"},
                  {rows->n_over_unit, "beyond --max-per-unit"}};
    char text[512];
    size_t n = (size_t) snprintf(text, sizeof text, "%" PRIu64 " row%s read, %" PRIu64 "%s counted",
                                 rows->n_read, rows->n_read == 1 ? "" : "s", rows->n_counted,
                                 rows->is_aggregated ? " records" : "");
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
        if (losses[i].n > 0)
            n += (size_t) snprintf(text + n, sizeof text - n, ", %" PRIu64 " %s", losses[i].n,
                                   losses[i].what);
    cli_message("%s: %s", strcmp(path, "-") == 0 ? "standard input" : path, text);
    cli_reader_suspect(path, rows);
}

void cli_reader_suspect(const char *path, const cellar_row_report *rows)
{
    const char quoted[] = {'\'', rows->suspect_delimiter, '\'', '\0'};
    const char *delimiter = rows->suspect_delimiter == '\t' ? "tab" : quoted;
    if (rows->suspect_delimiter != '\0')
        cli_message("%s: has one column, with %s in its name; if that separates columns, say "
                    "--delimiter %s",
                    strcmp(path, "-") == 0 ? "standard input" : path, delimiter, delimiter);
    if (rows->suspect != '\0')
        cli_message(
            "%s: column '%c' holds only positive whole numbers, and every row was counted as "
            "one record; if a row stands for that many, say --count %c (--count none says "
            "that it does not)",
            strcmp(path, "-") == 0 ? "standard input" : path, rows->suspect, rows->suspect);
}

void cli_reader_json(cli_json *json, const cellar_row_report *rows)
{
    cli_json_begin(json, "rows", '{');
    cli_json_count(json, "read", rows->n_read);
    cli_json_count(json, "counted", rows->n_counted);
    cli_json_count(json, "bad", rows->n_bad);
    cli_json_count(json, "filtered", rows->n_filtered);
    cli_json_count(json, "missing", rows->n_missing);
    cli_json_count(json, "over_unit", rows->n_over_unit);
    cli_json_end(json, '}');
}
