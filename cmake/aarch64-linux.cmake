# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for ARM hosts with Debian's cross compiler; programs run under qemu-aarch64. Libraries come
# from this machine (packages-arm.apt, `make test-arm`), or from the folder ANYNPU_ARM_ROOT with unpacked
# packages (tools/arm_root.sh, `make wheel-arm`).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# Packages of the other architecture lie beside our own, not under a root of their own.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig)
set(CMAKE_IGNORE_PREFIX_PATH /usr/local)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANYNPU_ARM_ROOT)
if(ANYNPU_ARM_ROOT)
  set(CMAKE_FIND_ROOT_PATH ${ANYNPU_ARM_ROOT})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${ANYNPU_ARM_ROOT})
  set(ENV{PKG_CONFIG_LIBDIR} ${ANYNPU_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
  # Some headers exist once for each architecture: configurations of libjpeg and of Python.
  file(GLOB Python_INCLUDE_DIR ${ANYNPU_ARM_ROOT}/usr/include/python3.[0-9]*)
  set(CMAKE_C_FLAGS_INIT "-idirafter ${ANYNPU_ARM_ROOT}/usr/include/aarch64-linux-gnu -idirafter ${ANYNPU_ARM_ROOT}/usr/include")
  set(CMAKE_CXX_FLAGS_INIT ${CMAKE_C_FLAGS_INIT})
endif()
