/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar-statread: reads one SPSS, Stata or SAS file for the library, and nothing else.
 *
 * Descriptor 0 is the file, descriptor 1 a socket; data/statwire.h says what goes through it. The
 * library starts it; started by hand it does nothing. */
#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/statwire.h"
#include "statread/parse.h"
#include "statread/sandbox.h"

enum { STATREAD_FILE = 0, STATREAD_SOCKET = 1, STATREAD_BATCH_BYTES = 128 * 1024 };

/* ---- answering --------------------------------------------------------------- */

typedef struct statread {
    cellar_statwire_request request;
    size_t *columns;
    cellar_text out;
} statread;

/* There is nobody else to tell when the library is gone. */
static void answer_flush(statread *run)
{
    size_t sent = 0;
    while (sent < run->out.length) {
        ssize_t n = write(STATREAD_SOCKET, run->out.bytes + sent, run->out.length - sent);
        if (n < 0 && errno != EINTR)
            _exit(1);
        sent += n > 0 ? (size_t) n : 0;
    }
    cellar_text_reset(&run->out);
}

static void answer_u32(statread *run, size_t value)
{
    uint32_t number = (uint32_t) value;
    cellar_text_add(&run->out, (const char *) &number, sizeof number);
}

static void answer_u64(statread *run, uint64_t value)
{
    cellar_text_add(&run->out, (const char *) &value, sizeof value);
}

static cellar_status answer_begin(statread *run, cellar_statwire_kind kind, size_t length,
                                  cellar_error *err)
{
    if (run->out.failed) /* in the frame before, which is not whole */
        return cellar_fail_memory(err, "an answer");
    if (run->out.length > STATREAD_BATCH_BYTES)
        answer_flush(run);
    if (length > CELLAR_STATWIRE_FRAME_BYTES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "a row is longer than %d bytes",
                           CELLAR_STATWIRE_FRAME_BYTES);
    cellar_text_add_char(&run->out, (char) kind);
    answer_u32(run, length);
    return run->out.failed ? cellar_fail_memory(err, "an answer") : CELLAR_OK;
}

static void answer_fault(statread *run, cellar_status status, const char *sentence)
{
    size_t length = strnlen(sentence, CELLAR_STATWIRE_SENTENCE_BYTES);
    cellar_text_reset(&run->out); /* what was not sent no longer matters */
    run->out.failed = 0;
    if (answer_begin(run, CELLAR_STATWIRE_FAULT, 4 + length, NULL) != CELLAR_OK)
        _exit(1);
    answer_u32(run, status);
    cellar_text_add(&run->out, sentence, length);
    answer_flush(run);
}

static void answer_advance(void *context, int64_t furthest)
{
    statread *run = context;
    if (answer_begin(run, CELLAR_STATWIRE_ADVANCE, 8, NULL) != CELLAR_OK)
        return;
    answer_u64(run, (uint64_t) furthest);
    answer_flush(run);
}

/* ---- the three tasks ---------------------------------------------------------- */

static cellar_status answer_columns(statread *run, cellar_statfile *file, cellar_error *err)
{
    char **names;
    size_t n;
    cellar_status status = cellar_statfile_list_columns(file, &names, &n, err);

    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        status = answer_begin(run, CELLAR_STATWIRE_NAME, strlen(names[i]), err);
        cellar_text_add_string(&run->out, names[i]);
    }
    return status;
}

static cellar_status answer_row(void *context, const cellar_field *fields, uint64_t row_index,
                                cellar_error *err)
{
    statread *run = context;
    size_t n = run->request.n_columns, length = 4 * n;
    cellar_status status;

    (void) row_index;
    for (size_t i = 0; i < n; i++)
        length += fields[i].missing ? 0 : fields[i].length;
    status = answer_begin(run, CELLAR_STATWIRE_ROW, length, err);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        answer_u32(run, fields[i].missing ? CELLAR_STATWIRE_MISSING : fields[i].length);
        if (!fields[i].missing)
            cellar_text_add(&run->out, fields[i].text, fields[i].length);
    }
    return status;
}

static cellar_status answer_label(void *context, size_t column, const char *code, const char *label,
                                  cellar_error *err)
{
    statread *run = context;
    cellar_status status =
        answer_begin(run, CELLAR_STATWIRE_LABEL, 12 + strlen(code) + strlen(label), err);

    answer_u64(run, column);
    answer_u32(run, strlen(code));
    cellar_text_add_string(&run->out, code);
    cellar_text_add_string(&run->out, label);
    return status;
}

