# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by every target.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(LLD ld.lld)
if(LLD)
  add_link_options(-fuse-ld=lld)
  if(CMAKE_CROSSCOMPILING)  # a cross compiler looks for it among its own programs
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lld)
    file(CREATE_LINK ${LLD} ${CMAKE_BINARY_DIR}/lld/ld.lld SYMBOLIC)
    add_link_options(-B${CMAKE_BINARY_DIR}/lld)
  endif()
endif()

find_package(Threads REQUIRED)
# GCC 12 takes moved std::optional and std::variant for uninitialised: a known false alarm.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-maybe-uninitialized
                    -Werror=return-type
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(ANYNPU_SANITIZE)
  string(REPLACE ";" "," sanitizers "${ANYNPU_SANITIZE}")
  # Programs may pass any number where the C interface takes an enum; the entry points check it, and
  # the compiler assumes nothing about it (no -fstrict-enums). Null pointers and the ends of objects
  # are the address sanitizer's work.
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize=enum,null,object-size
                      -fno-omit-frame-pointer -O1)
  add_link_options(-fsanitize=${sanitizers})
  add_compile_definitions(ANYNPU_SANITIZED=1)
endif()
