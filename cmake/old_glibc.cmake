# SPDX-License-Identifier: Apache-2.0
# ANYNPU_GLIBC=2.28: links for that version of glibc and later ones (old_glibc/make_stubs.py). Objects stay
# the same, so that the compiler cache serves both builds.
set(ANYNPU_GLIBC "" CACHE STRING "Oldest glibc that the libraries run with (2.28, 2.31); empty: this machine's")
if(NOT ANYNPU_GLIBC)
  return()
endif()
find_package(Python 3.9 COMPONENTS Interpreter REQUIRED)
set(stubs ${CMAKE_BINARY_DIR}/glibc-${ANYNPU_GLIBC})
execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/old_glibc/make_stubs.py
                        --glibc ${ANYNPU_GLIBC} --cxx ${CMAKE_CXX_COMPILER} --out ${stubs}
                COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${CMAKE_CURRENT_LIST_DIR}/old_glibc/make_stubs.py ${CMAKE_CURRENT_LIST_DIR}/old_glibc/compat.cpp)
add_link_options(-L${stubs} -Wl,-z,defs -Wl,--exclude-libs,libstdc++.a:libanynpu_compat.a)
