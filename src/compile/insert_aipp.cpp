// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "compile/aipp_config.h"
#include "compile/compile.h"
#include "ops/aipp/params.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::Value;
using graph::ValueId;
using ops::AippBatch;
using ops::AippHeader;

constexpr std::string_view kParameterName = "ascend_dynamic_aipp_data";

// Parameters with what the configuration leaves to the model's size filled in.
struct Block {
  AippHeader header;
  AippBatch batch;
};

Block fill(const om::Aipp& settings, int64_t height, int64_t width) {
  Block block;
  std::memcpy(&block.header, settings.parameters.data(), sizeof block.header);
  std::memcpy(&block.batch, settings.parameters.data() + sizeof block.header, sizeof block.batch);
  if (block.header.source_w == 0) {
    block.header.source_w = static_cast<int32_t>(width);
    block.header.source_h = static_cast<int32_t>(height);
  }
  if (block.batch.crop && !block.batch.padding) {
    if (block.batch.crop_w == 0) block.batch.crop_w = static_cast<int32_t>(width);
    if (block.batch.crop_h == 0) block.batch.crop_h = static_cast<int32_t>(height);
  }
  return block;
}

std::shared_ptr<const graph::Constant> constant_of(const Block& block) {
  auto owner = std::make_shared<std::vector<std::byte>>(sizeof block);
  std::memcpy(owner->data(), &block, sizeof block);
  const std::span<const std::byte> bytes = *owner;
  return std::make_shared<const graph::Constant>(graph::Constant{std::move(owner), bytes});
}

ValueId add_bytes(Graph& graph, const std::string& name, int64_t count) {
  Value value;
  value.name = name;
  value.dtype = DType::u8;
  value.shape = {count};
  value.has_shape = true;
  return graph.add_value(std::move(value));
}

// The model's input as N, C, H, W.
Shape to_nchw(const om::Aipp& settings, const Shape& shape) {
  return settings.nhwc ? Shape{shape[0], shape[3], shape[1], shape[2]} : shape;
}

// What the Aipp node makes: the input itself, or a picture that a Transpose turns into it.
ValueId add_target(const om::Aipp& settings, ValueId target, const Shape& nchw, Graph& graph) {
  if (!settings.nhwc) return target;
  Value value = graph.values[static_cast<size_t>(target)];
  value.name += "_nchw";
  value.shape = nchw;
  const ValueId made = graph.add_value(std::move(value));
  graph::Node node;
  node.op = "Transpose";
  node.opset = 13;
  node.name = graph.values[static_cast<size_t>(made)].name + "/transpose";
  node.attrs["perm"] = std::vector<int64_t>{0, 2, 3, 1};
  node.inputs = {made};
  node.outputs = {target};
  graph.nodes.insert(graph.nodes.begin(), std::move(node));
  return made;
}

Status insert_one(const om::Aipp& settings, size_t order, Graph& graph) {
  if (settings.input >= graph.inputs.size()) {
    return fail(Code::corrupt_model, "AIPP belongs to input {}, the model has {}", settings.input,
                graph.inputs.size());
  }
  const ValueId target = graph.inputs[settings.input];
  const Value picture = graph.values[static_cast<size_t>(target)];
  if (picture.shape.size() != 4 || !is_static(picture.shape)) {
    return fail(Code::unsupported_shape, "AIPP: input '{}' is {}; expected N, C, H, W",
                picture.name, to_string(picture.shape));
  }
  const Shape shape = to_nchw(settings, picture.shape);
  graph::Node node;
  node.op = "Aipp";
  node.domain = "anynpu";
  node.opset = 1;
  node.name = format("aipp_{}", picture.name);
  node.attrs["shape"] = shape;
  node.attrs["to"] = static_cast<int64_t>(picture.dtype);
  graph.values[static_cast<size_t>(target)].name = format("{}/aipp", picture.name);
  int64_t bytes = settings.max_source_bytes;
  ValueId parameters = graph::kNoValue;
  if (settings.dynamic) {
    const std::string name =
        order == 0 ? std::string(kParameterName) : format("{}_{}", kParameterName, order);
    parameters = add_bytes(graph, name,
                           static_cast<int64_t>(ops::aipp_bytes(static_cast<size_t>(shape[0]))));
    graph.inputs.push_back(parameters);
  } else {
    const Block block = fill(settings, shape[2], shape[3]);
    ANYNPU_TRY(ops::check_aipp(block.header, block.batch, shape[1], shape[2], shape[3]),
               "in --insert_op_conf for '{}'", picture.name);
    bytes = shape[0] * ops::picture_bytes(static_cast<ops::AippFormat>(block.header.format),
                                          block.header.source_w, block.header.source_h);
    parameters = add_bytes(graph, format("{}/aipp_parameters", picture.name), sizeof block);
    graph.values[static_cast<size_t>(parameters)].constant = constant_of(block);
  }
  const ValueId image = add_bytes(graph, picture.name, bytes);
  graph.inputs[settings.input] = image;
  node.inputs = {image, parameters};
  node.outputs = {add_target(settings, target, shape, graph)};
  graph.nodes.insert(graph.nodes.begin(), std::move(node));
  return {};
}

