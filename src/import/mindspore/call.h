// SPDX-License-Identifier: Apache-2.0
// Call: one primitive of MindSpore with its arguments, to be converted to vendor operators. An
// argument is a tensor, a constant, a tuple of such, or nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/ge/op_graph.h"
#include "import/mindspore/mindir.h"

namespace anynpu::mindspore {

using ge::kNoValue;
using ge::OpGraph;
using graph::ValueId;

struct Item {
  // A function has its name as constant and the arguments it is bound to as items; a choice has a
  // condition and two functions as items.
  enum class Kind { nothing, tensor, constant, tuple, function, choice };
  Kind kind = Kind::nothing;
  ValueId tensor = kNoValue;
  singleop::Attr constant;
  std::vector<Item> items;

  static Item of(ValueId value) { return {Kind::tensor, value, {}, {}}; }
  static Item of(singleop::Attr value) { return {Kind::constant, kNoValue, std::move(value), {}}; }
  static Item of(std::vector<Item> list) { return {Kind::tuple, kNoValue, {}, std::move(list)}; }
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_nothing() const { return kind == Kind::nothing; }
};

// A constant of the file that is not a tensor: a number, a text, a list of them.
Item to_item(const Attribute& attribute);

class Call {
 public:
  Call(OpGraph& graph, std::string name, std::string type, size_t outputs,
       std::vector<bool> wanted);

  OpGraph& graph;
  std::string name, type;  // of the node, of the primitive
  std::vector<Item> arguments;
  std::map<std::string, Item> attributes;
  size_t output_count;
  std::vector<bool> wanted;         // which outputs are read
  std::vector<DType> output_types;  // as the file states them; may be shorter

  const Item& argument(size_t index) const;
  bool has(size_t index) const { return !argument(index).is_nothing(); }
  // An attribute of the primitive, where this release of MindSpore puts it: by name, or as an
  // argument.
  const Item& stated(const std::string& attribute, size_t argument_index) const;

  // As a tensor; constants become one, of the type `like` when it is given. kNoValue for nothing.
  Result<ValueId> tensor(const Item& item, DType like = DType::undefined);
  // All tensors of a tuple, or the one.
  Result<std::vector<ValueId>> tensors(const Item& item);
  // Constants; fail with the position or name when there is another kind.
  Result<int64_t> integer(const Item& item, std::string_view what) const;
  Result<double> real(const Item& item, std::string_view what) const;
  Result<std::vector<int64_t>> integers(const Item& item, std::string_view what) const;
  Result<bool> flag(const Item& item, std::string_view what) const;
  // A word: formats and paddings are numbers in newer files.
  Result<std::string> word(const Item& item, std::string_view what,
                           const std::vector<std::string>& by_number) const;
  Result<DType> dtype(const Item& item, std::string_view what) const;

  const Shape& shape(ValueId id) const { return graph.value(id).shape; }

  // Adds an operator of the vendor with this call's name; its outputs are those of the call.
  Result<std::vector<ValueId>> add(std::string_view vendor_type, std::vector<ValueId> inputs,
                                   singleop::Attrs attrs, Format format = Format::nd);
  // One more operator on the way there, with one output.
  Result<ValueId> step(std::string_view vendor_type, std::vector<ValueId> inputs,
                       singleop::Attrs attrs = {}, Format format = Format::nd,
                       DType out = DType::undefined);
  Result<ValueId> scalar(DType dtype, double value);
  // The same of a number of the file, with all its digits.
  Result<ValueId> number(const Item& item, DType dtype, std::string_view what);
  Result<ValueId> list(const std::vector<int64_t>& values);

 private:
  Result<ValueId> constant_tensor(const singleop::Attr& value, DType like);
  int steps_ = 0;
};

}  // namespace anynpu::mindspore
