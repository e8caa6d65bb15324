// SPDX-License-Identifier: Apache-2.0
// The table from MindSpore's primitives to vendor operators, whose own table
// (import/singleop/table.h) says what they compute (import/README.md describes its columns).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "import/mindspore/call.h"

namespace anynpu::mindspore {

using Rule = Result<std::vector<ValueId>> (*)(Call& call);

// `operands` has a word for each argument, in MindSpore's order: those of the call, then those of
// the constructor, which older files have as attributes of the same name.
//   x            a tensor; constants become one
//   x~           the same, of the type of the first tensor
//   x*           a tuple of tensors: one input each
//   -            is not needed
//   @a>b         attribute b of the vendor; a is its name in MindSpore, and the same when only one
//                is given. A suffix says what it is: [] a list, .f a float, .d an element type,
//                .b true or false, .r a reduction, .w a format or padding that may be a number;
//                else a whole number
// Words after a semicolon are attributes that are never arguments.
struct PrimitiveRow {
  std::string_view name;      // MindSpore's: "BatchMatMul"
  std::string_view becomes;   // the vendor's: "BatchMatMulV2"; several for a rule: "Mul, Add"
  std::string_view operands;  // empty when there is a rule
  Rule rule = nullptr;
};

// All of them, sorted by name.
std::span<const PrimitiveRow> primitive_rows();
// Null when there is none.
const PrimitiveRow* find_primitive(std::string_view name);

// The outputs of the call.
Result<std::vector<ValueId>> add_call(Call& call, const PrimitiveRow& row);

}  // namespace anynpu::mindspore
