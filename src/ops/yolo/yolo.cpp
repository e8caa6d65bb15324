// SPDX-License-Identifier: Apache-2.0
// The two operators at the end of published YOLOv5 models, with the vendor's names and shapes.
// YoloPreDetection(x) splits a map N, boxes * (coords + 1 + classes), H, W into:
//
//   coord_data    N, boxes * coords, padded(H * W)
//   obj_prob      N, padded(boxes * H * W)
//   classes_prob  N, classes, padded(boxes * H * W)
//
// all after a sigmoid; padding is zero. YoloV5DetectionOutput(coords of all maps, objects, classes,
// img_info) chooses boxes. img_info: the height and width of the network's input, and of the image
// that the boxes are for. The extents of a map follow from its number of cells and from img_info,
// because the stride of a map is a power of two.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/align.h"
#include "ops/detection/detection.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::detection {

namespace {

constexpr int64_t kMostYoloBoxes = 1 << 16;

// Rows of 16-bit numbers end on 32 bytes, with 32 bytes to spare.
int64_t yolo_padded(int64_t cells) { return round_up(cells * 2 + 32, 32) / 2; }

float yolo_sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

struct YoloMap {
  int64_t boxes = 0, coords = 0, classes = 0;
  int64_t entries() const { return coords + 1 + classes; }
};

Result<YoloMap> yolo_map_of(const OpContext& context) {
  const YoloMap map{context.int_attr("boxes"), context.int_attr("coords"),
                    context.int_attr("classes")};
  if (map.boxes >= 1 && map.boxes <= 64 && map.coords == 4 && map.classes >= 1 &&
      map.classes <= kMostYoloBoxes)
    return map;
  return fail(
      Code::invalid_argument,
      "{}: {} boxes of {} coordinates and {} classes; expected 1 to 64 boxes, 4 coordinates "
      "and at least one class",
      context.label(), map.boxes, map.coords, map.classes);
}

Status yolo_pre_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  for (Operand& output : context.outputs) output.dtype = x.dtype;
  ANYNPU_ASSIGN(const YoloMap map, yolo_map_of(context));
  if (context.string_attr("yolo_version") != "V5" || context.int_attr("softmax") != 0 ||
      context.int_attr("softmaxtree") != 0 || context.int_attr("background") != 0) {
    return fail(Code::unsupported_feature,
                "{}: yolo_version is '{}' with softmax {}; expected V5 and no softmax",
                context.label(), context.string_attr("yolo_version"), context.int_attr("softmax"));
  }
  if (!x.fully_known()) return {};
  if (x.rank() != 4 || x.shape[1] != map.boxes * map.entries()) {
    return fail(Code::shape_mismatch,
                "{}: x is {}, expected N, {} (boxes * (coords + 1 + classes)), "
                "H, W",
                context.label(), to_string(x.shape), map.boxes * map.entries());
  }
  const int64_t cells = x.shape[2] * x.shape[3];
  const Shape shapes[] = {{x.shape[0], map.boxes * map.coords, yolo_padded(cells)},
                          {x.shape[0], yolo_padded(map.boxes * cells)},
                          {x.shape[0], map.classes, yolo_padded(map.boxes * cells)}};
  for (size_t i = 0; i < context.outputs.size() && i < 3; ++i)
    ANYNPU_TRY(set_output(context, i, x.dtype, shapes[i]));
  return {};
}

PlanResult plan_yolo_pre(const OpContext& context) {
  ANYNPU_ASSIGN(const YoloMap map, yolo_map_of(context));
  const Shape& x = context.inputs[0].shape;
  const int64_t batch = x[0], cells = x[2] * x[3];
  const int64_t row = yolo_padded(cells), all = yolo_padded(map.boxes * cells);
  return make_plan([=](const RunArgs& args) {
    const auto* from = input_of<float>(args, 0);
    float* to[3] = {};
    const int64_t sizes[] = {batch * map.boxes * map.coords * row, batch * all,
                             batch * map.classes * all};
    for (size_t i = 0; i < 3 && i < args.outputs.size(); ++i) {
      if (!args.outputs[i]) continue;
      to[i] = output_of<float>(args, i);
      std::fill(to[i], to[i] + sizes[i], 0.0f);
    }
    for (int64_t n = 0; n < batch; ++n) {
      for (int64_t b = 0; b < map.boxes; ++b) {
        for (int64_t e = 0; e < map.entries(); ++e, from += cells) {
          const int64_t c = e - map.coords - 1;
          float* const out =
              e < map.coords ? to[0] + ((n * map.boxes + b) * map.coords + e) * row
              : e == map.coords
                  ? (to[1] ? to[1] + n * all + b * cells : nullptr)
                  : (to[2] ? to[2] + (n * map.classes + c) * all + b * cells : nullptr);
          if (out && (e >= map.coords || to[0]))
            for (int64_t i = 0; i < cells; ++i) out[i] = yolo_sigmoid(from[i]);
        }
      }
    }
  });
}

