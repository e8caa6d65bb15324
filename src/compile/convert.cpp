// SPDX-License-Identifier: Apache-2.0
#include "compile/convert.h"

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/soc.h"
#include "base/text.h"
#include "compile/pass_switch.h"
#include "compile/stages.h"
#include "import/caffe/caffe.h"
#include "import/mindspore/mindspore.h"
#include "import/onnx/onnx.h"
#include "import/tensorflow/tensorflow.h"

namespace anynpu::compile {

Result<Framework> parse_framework(const std::string& text) {
  if (text == "0") return Framework::caffe;
  if (text == "1") return Framework::mindspore;
  if (text == "3") return Framework::tensorflow;
  if (text == "5") return Framework::onnx;
  return fail(Code::invalid_argument,
              "--framework is '{}'; expected 0 (Caffe), 1 (MindSpore), 3 (TensorFlow) or 5 (ONNX)",
              text);
}

namespace {

// Layers of Caffe and nodes of TensorFlow and MindSpore need the shapes of --input_shape while they
// are read. Extents that are not fixed stay dynamic (-1).
std::map<std::string, Shape> shapes_by_name(const std::vector<InputShape>& given) {
  std::map<std::string, Shape> shapes;
  for (const InputShape& input : given) {
    Shape& shape = shapes[input.name];
    for (const Extent& extent : input.extents) {
      shape.push_back(extent.is_fixed() ? extent.low : kDynamicDim);
    }
  }
  return shapes;
}

}  // namespace

Result<graph::Graph> import_model(const Conversion& conversion) {
  if (conversion.framework == Framework::caffe) {
    return caffe::import_files(conversion.model_path, conversion.weight_path,
                               shapes_by_name(conversion.options.input_shapes),
                               conversion.layer_types);
  }
  if (conversion.framework == Framework::tensorflow) {
    return tensorflow::import_file(
        conversion.model_path,
        {shapes_by_name(conversion.options.input_shapes), conversion.options.out_nodes});
  }
  if (conversion.framework == Framework::mindspore) {
    return mindspore::import_file(conversion.model_path,
                                  shapes_by_name(conversion.options.input_shapes));
  }
  ANYNPU_ASSIGN(onnx::Model source, onnx::import_file(conversion.model_path));
  ANYNPU_LOG(info, "'{}' was made by {}", conversion.model_path, source.producer);
  return std::move(source.graph);
}

Result<std::map<std::string, std::string>> parse_op_name_map(std::string_view text) {
  std::map<std::string, std::string> types;
  for (const std::string& line : split_words(text, '\n')) {
    const std::string_view all = line;
    const size_t colon = all.find(':');
    const bool good = colon != std::string_view::npos && !trim(all.substr(0, colon)).empty() &&
                      !trim(all.substr(colon + 1)).empty();
    if (!good) {
      return fail(Code::invalid_argument,
                  "--op_name_map: the line '{}'; expected A:B, such as "
                  "DetectionOutput:SSDDetectionOutput",
                  line);
    }
    types[std::string(trim(all.substr(0, colon)))] = trim(all.substr(colon + 1));
  }
  return types;
}

namespace {

// net.om -> net_original.om
std::string original_path(const std::string& path) {
  return path.substr(0, path.size() - std::string_view(".om").size()) + "_original.om";
}

// The model as it was read: same inputs and outputs, no pass and no option that changes types.
Result<om::Model> compile_original(const graph::Graph& source, const Options& options) {
  Options plain = options;
  plain.model_name += "_original";
  plain.out_nodes.clear();
  plain.output_types = {};
  plain.fp16_inputs.clear();
  plain.blocked_inputs.clear();
  plain.blocked_outputs.clear();
  plain.precision = {};
  plain.passes_off = {std::string(kAllPasses)};
  plain.on_stage = nullptr;
  plain.on_warning = nullptr;
  return compile(source, plain);
}

}  // namespace

Status convert(const Conversion& conversion) {
  const auto begin = [&](std::string_view part) {
    if (conversion.on_part) conversion.on_part(part);
  };
  begin("reading");
  ANYNPU_ASSIGN(graph::Graph source, import_model(conversion));
  ANYNPU_LOG(info, "read '{}': {} nodes", conversion.model_path, source.nodes.size());
  begin("compiling");
  std::optional<om::Model> original;
  if (conversion.keep_original) {
    ANYNPU_ASSIGN(original, compile_original(source, conversion.options));
  }
  Options options = conversion.options;
  // The reader of TensorFlow has chosen them: it reads no more than they need.
  if (conversion.framework == Framework::tensorflow) options.out_nodes.clear();
  options.on_stage = StageDump(options.model_name, conversion.on_warning);
  options.on_warning = conversion.on_warning;
  ANYNPU_ASSIGN(const om::Model model, compile(std::move(source), options), "while compiling '{}'",
                conversion.model_path);
  if (const size_t most = std::max(model.meta.inputs.size(), model.meta.outputs.size());
      most > om::kMostTensors) {
    return fail(Code::limit_exceeded,
                "the model '{}' has {} inputs and {} outputs, at most {} of each can be loaded; "
                "choose outputs with --out_nodes",
                conversion.model_path, model.meta.inputs.size(), model.meta.outputs.size(),
                om::kMostTensors);
  }
  ANYNPU_LOG(info, "compiled to {} nodes", model.graph.nodes.size());
  ANYNPU_LOG(debug, "{}", graph::print(model.graph));
  if (model.meta.has_ranges() && !runs_shape_ranges(options.soc_version) && conversion.on_warning) {
    conversion.on_warning(
        format("{} runs no models with shapes that come at run time, and inputs of '{}' have such; "
               "for that card use --dynamic_batch_size, --dynamic_image_size or --dynamic_dims",
               options.soc_version, conversion.model_path));
  }
  begin("writing");
  if (original) ANYNPU_TRY(om::write_file(*original, original_path(conversion.output_path)));
  return om::write_file(model, conversion.output_path, conversion.weights);
}

}  // namespace anynpu::compile
