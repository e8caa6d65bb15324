// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/net_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "import/caffe/fields.h"

namespace anynpu::caffe {

namespace {

struct OldType {
  std::string_view name;
  int number;
  std::string_view type;
};

// V1LayerParameter.LayerType
constexpr std::array<OldType, 40> kOldTypes = {{
    {"NONE", 0, "None"},
    {"ACCURACY", 1, "Accuracy"},
    {"BNLL", 2, "BNLL"},
    {"CONCAT", 3, "Concat"},
    {"CONVOLUTION", 4, "Convolution"},
    {"DATA", 5, "Data"},
    {"DROPOUT", 6, "Dropout"},
    {"EUCLIDEAN_LOSS", 7, "EuclideanLoss"},
    {"FLATTEN", 8, "Flatten"},
    {"HDF5_DATA", 9, "HDF5Data"},
    {"HDF5_OUTPUT", 10, "HDF5Output"},
    {"IM2COL", 11, "Im2col"},
    {"IMAGE_DATA", 12, "ImageData"},
    {"INFOGAIN_LOSS", 13, "InfogainLoss"},
    {"INNER_PRODUCT", 14, "InnerProduct"},
    {"LRN", 15, "LRN"},
    {"MULTINOMIAL_LOGISTIC_LOSS", 16, "MultinomialLogisticLoss"},
    {"POOLING", 17, "Pooling"},
    {"RELU", 18, "ReLU"},
    {"SIGMOID", 19, "Sigmoid"},
    {"SOFTMAX", 20, "Softmax"},
    {"SOFTMAX_LOSS", 21, "SoftmaxWithLoss"},
    {"SPLIT", 22, "Split"},
    {"TANH", 23, "TanH"},
    {"WINDOW_DATA", 24, "WindowData"},
    {"ELTWISE", 25, "Eltwise"},
    {"POWER", 26, "Power"},
    {"SIGMOID_CROSS_ENTROPY_LOSS", 27, "SigmoidCrossEntropyLoss"},
    {"HINGE_LOSS", 28, "HingeLoss"},
    {"MEMORY_DATA", 29, "MemoryData"},
    {"ARGMAX", 30, "ArgMax"},
    {"THRESHOLD", 31, "Threshold"},
    {"DUMMY_DATA", 32, "DummyData"},
    {"SLICE", 33, "Slice"},
    {"MVN", 34, "MVN"},
    {"ABSVAL", 35, "AbsVal"},
    {"SILENCE", 36, "Silence"},
    {"CONTRASTIVE_LOSS", 37, "ContrastiveLoss"},
    {"EXP", 38, "Exp"},
    {"DECONVOLUTION", 39, "Deconvolution"},
}};

Status read_words(const TextField& text, std::string_view field, std::vector<std::string>& out) {
  for (const TextField* found : text.all(field)) ANYNPU_TRY(found->to(out.emplace_back()));
  return {};
}

std::string word_of(const TextField& text, std::string_view field) {
  const TextField* found = text.find(field);
  return found ? found->text : std::string();
}

// What rules of include and exclude are about. A net says with `state { ... }` which of its layers
// it means; the phase is TEST in any case.
struct NetState {
  int64_t level = 0;
  std::vector<std::string> stages;
};

Result<NetState> read_state(const TextField& root) {
  NetState state;
  const TextField* text = root.find("state");
  if (!text) return state;
  if (const TextField* level = text->find("level")) ANYNPU_TRY(level->to(state.level));
  ANYNPU_TRY(read_words(*text, "stage", state.stages));
  return state;
}

bool rule_holds(const TextField& rule, const NetState& state) {
  const std::string phase = word_of(rule, "phase");
  if (!phase.empty() && phase != "TEST" && phase != "1") return false;
  int64_t level = 0;
  const TextField* least = rule.find("min_level");
  if (least && least->to(level).ok() && state.level < level) return false;
  const TextField* most = rule.find("max_level");
  if (most && most->to(level).ok() && state.level > level) return false;
  const auto has = [&](const TextField* stage) { return contains(state.stages, stage->text); };
  const auto wanted = rule.all("stage"), unwanted = rule.all("not_stage");
  return std::all_of(wanted.begin(), wanted.end(), has) &&
         std::none_of(unwanted.begin(), unwanted.end(), has);
}

bool takes_part(const TextField& text, const NetState& state) {
  const auto holds = [&](const TextField* rule) { return rule_holds(*rule, state); };
  const auto included = text.all("include");
  if (!included.empty()) return std::any_of(included.begin(), included.end(), holds);
  const auto excluded = text.all("exclude");
  return std::none_of(excluded.begin(), excluded.end(), holds);
}

Result<Layer> read_layer(TextField text, bool old) {
  Layer layer;
  if (const TextField* name = text.find("name")) ANYNPU_TRY(name->to(layer.name));
  if (const TextField* type = text.find("type")) ANYNPU_TRY(type->to(layer.type));
  if (text.find("layer") && layer.type.empty()) {
    return fail(Code::version_mismatch,
                "{}: the net has the form of the first Caffe release (a layer inside 'layers'); "
                "convert it with Caffe's upgrade_net_proto_text",
                text.where());
  }
  if (old) {
    const std::string_view known = type_of_old_name(layer.type);
    if (!known.empty()) layer.type = known;
  }
  if (layer.type.empty()) {
    return fail(Code::parse_error,
                "{}: layer '{}' has no type; add one, such as type: \"Convolution\"", text.where(),
                layer.name);
  }
  ANYNPU_TRY(read_words(text, "bottom", layer.bottoms));
  ANYNPU_TRY(read_words(text, "top", layer.tops));
  if (layer.type == "Input") {
    if (const TextField* param = text.find("input_param")) {
      for (const TextField* shape : param->all("shape")) {
        ANYNPU_ASSIGN(Shape made, read_shape(*shape));
        layer.in_shapes.push_back(std::move(made));
      }
    }
    // One shape may apply to all tops.
    if (layer.in_shapes.size() == 1) layer.in_shapes.resize(layer.tops.size(), layer.in_shapes[0]);
  }
  layer.text = std::move(text);
  return layer;
}

// input: "data" with input_shape { ... } or four input_dim each.
Status read_net_inputs(const TextField& root, NetText& net) {
  std::vector<std::string> names;
  ANYNPU_TRY(read_words(root, "input", names));
  const auto fields = root.all("input"), shapes = root.all("input_shape");
  const auto dims = root.all("input_dim");
  for (size_t i = 0; i < names.size(); ++i) {
    Layer layer;
    layer.name = names[i];
    layer.type = "Input";
    layer.tops = {names[i]};
    layer.text = *fields[i];
    if (i < shapes.size()) {
      ANYNPU_ASSIGN(Shape shape, read_shape(*shapes[i]));
      layer.in_shapes.push_back(std::move(shape));
    } else if (shapes.empty() && 4 * i + 4 <= dims.size()) {
      TextField as_shape;
      for (size_t d = 4 * i; d < 4 * i + 4; ++d) {
        as_shape.fields.push_back(*dims[d]);
        as_shape.fields.back().name = "dim";
      }
      ANYNPU_ASSIGN(Shape shape, read_shape(as_shape));
      layer.in_shapes.push_back(std::move(shape));
    }
    net.layers.push_back(std::move(layer));
  }
  return {};
}

}  // namespace

std::string_view type_of_old_name(std::string_view name) {
  int number = -1;
  (void)std::from_chars(name.data(), name.data() + name.size(), number);
  for (const OldType& old : kOldTypes) {
    if (old.name == name || (number >= 0 && old.number == number)) return old.type;
  }
  return {};
}

Result<NetText> read_net(std::string_view prototxt, std::string_view file) {
  ANYNPU_ASSIGN(TextField root, parse_prototext(prototxt, file));
  ANYNPU_TRY(check_net_fields(root));
  NetText net;
  net.name = word_of(root, "name");
  ANYNPU_TRY(read_net_inputs(root, net), "in the inputs of the net");
  ANYNPU_ASSIGN(const NetState state, read_state(root), "in the state of the net");
  for (TextField& field : root.fields) {
    const bool old = field.name == "layers";
    if (!old && field.name != "layer") continue;
    if (field.kind != TextField::Kind::message) {
      return fail(Code::parse_error, "{}: '{}' is '{}'; expected a message in braces",
                  field.where(), field.name, field.text);
    }
    if (!takes_part(field, state)) continue;
    const std::string where = field.where();
    ANYNPU_ASSIGN(Layer layer, read_layer(std::move(field), old), "in the layer at {}", where);
    net.layers.push_back(std::move(layer));
  }
  if (net.layers.empty()) {
    return fail(Code::parse_error,
                "{}: the net has no layers for the TEST phase; expected a Caffe prototxt (for a "
                "model of another framework set --framework)",
                root.where());
  }
  return net;
}

}  // namespace anynpu::caffe
