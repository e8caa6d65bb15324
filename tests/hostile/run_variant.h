// SPDX-License-Identifier: Apache-2.0
// Compiles, loads and runs a variant. Refusals are what is expected of most; a crash, an exception
// or a byte written behind an output is not.
#pragma once

#include <string>

#include "variants.h"

namespace anynpu::hostile {

struct Outcome {
  enum class Kind { ran, refused, wrong };
  Kind kind = Kind::ran;
  std::string text;  // of a refusal, or of what is wrong
};

Outcome run_variant(Variant variant);

// Aborts when a variant is `wrong`: for fuzzers.
void run_or_abort(Variant variant);

}  // namespace anynpu::hostile