static cellar_status answer(statread *run, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_statfile file;
    size_t n_columns = run->request.n_columns;

    CELLAR_TRY(
        cellar_statfile_open(STATREAD_FILE, (cellar_data_format) run->request.format, &file, err));
    CELLAR_TRY(cellar_sandbox_enter(run->request.memory_bytes, run->request.seconds, err));
    file.advance = answer_advance;
    file.advance_context = run;
    if (run->request.task == CELLAR_STATWIRE_COLUMNS)
        CELLAR_TRY(answer_columns(run, &file, err));
    else if (run->request.task == CELLAR_STATWIRE_ROWS)
        CELLAR_TRY(cellar_statfile_read_rows(&file, run->columns, n_columns, answer_row, run, err));
    else
        CELLAR_TRY(
            cellar_statfile_list_labels(&file, run->columns, n_columns, answer_label, run, err));
    CELLAR_TRY(answer_begin(run, CELLAR_STATWIRE_END, 0, err));
    answer_flush(run);
out:
    return status;
}

/* ---- starting ------------------------------------------------------------------ */

/* Conversions are loaded from files, which are soon out of reach: those that the formats name. One
 * that this system lacks it lacks later too. */
static void load_conversions(void)
{
    static const char *const names[] = {
        "ASMO-708",       "BIG-5",           "CP1129",       "CP1361",
        "CP437",          "CP737",           "CP775",        "CP850",
        "CP852",          "CP855",           "CP857",        "CP858",
        "CP860",          "CP861",           "CP862",        "CP863",
        "CP864",          "CP865",           "CP866",        "CP869",
        "CP874",          "CP921",           "CP922",        "CP932",
        "CP949",          "CP950",           "EBCDIC-US",    "EUC-JP",
        "EUC-KR",         "EUC-TW",          "GB18030",      "GBK",
        "ISO-2022-CN",    "ISO-2022-CN-EXT", "ISO-2022-JP",  "ISO-2022-KR",
        "ISO-8859-1",     "ISO-8859-10",     "ISO-8859-11",  "ISO-8859-13",
        "ISO-8859-14",    "ISO-8859-15",     "ISO-8859-16",  "ISO-8859-2",
        "ISO-8859-3",     "ISO-8859-4",      "ISO-8859-5",   "ISO-8859-6",
        "ISO-8859-7",     "ISO-8859-8",      "ISO-8859-9",   "KOI8-R",
        "KOI8-U",         "MACCYRILLIC",     "MACINTOSH",    "SHIFT-JIS",
        "SHIFT_JISX0213", "TIS-620",         "US-ASCII",     "UTF-16LE",
        "UTF-16BE",       "UTF-32LE",        "UTF-32BE",     "UTF-7",
        "UTF-8",          "WINDOWS-1250",    "WINDOWS-1251", "WINDOWS-1252",
        "WINDOWS-1253",   "WINDOWS-1254",    "WINDOWS-1255", "WINDOWS-1256",
        "WINDOWS-1257",   "WINDOWS-1258",    "WINDOWS-936"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void) iconv_open("UTF-8", names[i]); /* stays open, so that it stays loaded */
}

static int receive(void *bytes, size_t size)
{
    size_t got = 0;
    while (got < size) {
        ssize_t n = read(STATREAD_SOCKET, (char *) bytes + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        got += (size_t) n;
    }
    return 1;
}

static int receive_request(statread *run)
{
    if (!receive(&run->request, sizeof run->request))
        return 0;
    run->columns = cellar_alloc(run->request.n_columns, sizeof *run->columns);
    for (uint64_t i = 0; run->columns != NULL && i < run->request.n_columns; i++) {
        uint64_t column;
        if (!receive(&column, sizeof column))
            return 0;
        run->columns[i] = (size_t) column;
    }
    return run->columns != NULL;
}

int main(void)
{
    statread run = {.columns = NULL};
    cellar_error err = {""};
    cellar_status status;

    if (!receive_request(&run)) {
        fputs("cellar-statread: is started by the Cellar library, which sends it a request\n",
              stderr);
        return 2;
    }
    if (run.request.version != CELLAR_STATWIRE_VERSION) {
        answer_fault(&run, CELLAR_ERR_UNSUPPORTED,
                     "cellar-statread is of another version than the library; install both anew");
        return 1;
    }
    load_conversions();
    status = answer(&run, &err);
    if (status != CELLAR_OK)
        answer_fault(&run, status, err.message);
    _exit(status == CELLAR_OK ? 0 : 1);
}