Result<size_t> find_input(const AippConfig& config, const Graph& graph) {
  std::string names;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const std::string& name = graph.values[static_cast<size_t>(graph.inputs[i])].name;
    if (name == config.input_name) return i;
    names += (i ? ", '" : "'") + name + "'";
  }
  if (!config.input_name.empty()) {
    return fail(Code::not_found,
                "AIPP: related_input_name is '{}' ({}); the model has no such input, expected one "
                "of {}",
                config.input_name, config.where, names);
  }
  if (config.input_rank < static_cast<int64_t>(graph.inputs.size()))
    return static_cast<size_t>(config.input_rank);
  return fail(Code::not_found,
              "AIPP: related_input_rank is {} ({}); the model has {} inputs, expected 0 to {}",
              config.input_rank, config.where, graph.inputs.size(), graph.inputs.size() - 1);
}

Status check_input(const Value& value) {
  const bool type =
      value.dtype == DType::f32 || value.dtype == DType::f16 || value.dtype == DType::u8;
  if (type && value.has_shape && value.shape.size() == 4) return {};
  return fail(Code::unsupported_shape,
              "AIPP: input '{}' is {} of {}; expected N, C, H, W of float32, float16 or uint8",
              value.name, to_string(value.shape), name_of(value.dtype));
}

Block static_block(const om::Aipp& settings) {
  Block block;
  std::memcpy(&block, settings.parameters.data(), sizeof block);
  return block;
}

// The documented limit of the chips; the model might be meant for one.
Status check_padded_width(const om::Aipp& settings, const std::string& soc,
                          const std::string& where) {
  if (settings.dynamic || !static_block(settings).batch.padding) return {};
  const bool narrow = soc.starts_with("Ascend310P") || soc.starts_with("Ascend910");
  const int64_t width = settings.shape[3], most = narrow ? 1080 : 4096;
  if (width <= most) return {};
  return fail(Code::invalid_argument,
              "AIPP: with padding ({}) the picture is {} pixels wide; expected at most {} on {}",
              where, width, most, soc);
}

// Parameters of dynamic AIPP must be there for every picture, and a format for every channel.
Status check_dynamic(const om::Aipp& settings, const Gears& gears, const std::string& where) {
  if (!settings.dynamic) return {};
  int64_t batch = settings.shape[0];
  for (const auto& gear : gears.values) {
    if (gears.kind == om::GearKind::batch) batch = std::max(batch, gear[0]);
  }
  if (batch > static_cast<int64_t>(ops::kMostAippPictures)) {
    return fail(Code::invalid_argument,
                "AIPP: the batch of the input is {}; dynamic AIPP ({}) takes at most {} pictures",
                batch, where, ops::kMostAippPictures);
  }
  if (settings.shape[1] <= ops::kMostAippChannels) return {};
  return fail(Code::invalid_argument,
              "AIPP: the model's input has {} channels; pictures ({}) have at most {}",
              settings.shape[1], where, ops::kMostAippChannels);
}

