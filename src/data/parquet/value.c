/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/parquet/value.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS_A_DAY = 86400, JULIAN_DAY_OF_1970 = 2440588 };

static uint64_t read_bytes(const unsigned char *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t) bytes[i] << (8 * i);
    return value;
}

static int64_t read_signed(const unsigned char *bytes, size_t n)
{
    return n == 4 ? (int32_t) read_bytes(bytes, 4) : (int64_t) read_bytes(bytes, 8);
}

unsigned parquet_value_bytes(const parquet_column *column)
{
    static const unsigned bytes[PARQUET_N_PHYSICAL] = {[PARQUET_INT32] = 4,
                                                       [PARQUET_INT64] = 8,
                                                       [PARQUET_INT96] = 12,
                                                       [PARQUET_FLOAT] = 4,
                                                       [PARQUET_DOUBLE] = 8};
    return column->physical == PARQUET_FIXED ? column->width : bytes[column->physical];
}

/* Whole quotient and remainder that is not negative. */
static int64_t divide(int64_t value, int64_t by, int64_t *rest)
{
    int64_t quotient = value / by;
    *rest = value % by;
    if (*rest < 0) {
        *rest += by;
        quotient--;
    }
    return quotient;
}

/* A day of the Gregorian calendar. Years of 400 repeat; a year that begins in March has its leap
 * day at its end, and its months have 153 days in five. */
static void add_day(cellar_text *out, int64_t days_since_1970)
{
    int64_t day, era, year, month;
    era = divide(days_since_1970 + 719468, 146097, &day); /* 0000-03-01 is day 0 */
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    month += month < 10 ? 3 : -9;
    year += 400 * era + (month <= 2);
    cellar_text_printf(out, "%04lld-%02d-%02d", (long long) year, (int) month, (int) day + 1);
}

/* A time of day in units of 10^-digits seconds; 0 when it is none. 24:00:00 is one. */
static int add_time(cellar_text *out, int64_t time, int digits)
{
    int64_t part = time, second = 1;
    char fraction[24];
    size_t n;
    for (int i = 0; i < digits; i++)
        second *= 10;
    if (time < 0 || time > SECONDS_A_DAY * second)
        return 0;
    time = divide(time, second, &part);
    cellar_text_printf(out, "%02d:%02d:%02d", (int) (time / 3600), (int) (time / 60 % 60),
                       (int) (time % 60));
    if (part == 0)
        return 1;
    n = (size_t) snprintf(fraction, sizeof fraction, "%0*lld", digits, (long long) part);
    while (fraction[n - 1] == '0')
        n--;
    cellar_text_add_char(out, '.');
    cellar_text_add(out, fraction, n);
    return 1;
}

static void add_timestamp(cellar_text *out, int64_t value, int digits)
{
    int64_t day_length = SECONDS_A_DAY, time, day;
    for (int i = 0; i < digits; i++)
        day_length *= 10;
    day = divide(value, day_length, &time);
    add_day(out, day);
    cellar_text_add_char(out, ' ');
    (void) add_time(out, time, digits);
}

/* Bytes of a decimal, the highest first. */
static int add_big_endian(cellar_text *out, const unsigned char *bytes, size_t length, int scale)
{
    cellar_uint128 value = length > 0 && bytes[0] >= 0x80 ? ~(cellar_uint128) 0 : 0;
    if (length > 16)
        return 0;
    for (size_t i = 0; i < length; i++)
        value = value << 8 | bytes[i];
    cellar_text_add_decimal(out, (cellar_int128) value, scale);
    return 1;
}

static void add_number(cellar_text *out, const unsigned char *bytes, int is_single)
{
    float single;
    double number;
    if (is_single) {
        memcpy(&single, bytes, sizeof single);
        number = (double) single;
    } else {
        memcpy(&number, bytes, sizeof number);
    }
    cellar_text_add_number(out, number, is_single);
}

static int add_plain(const parquet_column *c, const unsigned char *bytes, size_t length,
                     cellar_text *out)
{
    switch (c->physical) {
    case PARQUET_BOOLEAN:
        cellar_text_add_string(out, bytes[0] ? "true" : "false");
        break;
    case PARQUET_INT32:
    case PARQUET_INT64:
        cellar_text_printf(out, "%lld", (long long) read_signed(bytes, length));
        break;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        add_number(out, bytes, c->physical == PARQUET_FLOAT);
        break;
    case PARQUET_BYTES:
    case PARQUET_FIXED:
        cellar_text_add(out, (const char *) bytes, length);
        break;
    default:
        return 0;
    }
    return 1;
}

int parquet_add_value(const parquet_column *c, const unsigned char *bytes, size_t length,
                      cellar_text *out)
{
    const int is_int = c->physical == PARQUET_INT32 || c->physical == PARQUET_INT64;
    switch (c->meaning) {
    case PARQUET_AS_IS:
        return add_plain(c, bytes, length, out);
    case PARQUET_UNSIGNED:
        cellar_text_printf(out, "%llu", (unsigned long long) read_bytes(bytes, length));
        return 1;
    case PARQUET_DECIMAL:
        if (!is_int)
            return add_big_endian(out, bytes, length, c->scale);
        cellar_text_add_decimal(out, read_signed(bytes, length), c->scale);
        return 1;
    case PARQUET_DATE:
        add_day(out, read_signed(bytes, 4));
        return 1;
    case PARQUET_TIME:
        return add_time(out, read_signed(bytes, length), c->scale);
    case PARQUET_TIMESTAMP:
        if (is_int) {
            add_timestamp(out, read_signed(bytes, length), c->scale);
        } else { /* INT96: billionths of a second of a day, and the day */
            add_day(out, (int64_t) (int32_t) read_bytes(bytes + 8, 4) - JULIAN_DAY_OF_1970);
            cellar_text_add_char(out, ' ');
            return add_time(out, (int64_t) read_bytes(bytes, 8), c->scale);
        }
        return 1;
    default:
        return 0;
    }
}
