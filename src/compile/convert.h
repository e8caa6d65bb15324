// SPDX-License-Identifier: Apache-2.0
// From a model file of a framework to a .om file: what atc calls, and what programs that compile in
// process call. Nothing is written when anything fails.
#pragma once

#include <string>

#include "compile/compile.h"

namespace anynpu::compile {

enum class Framework : int { caffe = 0, mindspore = 1, tensorflow = 3, onnx = 5 };

struct Conversion {
  Framework framework = Framework::onnx;
  std::string model_path;
  std::string weight_path;  // Caffe alone: the .caffemodel
  std::string output_path;  // with the suffix .om
  Options options;
};

// "0" -> Framework::caffe, "5" -> Framework::onnx. Fails for other numbers, and for the frameworks
// of later releases.
Result<Framework> parse_framework(const std::string& text);

Status convert(const Conversion& conversion);

}  // namespace anynpu::compile