struct YoloHead {
  YoloMap map;
  std::vector<float> anchors;  // width and height of each box of each map
  int64_t batch = 0, maps = 0, before = 0, after = 0;
  float object = 0, score = 0, overlap = 0, alpha = 2;
  bool stretched = false;  // the image was not kept in its proportions
  bool flat = false;       // out_box_dim 2
};

Result<YoloHead> yolo_head_of(const OpContext& context) {
  YoloHead h;
  ANYNPU_ASSIGN(h.map, yolo_map_of(context));
  const auto found = context.node->attrs.find("biases");
  if (found != context.node->attrs.end()) {
    if (const auto* list = std::get_if<std::vector<float>>(&found->second)) h.anchors = *list;
  }
  h.maps = static_cast<int64_t>(context.inputs.size() - 1) / 3;
  h.before = context.int_attr("pre_nms_topn");
  h.after = context.int_attr("post_nms_topn");
  h.object = context.float_attr("obj_threshold");
  h.score = context.float_attr("score_threshold");
  h.overlap = context.float_attr("iou_threshold");
  h.alpha = context.float_attr("alpha");
  h.stretched = context.int_attr("resize_origin_img_to_net") != 0;
  h.flat = context.int_attr("out_box_dim") == 2;
  const auto anchors = static_cast<size_t>(h.maps * h.map.boxes * 2);
  if (context.inputs.size() != static_cast<size_t>(3 * h.maps + 1) || h.maps < 1 ||
      h.anchors.size() != anchors || h.before < 1 || h.before > kMostYoloBoxes || h.after < 1 ||
      h.after > kMostYoloBoxes) {
    return fail(Code::invalid_argument,
                "{}: {} inputs, {} biases, pre_nms_topn {} and post_nms_topn {}; expected coords, "
                "objects and classes of each map and img_info, {} biases, and 1 to {} boxes",
                context.label(), context.inputs.size(), h.anchors.size(), h.before, h.after,
                anchors, kMostYoloBoxes);
  }
  return h;
}

Status yolo_output_rule(OpContext& context) {
  const DType type = context.inputs[0].dtype;
  context.outputs[0].dtype = type;
  if (context.outputs.size() > 1) context.outputs[1].dtype = DType::i32;
  ANYNPU_ASSIGN(const YoloHead h, yolo_head_of(context));
  for (const Operand& input : context.inputs)
    if (!input.fully_known()) return {};
  const Shape& coords = context.inputs[0].shape;
  const Shape& info = context.inputs.back().shape;
  bool fits = coords.size() == 3 && info == Shape{coords[0], 4};
  for (int64_t m = 0; fits && m < h.maps; ++m) {
    const Shape &c = context.inputs[static_cast<size_t>(m)].shape,
                &o = context.inputs[static_cast<size_t>(h.maps + m)].shape,
                &k = context.inputs[static_cast<size_t>(2 * h.maps + m)].shape;
    fits = c.size() == 3 && c[0] == coords[0] && c[1] == h.map.boxes * h.map.coords &&
           o.size() == 2 && o[0] == coords[0] && k == Shape{coords[0], h.map.classes, o[1]};
  }
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "{}: the first map is {} and img_info {}; expected what YoloPreDetection gives, and "
        "img_info of N, 4",
        context.label(), to_string(coords), to_string(info));
  }
  const int64_t batch = coords[0];
  ANYNPU_TRY(
      set_output(context, 0, type, h.flat ? Shape{batch, 6 * h.after} : Shape{batch, 6, h.after}));
  if (context.outputs.size() < 2) return {};
  return set_output(context, 1, DType::i32, h.flat ? Shape{batch, 8} : Shape{batch, 8, 1});
}

struct YoloBox {
  float x1, y1, x2, y2, score;
  int64_t label;
};

bool yolo_better(const YoloBox& a, const YoloBox& b) { return a.score > b.score; }

float yolo_overlap(const YoloBox& a, const YoloBox& b) {
  const float width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const YoloBox& box) { return (box.x2 - box.x1) * (box.y2 - box.y1); };
  return width * height / (area(a) + area(b) - width * height);
}

class YoloOutputPlan final : public KernelPlan {
 public:
  YoloOutputPlan(YoloHead head, std::vector<int64_t> rows, std::vector<int64_t> alls,
                 std::string label)
      : h_(std::move(head)),
        rows_(std::move(rows)),
        alls_(std::move(alls)),
        label_(std::move(label)) {}

