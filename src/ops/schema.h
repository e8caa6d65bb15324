// SPDX-License-Identifier: Apache-2.0
// OpSchema: the definition of an operator as data: names, attributes with defaults, first opset,
// operands with their type sets, traits and the shape rule. Independent of devices. Schemas are
// constants built once by Registry; safe to read from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "ops/dtype_set.h"
#include "ops/target.h"
#include "ops/traits.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::ops {

// Storage order of a tensor inside a plan. `blocked16` is N, ceil(C/16), spatial..., 16: the
// channels beyond C are finite but otherwise unspecified. `channels_last` is N, spatial..., C: in
// plans for back ends that convert it themselves (backend_kernels.h). Graphs hold plain tensors
// only; the plan chooses layouts.
enum class Layout : uint8_t { plain, blocked16, channels_last };
constexpr size_t kLayouts = 3;

// A tensor as shape rules and kernels see it.
struct Operand {
  DType dtype = DType::undefined;
  Shape shape;  // -1 = known at run time only; valid only if has_shape
  bool has_shape = false;
  bool present = true;  // false: an optional operand left out
  bool is_constant = false;
  std::span<const std::byte> constant;  // the data when is_constant (plain layout)
  Layout layout = Layout::plain;        // as produced; plan() may ask for another

  static Operand absent() {
    Operand operand;
    operand.present = false;
    return operand;
  }
  static Operand of(DType dtype, Shape shape) {
    Operand operand;
    operand.dtype = dtype;
    operand.shape = std::move(shape);
    operand.has_shape = true;
    return operand;
  }
  // The tensor `id` of `graph`; absent for kNoValue.
  static Operand of(const graph::Graph& graph, graph::ValueId id);

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool fully_known() const { return present && has_shape && is_static(shape); }
};

enum class Presence : uint8_t { required, optional, variadic };

// Operands with the same `type_var` ("T") have the same type; OpSchema::types has the allowed set.
struct FormalOperand {
  std::string_view name;
  std::string_view type_var;
  Presence presence = Presence::required;
};

// The formal operand at `index`; a variadic last one covers the rest. Null beyond the
// list.
const FormalOperand* formal_at(const std::vector<FormalOperand>& formals, size_t index);

struct TypeVar {
  std::string_view name;
  DTypeSet types;
};

enum class AttrKind : uint8_t { i, f, s, ints, floats, strings, tensor, graph };

// No default (monostate): the attribute is optional without default, or required.
using AttrDefault =
    std::variant<std::monostate, int64_t, float, std::string_view, std::vector<int64_t>>;

struct AttrSchema {
  std::string_view name;
  AttrKind kind;
  AttrDefault value = {};
  bool required = false;
};

struct OpSchema;

// The argument of shape rules and kernels: the node, its schema and its operands. Valid only during
// the call.
struct OpContext {
  const graph::Node* node = nullptr;
  const OpSchema* schema = nullptr;
  std::vector<Operand> inputs;   // padded with absent operands up to the schema's formal inputs
  std::vector<Operand> outputs;  // one per output of the node; filled in by the shape rule
  Target target;                 // what a plan is made for

  // Attributes: the node's value, else the schema's default, else 0 / "" / {}.
  int64_t int_attr(std::string_view key) const;
  float float_attr(std::string_view key) const;
  std::string string_attr(std::string_view key) const;
  std::vector<int64_t> ints_attr(std::string_view key) const;
  bool has_attr(std::string_view key) const;  // the node itself carries it

  bool has_input(size_t index) const { return index < inputs.size() && inputs[index].present; }
  // Fails unless inputs `first` to `last` are constants, as far as they are given; `what` names
  // them.
  Status check_constants(size_t first, size_t last, std::string_view what) const;
  // "Conv 'layer3.0'": the start of error messages.
  std::string label() const;
};

// Fills context.outputs (dtype, shape; -1 where an input extent is -1). Generic checks (operand
// count, types, attribute names) have passed before it is called.
using ShapeRule = Status (*)(OpContext& context);

struct OpSchema {
  std::string_view name;         // ONNX name for the default domain
  std::string_view domain = {};  // "" = ONNX; "anynpu" = made by our own passes
  int64_t since = 1;             // first opset it describes; the next entry of that name ends it
  std::vector<FormalOperand> inputs = {};
  std::vector<FormalOperand> outputs = {};
  std::vector<TypeVar> types = {};
  std::vector<AttrSchema> attrs = {};
  OpTraits traits = {};  // all decided, and the same in every version (traits_test.cpp)
  ShapeRule shape = nullptr;
  bool reads_shapes_only = false;  // known shapes decide the output: folded like a constant
  bool is_flow = false;            // no kernel: control flow, sequences, strings
};

}  // namespace anynpu::ops
