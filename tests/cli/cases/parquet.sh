# SPDX-License-Identifier: GPL-3.0-or-later
# Parquet files of several compressions and versions hold the same rows.
corpus=$SOURCE/tests/fuzz/corpus/parquet
for file in a_uncompressed_V1 a_snappy_V2 a_brotli_V1 a_lz4_raw_V1; do
    cellar tabulate "$corpus/$file" --by f,s --missing-as level 2>/dev/null | cksum
done
cellar tabulate "$corpus/a_snappy_V2" --by f,s --missing-as level 2>/dev/null
cellar tabulate "$corpus/b_zstd_V2" --by d --where 'm>=0.10' 2>/dev/null
cellar describe "$corpus/b_gzip_V1"
cellar tabulate "$corpus/nested" --by s 2>/dev/null
cellar tabulate "$corpus/nested" --by l 2>&1 | sed 's,.*/,,'
cellar tabulate "$corpus/twice" --by n 2>&1 | sed 's,.*/,,'
head -c 300 "$corpus/a_snappy_V2" >cut
cellar tabulate cut --by f 2>&1
