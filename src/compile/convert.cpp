// SPDX-License-Identifier: Apache-2.0
#include "compile/convert.h"

#include "base/log.h"
#include "import/onnx/onnx.h"
#include "om/container.h"

namespace anynpu::compile {

Result<Framework> parse_framework(const std::string& text) {
  if (text == "5") return Framework::onnx;
  if (text == "0" || text == "1" || text == "3") {
    const char* name = text == "0" ? "Caffe" : text == "1" ? "MindSpore" : "TensorFlow";
    return fail(Code::unsupported_feature,
                "--framework={} ({}) is not in this release; export the model to ONNX and use "
                "--framework=5",
                text, name);
  }
  return fail(Code::invalid_argument,
              "--framework is '{}'; expected 0 (Caffe), 1 (MindSpore), 3 (TensorFlow) or 5 (ONNX)",
              text);
}

Status convert(const Conversion& conversion) {
  ANYNPU_ASSIGN(onnx::Model source, onnx::import_file(conversion.model_path));
  ANYNPU_LOG(info, "read '{}': {} nodes, made by {}", conversion.model_path,
             source.graph.nodes.size(), source.producer);
  ANYNPU_ASSIGN(const om::Model model, compile(std::move(source.graph), conversion.options),
                "while compiling '{}'", conversion.model_path);
  ANYNPU_LOG(info, "compiled to {} nodes", model.graph.nodes.size());
  ANYNPU_LOG(debug, "{}", graph::print(model.graph));
  return om::write_file(model, conversion.output_path);
}

}  // namespace anynpu::compile
