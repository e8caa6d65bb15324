// SPDX-License-Identifier: Apache-2.0
// ANYNPU_CLONES("avx2", ...) before a function: it is compiled once for each machine named and once
// for any, its loops turned into vectors, and the loader chooses. For plain loops without branches;
// no function of the standard library in them, which `optimize` keeps from being inlined.
#pragma once

// A sanitizer's runtime is not there yet when clones are chosen.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ANYNPU_CLONES(...) \
  __attribute__((target_clones(__VA_ARGS__, "default"), optimize("O3", "no-trapping-math")))
#else
#define ANYNPU_CLONES(...)
#endif
