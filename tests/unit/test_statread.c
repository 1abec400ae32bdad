/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar-statread: what a hostile file makes of it stays inside it. */
#include "stat_files.h"
#include "fail_every.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "data/statfile.h"
#include "data/statspawn.h"
#include "statread/sandbox.h"

static const cellar_reader_options sav = {.format = CELLAR_DATA_SAV};

static int write_file(char *path, const void *bytes, size_t length)
{
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t) length);
    return fd;
}

static cellar_status count_row(void *context, const cellar_field *fields, uint64_t row_index,
                               cellar_error *err)
{
    (void) fields;
    (void) err;
    *(uint64_t *) context = row_index + 1;
    return CELLAR_OK;
}

/* ---- a file that makes ReadStat write out of bounds --------------------------- */

/* A text of eight segments, whose row is NUL bytes up to the last one. ReadStat 1.1.8 takes a byte
 * off at the end of each segment, of texts that have none, too. */
static void make_hostile(stat_file *file)
{
    enum { WIDTH = 2000, SEGMENT = 256, SEGMENTS = 8, TAIL = WIDTH - 252 * (SEGMENTS - 1) };
    static const stat_kind kind = {".sav", CELLAR_DATA_SAV, 0, READSTAT_COMPRESS_NONE};
    readstat_writer_t *writer = stat_writer();
    readstat_variable_t *text = readstat_add_variable(writer, "T", READSTAT_TYPE_STRING, WIDTH);
    size_t last = (TAIL + 7) / 8 * 8, row = SEGMENT * (SEGMENTS - 1) + last;

    stat_begin(writer, &kind, 1, file);
    assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
    assert_int_equal(readstat_insert_string_value(writer, text, "x"), READSTAT_OK);
    assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    stat_end(writer);
    assert_true(file->length > row);
    memset(file->bytes + file->length - row, 0, row - last);
    memset(file->bytes + file->length - last, 'A', last);
}

static void test_hostile_file(void **state)
{
    static const size_t columns[] = {0};
    char path[] = "cellar-test-XXXXXX.sav", want[200];
    uint64_t n_rows = 0;
    stat_file bytes;
    cellar_error err;
    char **names;
    size_t n_names;

    (void) state;
    make_hostile(&bytes);
    close(write_file(path, bytes.bytes, bytes.length));
    assert_int_equal(cellar_statfile_columns(path, &sav, &names, &n_names, &err), CELLAR_OK);
    assert_int_equal(n_names, 1);
    cellar_columns_free(names, n_names);
    /* ReadStat 1.1.9 refuses the file; what 1.1.8 does with it ends its process. */
    assert_int_equal(cellar_statfile_read(path, &sav, columns, 1, count_row, &n_rows, NULL, &err),
                     CELLAR_ERR_INPUT);
    snprintf(want, sizeof want, "%s: not an SPSS file, or a damaged one", path);
    assert_memory_equal(err.message, want, strlen(want));
    unlink(path);
    stat_file_clear(&bytes);
}

/* ---- the sandbox ---------------------------------------------------------------- */

/* Runs `try` in a process in the sandbox. Answers how it ended: as waitpid() tells. */
static int in_sandbox(int (*try)(void), uint64_t memory_bytes, uint64_t seconds)
{
    int how;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (cellar_sandbox_enter(memory_bytes, seconds, NULL) != CELLAR_OK)
            _exit(99);
        syscall(SYS_exit_group, try()); /* _exit() would look for leaks first, in builds that do */
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return how;
}

static int try_nothing(void)
{
    return 0;
}

static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 1;
}

static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0 ? 2 : 1;
}

static int try_fork(void)
{
    return fork() < 0 ? 2 : 1;
}

static int try_exec(void)
{
    char *const none[] = {NULL};
    return execve("/bin/true", none, none);
}

static int try_kill(void)
{
    return kill(getppid(), 0);
}

static int try_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}

static int try_map_file(void)
{
    return mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0) == MAP_FAILED;
}

static int try_make_code(void)
{
    static char page[8192];
    char *start = page + (4096 - (uintptr_t) page % 4096);
    return mprotect(start, 4096, PROT_READ | PROT_EXEC);
}

