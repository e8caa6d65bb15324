// SPDX-License-Identifier: Apache-2.0
// ANYNPU_CLONES("avx2", ...) before a function compiles it once for each instruction set named and
// once for the baseline, with vectorised loops; the loader picks one. Only for plain loops without
// branches or calls: the `optimize` attribute keeps library functions from being inlined.
#pragma once

// Not under sanitizers: their runtime is not ready yet when the loader chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ANYNPU_CLONES(...) \
  __attribute__((target_clones(__VA_ARGS__, "default"), optimize("O3", "no-trapping-math")))
#else
#define ANYNPU_CLONES(...)
#endif