  Status run(const RunArgs& args) const override {
    const auto* info = input_of<float>(args, static_cast<size_t>(3 * h_.maps));
    for (int64_t n = 0; n < h_.batch; ++n) {
      std::vector<YoloBox> boxes;
      for (int64_t m = 0; m < h_.maps; ++m) ANYNPU_TRY(collect(args, n, m, info + 4 * n, boxes));
      write(args, n, chosen(std::move(boxes)));
    }
    return {};
  }

 private:
  // The extents of map `m`: the network's input divided by a power of two.
  Status extents(int64_t m, const float* info, int64_t& height, int64_t& width) const {
    for (int64_t stride = 1; stride <= 1024; stride *= 2) {
      if (!(info[0] >= 1 && info[0] < 65536 && info[1] >= 1 && info[1] < 65536)) break;
      height = static_cast<int64_t>(info[0]) / stride;
      width = static_cast<int64_t>(info[1]) / stride;
      const int64_t cells = height * width;
      if (cells > 0 && yolo_padded(cells) == rows_[static_cast<size_t>(m)] &&
          yolo_padded(h_.map.boxes * cells) == alls_[static_cast<size_t>(m)])
        return {};
    }
    return fail(
        Code::shape_mismatch,
        "{}: img_info says that the network's input is {} x {} (height x width), which fits "
        "no stride of map {}; expected the height and width that the model was built for",
        label_, info[0], info[1], m);
  }

  Status collect(const RunArgs& args, int64_t n, int64_t m, const float* info,
                 std::vector<YoloBox>& boxes) const {
    int64_t height = 0, width = 0;
    ANYNPU_TRY(extents(m, info, height, width));
    const int64_t cells = height * width, row = rows_[static_cast<size_t>(m)];
    const int64_t all = alls_[static_cast<size_t>(m)];
    const auto* coords =
        input_of<float>(args, static_cast<size_t>(m)) + n * h_.map.boxes * h_.map.coords * row;
    const auto* objects = input_of<float>(args, static_cast<size_t>(h_.maps + m)) + n * all;
    const auto* classes =
        input_of<float>(args, static_cast<size_t>(2 * h_.maps + m)) + n * h_.map.classes * all;
    for (int64_t i = 0; i < h_.map.boxes * cells; ++i) {
      if (!(objects[i] > h_.object)) continue;
      const int64_t b = i / cells, cell = i % cells;
      const float* at = coords + b * h_.map.coords * row + cell;
      const float* anchor = &h_.anchors[static_cast<size_t>((m * h_.map.boxes + b) * 2)];
      const auto size = [&](float share, float whole) {
        return share * h_.alpha * share * h_.alpha * whole;
      };
      const float x = (at[0] * h_.alpha - 0.5f + static_cast<float>(cell % width)) /
                      static_cast<float>(width),
                  y = (at[row] * h_.alpha - 0.5f + static_cast<float>(cell / width)) /
                      static_cast<float>(height),
                  w = size(at[2 * row], anchor[0]) / info[1],
                  t = size(at[3 * row], anchor[1]) / info[0];
      const YoloBox place = placed(x, y, w, t, info);
      for (int64_t c = 0; c < h_.map.classes; ++c) {
        YoloBox box = place;
        box.score = objects[i] * classes[c * all + i];
        box.label = c;
        if (box.score > h_.score) boxes.push_back(box);
      }
    }
    return {};
  }

  // From shares of the network's input to pixels of the image, which lies in its middle unless it
  // was stretched.
  YoloBox placed(float x, float y, float w, float t, const float* info) const {
    const float net_h = info[0], net_w = info[1], image_h = info[2], image_w = info[3];
    float inner_w = net_w, inner_h = net_h;
    if (!h_.stretched && image_w > 0 && image_h > 0) {
      const float scale = std::min(net_w / image_w, net_h / image_h);
      inner_w = image_w * scale;
      inner_h = image_h * scale;
    }
    x = (x - (net_w - inner_w) / 2 / net_w) * net_w / inner_w;
    y = (y - (net_h - inner_h) / 2 / net_h) * net_h / inner_h;
    w *= net_w / inner_w;
    t *= net_h / inner_h;
    const auto inside = [](float value, float most) {
      return std::min(std::max(value, 0.0f), most);
    };
    return {inside((x - w / 2) * image_w, image_w),
            inside((y - t / 2) * image_h, image_h),
            inside((x + w / 2) * image_w, image_w),
            inside((y + t / 2) * image_h, image_h),
            0,
            0};
  }