static int try_memory(void)
{
    void *little = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *much =
        mmap(NULL, (size_t) 1 << 40, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return little != MAP_FAILED && much == MAP_FAILED ? 0 : 1;
}

static int try_for_ever(void)
{
    for (volatile uint64_t i = 0; i < UINT64_MAX; i++)
        ;
    return 1;
}

static void test_sandbox(void **state)
{
    static const struct {
        int (*try)(void);
        int ended_by;
    } cases[] = {
        {try_nothing, 0},        {try_open, 0},          {try_socket, SIGSYS},
        {try_fork, SIGSYS},      {try_exec, SIGSYS},     {try_kill, SIGSYS},
        {try_code, SIGSYS},      {try_map_file, SIGSYS}, {try_make_code, SIGSYS},
        {try_for_ever, SIGXCPU},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int how = in_sandbox(cases[i].try, 0, 1);
        if (cases[i].ended_by == 0)
            assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
        else
            assert_true(WIFSIGNALED(how) && WTERMSIG(how) == cases[i].ended_by);
    }
#ifndef CELLAR_SANITIZE /* which has taken more than any limit already */
    assert_int_equal(in_sandbox(try_memory, (uint64_t) 1 << 30, 1), 0);
#else
    (void) try_memory;
#endif
}

/* ---- text in other encodings ----------------------------------------------------- */

static cellar_status expect_zurich(void *context, const cellar_field *fields, uint64_t row_index,
                                   cellar_error *err)
{
    (void) context;
    (void) row_index;
    (void) err;
    assert_int_equal(fields[0].length, 7);
    assert_memory_equal(fields[0].text, "Z\xc3\xbcrich", 7);
    return CELLAR_OK;
}

/* The conversion of a file's text is there although no file is within reach. */
static void test_encoding(void **state)
{
    static const size_t columns[] = {0};
    static const stat_kind kind = {".dta", CELLAR_DATA_DTA, 114, READSTAT_COMPRESS_NONE};
    const cellar_reader_options dta = {.format = CELLAR_DATA_DTA};
    char path[] = "cellar-test-XXXXXX.dta";
    readstat_writer_t *writer = stat_writer();
    readstat_variable_t *text = readstat_add_variable(writer, "T", READSTAT_TYPE_STRING, 8);
    stat_file bytes;
    cellar_error err;

    (void) state;
    stat_begin(writer, &kind, 1, &bytes);
    assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
    assert_int_equal(readstat_insert_string_value(writer, text, "Z\xfcrich"), READSTAT_OK);
    assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    stat_end(writer);
    close(write_file(path, bytes.bytes, bytes.length));
    assert_int_equal(cellar_statfile_read(path, &dta, columns, 1, expect_zurich, NULL, NULL, &err),
                     CELLAR_OK);
    unlink(path);
    stat_file_clear(&bytes);
}

/* ---- limits, and the program itself ------------------------------------------------ */

static void test_limits(void **state)
{
    const cellar_reader_options two = {.format = CELLAR_DATA_SAV, .max_columns = 2};
    char path[] = "cellar-test-XXXXXX.sav";
    stat_file bytes;
    cellar_error err;
    char **names;
    size_t n_names;

    (void) state;
    stat_make(&stat_kinds[0], 1, &bytes);
    close(write_file(path, bytes.bytes, bytes.length));
    assert_int_equal(cellar_statfile_columns(path, &two, &names, &n_names, &err),
                     CELLAR_ERR_MEMORY);
    assert_non_null(strstr(err.message, "--max-columns"));
    assert_null(names);
    unlink(path);
    stat_file_clear(&bytes);
}

static void test_other_programs(void **state)
{
    static const struct {
        const char *program;
        cellar_status status;
        const char *message;
    } cases[] = {
        {"/no/such/program", CELLAR_ERR_IO, "CELLAR_STATREAD"},
        {"/bin/true", CELLAR_ERR_INPUT, "crashed"},
        {"/bin/false", CELLAR_ERR_INPUT, "crashed"},
        {"/bin/pwd", CELLAR_ERR_INPUT, "nonsense"},
    };
    char path[] = "cellar-test-XXXXXX.sav", found[4096];
    cellar_error err;
    char **names;
    size_t n_names;

    (void) state;
    close(write_file(path, "anything", 8));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("CELLAR_STATREAD", cases[i].program, 1);
        assert_int_equal(cellar_statfile_columns(path, &sav, &names, &n_names, &err),
                         cases[i].status);
        assert_non_null(strstr(err.message, cases[i].message));
    }
    unsetenv("CELLAR_STATREAD");
    assert_true(cellar_statspawn_path(found, sizeof found));
    assert_non_null(strstr(found, "/libexec/cellar/cellar-statread"));
    assert_false(cellar_statspawn_path(found, 5));
    stat_find_program();
    unlink(path);
}

/* ---- memory that ends ---------------------------------------------------------------- */

static cellar_status read_scenario(void *context, cellar_error *err)
{
    static const size_t columns[] = {1, 0};
    const char *path = context;
    cellar_status status = CELLAR_OK;
    cellar_codelist *lists[2] = {NULL, NULL};
    uint64_t n_rows = 0;
    char **names = NULL;
    size_t n_names = 0;

    CELLAR_TRY(cellar_statfile_columns(path, &sav, &names, &n_names, err));
    CELLAR_TRY(cellar_statfile_read(path, &sav, columns, 2, count_row, &n_rows, NULL, err));
    assert_int_equal(n_rows, N_STAT_PEOPLE);
    CELLAR_TRY(cellar_statfile_labels(path, &sav, columns, 2, lists, err));
    assert_int_equal(cellar_codelist_n_codes(lists[0]), 2);
    assert_null(lists[1]);
out:
    cellar_codelist_free(lists[0]);
    cellar_columns_free(names, n_names);
    return status;
}

static void test_fail_every(void **state)
{
    char path[] = "cellar-test-XXXXXX.sav";
    stat_file bytes;

    (void) state;
    stat_make(&stat_kinds[0], 1, &bytes);
    close(write_file(path, bytes.bytes, bytes.length));
    check_fail_every(read_scenario, path);
    unlink(path);
    stat_file_clear(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_file),   cmocka_unit_test(test_sandbox),
        cmocka_unit_test(test_encoding),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_other_programs), cmocka_unit_test(test_fail_every),
    };
    stat_find_program();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
