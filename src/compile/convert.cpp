// SPDX-License-Identifier: Apache-2.0
#include "compile/convert.h"

#include "base/log.h"
#include "import/caffe/caffe.h"
#include "import/onnx/onnx.h"
#include "om/container.h"

namespace anynpu::compile {

Result<Framework> parse_framework(const std::string& text) {
  if (text == "0") return Framework::caffe;
  if (text == "5") return Framework::onnx;
  if (text == "1" || text == "3") {
    const char* name = text == "1" ? "MindSpore" : "TensorFlow";
    return fail(Code::unsupported_feature,
                "--framework={} ({}) is not in this release; export the model to ONNX and use "
                "--framework=5",
                text, name);
  }
  return fail(Code::invalid_argument,
              "--framework is '{}'; expected 0 (Caffe), 1 (MindSpore), 3 (TensorFlow) or 5 (ONNX)",
              text);
}

namespace {

// The layers of Caffe need the shapes of --input_shape while they are read. Extents that are not
// fixed stay open.
caffe::InputShapes shapes_for_caffe(const std::vector<InputShape>& given) {
  caffe::InputShapes shapes;
  for (const InputShape& input : given) {
    Shape& shape = shapes[input.name];
    for (const Extent& extent : input.extents) {
      shape.push_back(extent.is_fixed() ? extent.low : kDynamicDim);
    }
  }
  return shapes;
}

Result<graph::Graph> import_model(const Conversion& conversion) {
  if (conversion.framework == Framework::caffe) {
    return caffe::import_files(conversion.model_path, conversion.weight_path,
                               shapes_for_caffe(conversion.options.input_shapes));
  }
  ANYNPU_ASSIGN(onnx::Model source, onnx::import_file(conversion.model_path));
  ANYNPU_LOG(info, "'{}' was made by {}", conversion.model_path, source.producer);
  return std::move(source.graph);
}

}  // namespace

Status convert(const Conversion& conversion) {
  ANYNPU_ASSIGN(graph::Graph source, import_model(conversion));
  ANYNPU_LOG(info, "read '{}': {} nodes", conversion.model_path, source.nodes.size());
  ANYNPU_ASSIGN(const om::Model model, compile(std::move(source), conversion.options),
                "while compiling '{}'", conversion.model_path);
  ANYNPU_LOG(info, "compiled to {} nodes", model.graph.nodes.size());
  ANYNPU_LOG(debug, "{}", graph::print(model.graph));
  return om::write_file(model, conversion.output_path);
}

}  // namespace anynpu::compile
