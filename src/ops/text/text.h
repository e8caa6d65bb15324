// SPDX-License-Identifier: Apache-2.0
// Operators on strings. In AscendCL every input and output of a model has a size before the run, so
// none of them can be strings: strings are constants, or computed from constants, and the compiler
// folds them. Only numbers are left at run time. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/registry.h"

namespace anynpu::ops::text {

// A folded tensor; strings are in `bytes` in the layout of tensor/texts.h.
struct Folded {
  DType dtype = DType::undefined;
  Shape shape;
  std::vector<std::byte> bytes;
};
using FoldedList = Result<std::vector<Folded>>;

// Whether `node` reads or produces strings.
bool concerns_texts(const graph::Node& node, const std::vector<Operand>& inputs);

// The outputs of such a node. Fails when an input is not constant, and for arithmetic
// operators.
FoldedList fold_texts(const graph::Node& node, const std::vector<Operand>& inputs);

// What the operators do; all inputs are constants.
using TextFunction = FoldedList (*)(const OpContext& context);

Result<std::vector<std::string_view>> texts_of(const Operand& operand);
Folded folded(Shape shape, const std::vector<std::string>& texts);
// A few bytes of file must not become gigabytes of strings.
Status check_size(const OpContext& context, uint64_t elements, uint64_t characters);

FoldedList concat_texts(const OpContext& context);
FoldedList split_texts(const OpContext& context);
FoldedList normalize_texts(const OpContext& context);
FoldedList match_texts(const OpContext& context);
// Of any type, as printf writes them, and strings in lower or upper case.
FoldedList format_numbers(const OpContext& context);
FoldedList change_case(const OpContext& context);

// Cast and CastLike from or to strings.
FoldedList cast_texts(const OpContext& context);
// Numbers as another type, by the kernels of Cast, with the attributes of `model`.
FoldedList cast_numbers(const Folded& from, DType to, const graph::Node* model = nullptr);

}  // namespace anynpu::ops::text
