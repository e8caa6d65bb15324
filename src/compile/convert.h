// SPDX-License-Identifier: Apache-2.0
// Converts a model file of a framework to a .om file, for atc and for programs that compile in
// process. Nothing is written if anything fails.
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
  // Called at the start of each phase: "reading", "compiling", "writing"; may be empty.
  std::function<void(std::string_view part)> on_part;
  // Called with warnings for the user, such as features that the chip does not support; may be
  // empty.
  std::function<void(const std::string& message)> on_warning;
};

// "0" -> Framework::caffe, "1" -> Framework::mindspore, "3" -> Framework::tensorflow, "5" ->
// Framework::onnx. Fails for other numbers.
Result<Framework> parse_framework(const std::string& text);

// The source model as a graph.
Result<graph::Graph> import_model(const Conversion& conversion);

// The file of --op_name_map: "A:B" per line.
Result<std::map<std::string, std::string>> parse_op_name_map(std::string_view text);

Status convert(const Conversion& conversion);

}  // namespace anynpu::compile
