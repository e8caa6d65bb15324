// SPDX-License-Identifier: Apache-2.0
// From a model file of a framework to a .om file: what atc calls, and what programs that compile in
// process call. Nothing is written when anything fails.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "compile/compile.h"
#include "om/container.h"

namespace anynpu::compile {

enum class Framework : int { caffe = 0, mindspore = 1, tensorflow = 3, onnx = 5 };

struct Conversion {
  Framework framework = Framework::onnx;
  std::string model_path;
  std::string weight_path;  // Caffe alone: the .caffemodel
  std::string output_path;  // with the suffix .om
  Options options;
  om::WeightPlace weights = om::WeightPlace::inside;
  bool keep_original = false;  // also write <output>_original.om: no pass changes it
  std::map<std::string, std::string> layer_types;  // Caffe alone: a type -> the one it stands for
  // Called when a part of the work begins: "reading", "compiling", "writing"; may be empty.
  std::function<void(std::string_view part)> on_part;
  // Called with what the user should know of a model that was compiled, such as what the chip would
  // not run; may be empty.
  std::function<void(const std::string& sentence)> on_warning;
};

// "0" -> Framework::caffe, "3" -> Framework::tensorflow, "5" -> Framework::onnx. Fails for other
// numbers, and for the framework of a later release.
Result<Framework> parse_framework(const std::string& text);

// The source model as a graph.
Result<graph::Graph> import_model(const Conversion& conversion);

// "A:B" a line, of --op_name_map.
Result<std::map<std::string, std::string>> parse_op_name_map(std::string_view text);

Status convert(const Conversion& conversion);

}  // namespace anynpu::compile
