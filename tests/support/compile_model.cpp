// SPDX-License-Identifier: Apache-2.0
// What the program atc does, in process: the suites of ONNX and TensorFlow compile thousands of
// models, and starting a program for each would take longer than the work.
#include <algorithm>
#include <cstring>

#include "compile/convert.h"
#include "compile/input_shape.h"
#include "compile/out_nodes.h"

namespace {

using anynpu::Status;

Status compile_model(const char* model_path, int framework, const char* output_path,
                     const char* soc_version, const char* input_shape, const char* out_nodes) {
  anynpu::compile::Conversion work;
  ANYNPU_ASSIGN(work.framework, anynpu::compile::parse_framework(std::to_string(framework)));
  work.model_path = model_path;
  work.output_path = output_path;
  work.options.model_name = output_path;
  work.options.soc_version = soc_version;
  work.options.producer = "AnyNPU";
  ANYNPU_ASSIGN(work.options.input_shapes, anynpu::compile::parse_input_shapes(input_shape));
  ANYNPU_ASSIGN(work.options.out_nodes, anynpu::compile::parse_out_nodes(out_nodes));
  return anynpu::compile::convert(work);
}

}  // namespace

// 0, or 1 with the sentence of the failure in `message`, cut to `message_bytes` and terminated.
extern "C" int compile_model_for_test(const char* model_path, int framework,
                                      const char* output_path, const char* soc_version,
                                      const char* input_shape, const char* out_nodes, char* message,
                                      size_t message_bytes) {
  const Status status =
      compile_model(model_path, framework, output_path, soc_version, input_shape, out_nodes);
  if (status.ok()) return 0;
  const std::string text = status.to_string();
  const size_t length = std::min(text.size(), message_bytes - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
  return 1;
}
