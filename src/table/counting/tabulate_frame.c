/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data frames, counted like files. */
#include <cellar/columns.h>

#include "data/frame/frame.h"
#include "table/counting/tabulate.h"

/* A frame has no path: what stands for it in messages. */
static cellar_tabulate_spec spec_of_frame(const cellar_tabulate_spec *spec)
{
    cellar_tabulate_spec named = *spec;
    if (named.path == NULL)
        named.path = "data";
    named.reader.encoding = CELLAR_ENCODING_UTF8;
    named.reader.delimiter = '\0';
    return named;
}

/* Takes over the source. */
static cellar_status count_source(const cellar_tabulate_spec *spec, frame_source *source,
                                  cellar_table **out, cellar_row_report *report, cellar_error *err)
{
    cellar_scan *scan = NULL;
    cellar_status status = cellar_scan_open_frame(source, spec->path, &spec->reader, &scan, err);
    return status == CELLAR_OK ? cellar_tabulation_run(spec, scan, out, report, err) : status;
}

cellar_status cellar_tabulate_columns(const cellar_tabulate_spec *spec, const cellar_frame *frame,
                                      cellar_table **out, cellar_row_report *report,
                                      cellar_error *err)
{
    const cellar_tabulate_spec named = spec_of_frame(spec);
    frame_source *source = NULL;
    cellar_status status;

    *out = NULL;
    status = frame_source_open_given(frame, named.path, &source, err);
    return status == CELLAR_OK ? count_source(&named, source, out, report, err) : status;
}

cellar_status cellar_tabulate_stream(const cellar_tabulate_spec *spec,
                                     struct ArrowArrayStream *stream, cellar_table **out,
                                     cellar_row_report *report, cellar_error *err)
{
    const cellar_tabulate_spec named = spec_of_frame(spec);
    frame_source *source = NULL;
    cellar_status status;

    *out = NULL;
    status = frame_source_open_stream(stream, named.path, named.reader.max_columns, &source, err);
    return status == CELLAR_OK ? count_source(&named, source, out, report, err) : status;
}
