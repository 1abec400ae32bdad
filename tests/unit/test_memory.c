/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"

static void test_alloc_overflow(void **state)
{
    static const size_t cases[][2] = {{SIZE_MAX, 2},
                                      {SIZE_MAX / 2 + 1, 2},
                                      {(size_t) 1 << 33, (size_t) 1 << 33},
                                      {PTRDIFF_MAX, 2},
                                      {(size_t) PTRDIFF_MAX + 1, 1}};
    char *kept = cellar_alloc(4, 1);
    (void) state;
    assert_non_null(kept);
    memcpy(kept, "abc", 4);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(cellar_alloc(cases[i][0], cases[i][1]));
        assert_null(cellar_realloc(kept, cases[i][0], cases[i][1]));
    }
    assert_string_equal(kept, "abc"); /* a failed realloc leaves the old */
    assert_null(cellar_alloc_pages(SIZE_MAX));
    assert_null(cellar_alloc_pages(PTRDIFF_MAX));
    cellar_free(kept);
    cellar_free(NULL);
}

static void test_alloc(void **state)
{
    unsigned char *bytes = cellar_alloc(1000, 3), *pages, *nothing = cellar_alloc(0, 8);
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    (void) state;
    assert_non_null(nothing); /* NULL always means failure */
    nothing = cellar_realloc(nothing, 0, 8);
    assert_non_null(nothing);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(bytes[i], 0);
    for (size_t size = 0; size <= 2 * page; size += page / 2) {
        pages = cellar_alloc_pages(size);
        assert_non_null(pages);
        assert_int_equal((uintptr_t) pages % page, 0);
        memset(pages, 1, size);
        cellar_free(pages);
    }
    memset(bytes, 7, 3000);
    cellar_wipe(bytes, 2999);
    assert_int_equal(bytes[0] | bytes[2998], 0);
    assert_int_equal(bytes[2999], 7);
    cellar_free(bytes);
    cellar_free(nothing);
}

static void test_grow(void **state)
{
    uint64_t *items = NULL;
    size_t capacity = 0, n_moves = 0;
    (void) state;
    for (size_t n = 0; n < 10000; n++) {
        size_t before = capacity;
        assert_true(cellar_grow(&items, &capacity, n + 1, sizeof *items));
        assert_true(capacity > n);
        n_moves += capacity != before;
        items[n] = n * n;
    }
    assert_true(n_moves < 25); /* amortised, not one move an element */
    for (size_t n = 0; n < 10000; n++)
        assert_int_equal(items[n], n * n);
    assert_false(cellar_grow(&items, &capacity, SIZE_MAX, sizeof *items));
    assert_false(cellar_grow(&items, &capacity, SIZE_MAX / 4, sizeof *items));
    assert_int_equal(items[9999], 9999u * 9999u); /* still there, as is its capacity */
    assert_true(capacity >= 10000 && capacity < 20000);
    cellar_free(items);
}

static void test_arena(void **state)
{
    enum { N = 3000 };
    static unsigned char *pieces[N];
    cellar_arena *arena = cellar_arena_create(SIZE_MAX);
    size_t total = 0;
    (void) state;
    assert_non_null(arena);
    for (size_t i = 0; i < N; i++) { /* small pieces, and now and then a large one */
        size_t size = i % 50 == 49 ? 20000 : 1 + i % 97;
        pieces[i] = cellar_arena_alloc(arena, size, 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t) pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int) (i & 0xff), size);
        total += size;
    }
    for (size_t i = 0; i < N; i++) { /* no two overlap */
        size_t size = i % 50 == 49 ? 20000 : 1 + i % 97;
        assert_int_equal(pieces[i][0], i & 0xff);
        assert_int_equal(pieces[i][size - 1], i & 0xff);
    }
    assert_true(cellar_arena_used(arena) >= total);
    assert_true(cellar_arena_used(arena) <= total + 16 * N);
    cellar_arena_free(arena);
    cellar_arena_free(NULL);
}

static void test_arena_limit(void **state)
{
    cellar_arena *arena = cellar_arena_create(100);
    (void) state;
    assert_null(cellar_arena_alloc(arena, SIZE_MAX, 1));
    assert_null(cellar_arena_alloc(arena, SIZE_MAX / 2, 4));
    assert_null(cellar_arena_alloc(arena, 101, 1));
    assert_null(cellar_arena_copy(arena, "", SIZE_MAX));
    assert_int_equal(cellar_arena_used(arena), 0); /* what was refused costs nothing */
    assert_non_null(cellar_arena_alloc(arena, 64, 1));
    assert_string_equal(cellar_arena_copy(arena, "fifteen letters", 15), "fifteen letters");
    assert_string_equal(cellar_arena_copy(arena, NULL, 0), "");
    assert_int_equal(cellar_arena_used(arena), 96);
    assert_null(cellar_arena_alloc(arena, 1, 1)); /* 4 bytes are left, a piece costs 16 */
    cellar_arena_free(arena);
}

static cellar_status arena_scenario(void *context, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_arena *arena = cellar_arena_create(1 << 20);
    (void) context;
    if (arena == NULL)
        return cellar_fail_memory(err, "an arena");
    for (int i = 0; i < 10 && status == CELLAR_OK; i++)
        if (cellar_arena_alloc(arena, 3000, 1) == NULL)
            status = cellar_fail_memory(err, "a piece");
    cellar_arena_free(arena);
    return status;
}

static void test_fail_every(void **state)
{
    uint64_t n = check_fail_every(arena_scenario, NULL);
    (void) state;
#ifdef CELLAR_FAIL_ALLOCATION
    assert_int_equal(n, 7); /* the arena and six blocks, which begin small */
#else
    assert_int_equal(n, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_overflow), cmocka_unit_test(test_alloc),
        cmocka_unit_test(test_grow),           cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_limit),    cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
