# SPDX-License-Identifier: GPL-3.0-or-later
# FLINT and Arb: beside FLINT 2 Arb is a library of its own, FLINT 3 contains it. math/flint.h chooses
# between their headers in the same way. Sets FLINT_LIBRARIES and, for cellar.pc, FLINT_LINK_FLAGS.
find_path(FLINT_INCLUDE flint/flint.h REQUIRED)
find_library(FLINT_LIBRARY flint REQUIRED)
file(STRINGS ${FLINT_INCLUDE}/flint/flint.h line REGEX "^#define __FLINT_VERSION +[0-9]+")
if(NOT line MATCHES "__FLINT_VERSION +([0-9]+)")
  message(FATAL_ERROR "${FLINT_INCLUDE}/flint/flint.h does not say which version of FLINT it is")
endif()
if(CMAKE_MATCH_1 GREATER_EQUAL 3)
  set(FLINT_LIBRARIES ${FLINT_LIBRARY})
  set(FLINT_LINK_FLAGS "-lflint")
else()
  find_library(ARB_LIBRARY flint-arb REQUIRED)
  set(FLINT_LIBRARIES ${ARB_LIBRARY} ${FLINT_LIBRARY})
  set(FLINT_LINK_FLAGS "-lflint-arb -lflint")
endif()