  // The best, without those that cover one of their class.
  std::vector<YoloBox> chosen(std::vector<YoloBox> boxes) const {
    std::stable_sort(boxes.begin(), boxes.end(), yolo_better);
    if (boxes.size() > static_cast<size_t>(h_.before)) boxes.resize(static_cast<size_t>(h_.before));
    std::vector<YoloBox> kept;
    for (const YoloBox& box : boxes) {
      if (kept.size() == static_cast<size_t>(h_.after)) break;
      const bool covered = std::any_of(kept.begin(), kept.end(), [&](const YoloBox& other) {
        return other.label == box.label && yolo_overlap(other, box) > h_.overlap;
      });
      if (!covered) kept.push_back(box);
    }
    return kept;
  }

  // All x1, then all y1 and so on, one after the other.
  void write(const RunArgs& args, int64_t n, const std::vector<YoloBox>& kept) const {
    float* out = output_of<float>(args, 0) + n * 6 * h_.after;
    std::fill(out, out + 6 * h_.after, 0.0f);
    for (const YoloBox& box : kept) {
      const float values[] = {box.x1, box.y1,    box.x2,
                              box.y2, box.score, static_cast<float>(box.label)};
      for (size_t k = 0; k < 6; ++k) out[k * kept.size()] = values[k];
      ++out;
    }
    if (args.outputs.size() < 2 || !args.outputs[1]) return;
    auto* count = output_of<int32_t>(args, 1) + n * 8;
    std::fill(count, count + 8, 0);
    count[0] = static_cast<int32_t>(kept.size());
  }

  YoloHead h_;
  std::vector<int64_t> rows_, alls_;  // padded lengths of each map
  std::string label_;
};

PlanResult plan_yolo_output(const OpContext& context) {
  ANYNPU_ASSIGN(YoloHead h, yolo_head_of(context));
  h.batch = context.inputs[0].shape[0];
  std::vector<int64_t> rows, alls;
  for (int64_t m = 0; m < h.maps; ++m) {
    rows.push_back(context.inputs[static_cast<size_t>(m)].shape[2]);
    alls.push_back(context.inputs[static_cast<size_t>(h.maps + m)].shape[1]);
  }
  return std::unique_ptr<KernelPlan>(std::make_unique<YoloOutputPlan>(
      std::move(h), std::move(rows), std::move(alls), context.label()));
}

}  // namespace

void register_yolo(Registry& registry) {
  const AttrSchema boxes{"boxes", AttrKind::i, int64_t{3}},
      coords{"coords", AttrKind::i, int64_t{4}}, classes{"classes", AttrKind::i, int64_t{80}};
  registry.add(OpSchema{.name = "YoloPreDetection",
                        .since = 1,
                        .inputs = {{"x", "T"}},
                        .outputs = {{"coord_data", "T"}, {"obj_prob", "T"}, {"classes_prob", "T"}},
                        .types = {{"T", {DType::f32}}},
                        .attrs = {boxes,
                                  coords,
                                  classes,
                                  {"yolo_version", AttrKind::s, "V5"},
                                  {"softmax", AttrKind::i, int64_t{0}},
                                  {"background", AttrKind::i, int64_t{0}},
                                  {"softmaxtree", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = yolo_pre_rule});
  registry.add(KernelDef{.op = "YoloPreDetection",
                         .name = "reference",
                         .types = {DType::f32},
                         .create = create_plain<plan_yolo_pre>});
  registry.add(OpSchema{.name = "YoloV5DetectionOutput",
                        .since = 1,
                        .inputs = {{"x", "T", Presence::variadic}},
                        .outputs = {{"box_out", "T"}, {"box_out_num", "I"}},
                        .types = {{"T", {DType::f32}}, {"I", {DType::i32}}},
                        .attrs = {{"biases", AttrKind::floats, {}, true},
                                  boxes,
                                  coords,
                                  classes,
                                  {"relative", AttrKind::i, int64_t{1}},
                                  {"obj_threshold", AttrKind::f, 0.5f},
                                  {"post_nms_topn", AttrKind::i, int64_t{512}},
                                  {"score_threshold", AttrKind::f, 0.5f},
                                  {"iou_threshold", AttrKind::f, 0.45f},
                                  {"pre_nms_topn", AttrKind::i, int64_t{512}},
                                  {"N", AttrKind::i, int64_t{10}},
                                  {"resize_origin_img_to_net", AttrKind::i, int64_t{0}},
                                  {"out_box_dim", AttrKind::i, int64_t{3}},
                                  {"alpha", AttrKind::f, 2.0f}},
                        .traits = OpTraits::general(),
                        .shape = yolo_output_rule});
  registry.add(KernelDef{.op = "YoloV5DetectionOutput",
                         .name = "reference",
                         .types = {DType::f32},
                         .create = create_plain<plan_yolo_output>});
}

}  // namespace anynpu::ops::detection
