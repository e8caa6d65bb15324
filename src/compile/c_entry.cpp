// SPDX-License-Identifier: Apache-2.0
#include "compile/c_entry.h"

#include <algorithm>
#include <cstring>

#include "compile/convert.h"

namespace {

anynpu::Status run(const char* model_path, const char* output_path, const char* soc_version,
                   const char* input_shape) {
  if (!model_path || !output_path || !soc_version) {
    return anynpu::fail(anynpu::Code::invalid_argument,
                        "model_path, output_path and soc_version must not be null");
  }
  anynpu::compile::Conversion work;
  work.model_path = model_path;
  work.output_path = output_path;
  work.options.model_name = output_path;
  work.options.soc_version = soc_version;
  work.options.producer = "AnyNPU";
  if (input_shape && *input_shape) {
    ANYNPU_ASSIGN(work.options.input_shapes, anynpu::compile::parse_input_shapes(input_shape));
  }
  return anynpu::compile::convert(work);
}

}  // namespace

int anynpu_atc(const char* model_path, const char* output_path, const char* soc_version,
               const char* input_shape, char* message, size_t message_bytes) {
  const anynpu::Status status = run(model_path, output_path, soc_version, input_shape);
  if (status.ok()) return 0;
  if (message && message_bytes > 0) {
    const std::string text = status.to_string();
    const size_t length = std::min(text.size(), message_bytes - 1);
    std::memcpy(message, text.data(), length);
    message[length] = '\0';
  }
  return 1;
}
