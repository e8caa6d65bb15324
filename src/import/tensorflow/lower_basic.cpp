// SPDX-License-Identifier: Apache-2.0
// Inputs, constants, and operators with the same operands as ours.
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"
#include "import/tensorflow/tensor_proto.h"
#include "import/tensorflow/types.h"

namespace anynpu::tensorflow {

namespace {

// An input of the model; its shape is the model's, with what --input_shape says.
ValueId add_input(Builder& b, const std::string& name, DType type, PartialShape shape) {
  const auto given = b.model().options.shapes.find(name);
  if (given != b.model().options.shapes.end()) {
    const Shape& wanted = given->second;
    bool fits = !shape || shape->size() == wanted.size();
    // A fixed batch may be replaced: models are frozen with the one they were called with.
    for (size_t i = 1; shape && fits && i < wanted.size(); ++i)
      fits = (*shape)[i] < 0 || wanted[i] < 0 || (*shape)[i] == wanted[i];
    // Files before TensorFlow 1.0 write an unknown shape as one without axes.
    if (shape && !fits && !shape->empty()) {
      b.refuse(Code::shape_mismatch,
               "--input_shape gives {} for '{}', the model has {}; expected the same where the "
               "model states an extent",
               to_string(wanted), name, to_string(*shape));
      return kNoValue;
    }
    shape = wanted;
  }
  if (type == DType::string) {
    b.refuse(
        Code::unsupported_dtype,
        "the input is of strings; feed what is computed from them, and cut the model behind it");
    return kNoValue;
  }
  graph::Value value;
  value.name = name;
  value.dtype = type;
  value.has_shape = shape.has_value();
  if (shape) value.shape = *shape;
  graph::Graph& graph = b.graph();
  const ValueId id = graph.add_value(std::move(value));
  graph.inputs.push_back(id);
  return id;
}

}  // namespace

void lower_placeholder(Builder& b) {
  const DType type = b.type("dtype", DType::f32);
  PartialShape shape = b.partial_shape("shape");
  if (!b.ok()) return;
  if (!shape && b.has_attr("_output_shapes")) {
    const auto shapes = b.take(shapes_attr(b.def(), "_output_shapes"));
    if (!shapes.empty()) shape = shapes[0];
  }
  b.out(0, add_input(b, b.def().name, type, std::move(shape)));
}

// What a program takes out of a dataset or a queue, element by element, are inputs of the model:
// "node", "node:1", ...
void lower_next_element(Builder& b) {
  const bool queue = b.type() != "IteratorGetNext";
  const auto types = b.take(types_attr(b.def(), queue ? "component_types" : "output_types"));
  std::vector<PartialShape> shapes;
  if (queue) {
    // Queues know the shapes of their elements; several at once have an axis more in front.
    for (const NodeDef& node : b.model().def.nodes) {
      if (!b.def().inputs.empty() && node.name == b.def().inputs[0].node)
        shapes = b.take(shapes_attr(node, "shapes"));
    }
    for (PartialShape& shape : shapes) {
      if (shape && b.type() != "QueueDequeueV2") shape->insert(shape->begin(), kDynamicDim);
    }
  } else {
    shapes = b.take(shapes_attr(b.def(), "output_shapes"));
  }
  for (size_t i = 0; i < types.size() && b.ok(); ++i) {
    const std::string& name = b.def().name;
    const DType type = b.take(dtype_of(types[i]));
    b.out(i, add_input(b, i == 0 ? name : format("{}:{}", name, i), type,
                       i < shapes.size() ? shapes[i] : PartialShape()));
  }
}

void lower_const(Builder& b) {
  const auto message = b.take(tensor_attr(b.def(), "value"));
  if (!b.ok()) return;
  if (!message) return b.refuse(Code::corrupt_model, "it has no value; the file is damaged");
  ConstantTensor tensor = b.take(read_tensor(*message, b.model().owner, b.model().spread));
  if (b.ok()) b.out(0, b.constant(tensor.dtype, std::move(tensor.shape), std::move(tensor.data)));
}

void lower_pass(Builder& b) {
  if (b.input_count() == 0) return b.refuse(Code::corrupt_model, "it has no input, expected one");
  b.out(0, b.tensor(0));
}

void lower_pass_all(Builder& b) {
  for (size_t i = 0; i < b.input_count(); ++i) b.out(i, b.tensor(i));
}

void lower_nothing(Builder&) {}

void lower_same(Builder& b) { b.out(0, b.node(b.row().becomes, b.row().opset, b.all_inputs())); }

void lower_elementwise(Builder& b) {
  if (b.input_count() == 0) return b.refuse(Code::corrupt_model, "it has no input");
  const Builder::Aligned x = b.aligned();
  b.out_aligned(0, b.node(b.row().becomes, b.row().opset, x.ids), x);
}

}  // namespace anynpu::tensorflow
