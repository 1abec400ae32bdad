# SPDX-License-Identifier: GPL-3.0-or-later
# What the compiler and the linker do against errors in memory; tests/structure/hardening.py reads
# it from the binaries. An option that a compiler or a processor does not have is left out.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
    -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "HAVE${flag}" known)
  check_c_compiler_flag("-Werror ${flag}" ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endforeach()
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code)
  string(MAKE_C_IDENTIFIER "HAVE${flag}" known)
  check_linker_flag(C ${flag} ${known})
  if(${known})
    add_link_options(${flag})
  endif()
endforeach()
# Checks of sizes need an optimised build, and AddressSanitizer has its own.
if(NOT CELLAR_SANITIZE)
  set(checked $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  add_compile_options($<${checked}:-U_FORTIFY_SOURCE> $<${checked}:-D_FORTIFY_SOURCE=3>)
endif()
