# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES answer.c answer_file.c check.c coding.c dialect.c postgresql.c question.c sqlite.c tabulate_at.c)
if(ODBC_FOUND)
  list(APPEND LAYER_SOURCES odbc.c)
endif()
if(CURL_FOUND)
  list(APPEND LAYER_SOURCES clickhouse.c)
endif()
