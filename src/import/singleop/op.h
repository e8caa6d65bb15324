// SPDX-License-Identifier: Apache-2.0
// SingleOp: one operator as a program or a JSON file describes it: the vendor's name of its type,
// its tensors and attributes. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tensor/tensor_desc.h"

namespace anynpu::singleop {

using Attr = std::variant<bool, int64_t, float, std::string, DType, std::vector<bool>,
                          std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                          std::vector<DType>, std::vector<std::vector<int64_t>>>;
// "int", "list_float": as the JSON files spell it, in the order of Attr.
std::string_view type_name(const Attr& attr);

using Attrs = std::map<std::string, Attr>;

struct SingleOp {
  std::string type;  // "Add", "ArgMaxD"
  std::string name;  // of the model; may be empty
  std::vector<TensorDesc> inputs, outputs;
  Attrs attrs;

  // True when an extent of an input is known at run time only.
  bool is_dynamic() const;
  // Whether the input is left out (type undefined).
  bool has_input(size_t index) const {
    return index < inputs.size() && inputs[index].dtype != DType::undefined;
  }
  // Whether the output is requested: one with neither type nor format is left out.
  bool has_output(size_t index) const {
    return outputs[index].dtype != DType::undefined || outputs[index].format != Format::undefined;
  }
};

// The same text for two operators that one model can run: type, tensors and attributes. Shapes of
// dynamic operators are in it as they were described, with their ranges.
std::string key_of(const SingleOp& op);
// The part of the key that does not depend on extents: type, ranks, types, formats, attributes.
std::string family_of(const SingleOp& op);

// What the file of an operator is called when its description has no name:
// "0_Add_3_2_8_16_3_2_8_16_3_2_8_16", without the suffix.
std::string file_name(const SingleOp& op, size_t index);

// The JSON form of `atc --singleop`: one operator, or the array of a file. `what` names the text.
Result<SingleOp> from_json(const json::Value& value, std::string_view what);
Result<std::vector<SingleOp>> parse_file_text(std::string_view text, std::string_view what);
json::Value to_json(const SingleOp& op);

}  // namespace anynpu::singleop