Status check_with_image_gears(const om::Aipp& settings, const std::string& where) {
  if (settings.dynamic) return {};
  const Block block = static_block(settings);
  if (block.header.source_w == 0 && !block.batch.crop && !block.batch.padding) return {};
  return fail(Code::invalid_argument,
              "AIPP: with --dynamic_image_size or a range of height and width the size of the "
              "source is not fixed; set src_image_size_w and src_image_size_h to 0 and leave crop "
              "and padding off ({})",
              where);
}

}  // namespace

Result<std::vector<om::Aipp>> fit_aipp(const Options& options, const Graph& graph, bool fixed) {
  const std::vector<AippConfig>& configs = options.aipp;
  const om::GearKind gears = options.gears.kind;
  std::vector<om::Aipp> fitted;
  for (const AippConfig& config : configs) {
    om::Aipp settings = config.settings;
    ANYNPU_ASSIGN(settings.input, find_input(config, graph));
    const Value& value = graph.values[static_cast<size_t>(graph.inputs[settings.input])];
    ANYNPU_TRY(check_input(value));
    const auto& shorts = options.fp16_inputs;
    if (contains(shorts, value.name)) {
      return fail(Code::invalid_argument,
                  "--insert_op_conf and --input_fp16_nodes both name input '{}'; an input with "
                  "AIPP is fed in bytes, leave it out of --input_fp16_nodes",
                  value.name);
    }
    settings.dtype = value.dtype;
    settings.nhwc = options.input_format == Format::nhwc;
    settings.shape = to_nchw(settings, value.shape);
    const bool ranged = gears == om::GearKind::none && !fixed;
    for (const om::Aipp& other : fitted) {
      if (other.input == settings.input) {
        return fail(
            Code::invalid_argument,
            "AIPP: input {} ('{}') has two aipp_op, the second at {}; set related_input_rank "
            "in each to another input, or take one out",
            settings.input, value.name, config.where);
      }
    }
    const bool dynamic_size = settings.shape[2] == kDynamicDim || settings.shape[3] == kDynamicDim;
    if (gears == om::GearKind::image || (ranged && dynamic_size))
      ANYNPU_TRY(check_with_image_gears(settings, config.where));
    ANYNPU_TRY(check_dynamic(settings, options.gears, config.where));
    ANYNPU_TRY(check_padded_width(settings, options.soc_version, config.where));
    fitted.push_back(std::move(settings));
  }
  std::sort(fitted.begin(), fitted.end(),
            [](const om::Aipp& a, const om::Aipp& b) { return a.input < b.input; });
  return fitted;
}

Status insert_aipp(const std::vector<om::Aipp>& settings, Graph& graph) {
  for (size_t i = 0; i < settings.size(); ++i) ANYNPU_TRY(insert_one(settings[i], i, graph));
  return {};
}

Shape behind_aipp(const om::Aipp& settings, const Shape& picture) {
  if (picture.size() != 4) return picture;
  const auto extent = [&](size_t in_model, size_t in_picture) {
    return settings.shape[in_model] == kDynamicDim ? picture[in_picture] : settings.shape[in_model];
  };
  const int64_t height = extent(2, 1), width = extent(3, 2);
  if (settings.nhwc) return {picture[0], height, width, settings.shape[1]};
  return {picture[0], settings.shape[1], height, width};
}

void describe_aipp(const std::vector<om::Aipp>& settings, const std::vector<Shape>& shapes,
                   om::Meta& meta) {
  for (size_t i = 0; i < settings.size(); ++i) {
    const om::Aipp& one = settings[i];
    const Shape shape = to_nchw(one, shapes[one.input]);
    int64_t height = shape[2], width = shape[3];
    if (!one.dynamic) {
      const Block block = fill(one, height, width);
      height = block.header.source_h;
      width = block.header.source_w;
    } else if (shapes.size() + i < meta.inputs.size()) {
      meta.inputs[shapes.size() + i].role = om::Role::aipp;
    }
    meta.inputs[one.input].shape = {shape[0], height, width, shape[1]};
    meta.inputs[one.input].format = Format::nhwc;
  }
  meta.aipp = settings;
}

}  // namespace anynpu::compile
