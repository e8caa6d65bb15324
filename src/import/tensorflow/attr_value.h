// SPDX-License-Identifier: Apache-2.0
// AttrValue of TensorFlow: attributes of a node, parsed when they are used. If the attribute is
// missing, the functions return the caller's default; one of another kind is a failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/tensorflow/graph_def.h"
#include "tensor/shape.h"

namespace anynpu::tensorflow {

// TensorShapeProto, as PartialTensorShape of TensorFlow: none when the rank is unknown; -1 for an
// unknown dimension.
using PartialShape = std::optional<Shape>;

Result<int64_t> int_attr(const NodeDef& node, std::string_view name, int64_t otherwise);
Result<float> float_attr(const NodeDef& node, std::string_view name, float otherwise);
Result<bool> bool_attr(const NodeDef& node, std::string_view name, bool otherwise);
Result<std::string> text_attr(const NodeDef& node, std::string_view name, std::string otherwise);
Result<int64_t> type_attr(const NodeDef& node, std::string_view name, int64_t otherwise);
Result<PartialShape> shape_attr(const NodeDef& node, std::string_view name);
Result<std::vector<int64_t>> ints_attr(const NodeDef& node, std::string_view name);
Result<std::vector<float>> floats_attr(const NodeDef& node, std::string_view name);
Result<std::vector<int64_t>> types_attr(const NodeDef& node, std::string_view name);
Result<std::vector<PartialShape>> shapes_attr(const NodeDef& node, std::string_view name);
Result<std::vector<std::string>> texts_attr(const NodeDef& node, std::string_view name);
// The name of a function; empty when the attribute is not there.
Result<std::string> function_attr(const NodeDef& node, std::string_view name);
Result<std::vector<std::string>> functions_attr(const NodeDef& node, std::string_view name);
// The TensorProto of a Const; none when the attribute is not there.
Result<std::optional<WireField>> tensor_attr(const NodeDef& node, std::string_view name);

Result<PartialShape> read_shape(const WireField& message);

}  // namespace anynpu::tensorflow
