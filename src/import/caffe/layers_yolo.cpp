// SPDX-License-Identifier: Apache-2.0
// What stands at the end of a YOLO network: the map of raw numbers, box by box, becomes
// coordinates, objectness and classes. Type Region or YoloRegion: the second generation, classes by
// softmax; type Yolo: the third, each class by itself. The parameters may say otherwise.
#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

struct YoloParams {
  int64_t boxes = 0, coords = 0, classes = 0;
  bool softmax = false;     // over the classes; else each by a sigmoid
  bool background = false;  // the objectness is class 0 of the softmax
  int64_t entries() const { return coords + 1 + classes; }
};

// The message is called after the type in each of the three.
std::string_view message_of(const Layer& layer) {
  for (std::string_view name : {"region_param", "yolo_region_param", "yolo_param"}) {
    if (layer.text.find(name)) return name;
  }
  return "region_param";
}

Result<YoloParams> yolo_params(const Builder& b) {
  Params params(b.layer(), message_of(b.layer()));
  bool third = b.layer().type == "Yolo";
  const std::string version = params.word("yolo_version", third ? "V3" : "V2");
  if (version != "V2" && version != "V3") {
    return fail(Code::invalid_argument, "yolo_version is '{}'; expected V2 or V3", version);
  }
  third = version == "V3";
  YoloParams p;
  p.coords = params.integer("coords", 4, 4, 64);
  p.classes = params.integer("classes", third ? 80 : 20, 1);
  p.boxes = params.integer(params.has("boxes") ? "boxes" : "num", third ? 3 : 5, 1);
  p.softmax = params.flag("softmax", !third);
  p.background = params.flag("background", false);
  if (params.flag("softmaxtree", false)) {
    return fail(Code::unsupported_feature,
                "softmaxtree is true, and trees of classes are not in this release; take the "
                "layer out and compute the tree from its bottom");
  }
  ANYNPU_TRY(params.status());
  if (p.background && !p.softmax) {
    return fail(Code::invalid_argument, "background is true without softmax; expected both");
  }
  return p;
}

Result<ValueId> softmax_of(Builder& b, ValueId x) {
  return b.add("Softmax", {x}, {{"axis", int64_t{2}}});
}

}  // namespace

// One top: the map as it was, activated. Three: coordinates (N, boxes * coords, H * W), objectness
// (N, boxes * H * W) and classes (N, classes, boxes * H * W).
Status yolo_region(Builder& b) {
  const size_t tops = b.layer().tops.size();
  ANYNPU_TRY(b.expect(1, tops == 3 ? 3 : 1));
  ANYNPU_ASSIGN(const YoloParams p, yolo_params(b));
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  ANYNPU_ASSIGN(const int64_t height, b.extent(x, 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(x, 3));
  if (b.rank(x) != 4 || channels != p.boxes * p.entries()) {
    return fail(Code::shape_mismatch,
                "its bottom has the shape {}; expected {} channels: {} boxes of {} coordinates, "
                "objectness and {} classes",
                to_string(b.shape(x)), p.boxes * p.entries(), p.boxes, p.coords, p.classes);
  }
  const int64_t area = height * width;
  ANYNPU_ASSIGN(const ValueId rows, b.reshape(x, {0, p.boxes, p.entries(), area}));
  ANYNPU_ASSIGN(const auto parts,
                b.add_several("Split", {rows, b.integers({2, p.coords - 2, 1, p.classes})},
                              {{"axis", int64_t{2}}}, 4));
  ANYNPU_ASSIGN(const ValueId centre, b.add("Sigmoid", {parts[0]}));
  ValueId object = parts[2], classes = parts[3];
  if (p.background) {
    ANYNPU_ASSIGN(const ValueId all, b.add("Concat", {object, classes}, {{"axis", int64_t{2}}}));
    ANYNPU_ASSIGN(const ValueId shares, softmax_of(b, all));
    ANYNPU_ASSIGN(const auto again, b.add_several("Split", {shares, b.integers({1, p.classes})},
                                                  {{"axis", int64_t{2}}}, 2));
    object = again[0];
    classes = again[1];
  } else {
    ANYNPU_ASSIGN(object, b.add("Sigmoid", {object}));
    if (p.softmax) {
      ANYNPU_ASSIGN(classes, softmax_of(b, classes));
    } else {
      ANYNPU_ASSIGN(classes, b.add("Sigmoid", {classes}));
    }
  }
  ANYNPU_ASSIGN(const ValueId coords, b.add("Concat", {centre, parts[1]}, {{"axis", int64_t{2}}}));
  if (tops == 1) {
    ANYNPU_ASSIGN(const ValueId whole,
                  b.add("Concat", {coords, object, classes}, {{"axis", int64_t{2}}}));
    return b.set_top(0, b.reshape(whole, {0, channels, height, width}));
  }
  ANYNPU_TRY(b.set_top(0, b.reshape(coords, {0, p.boxes * p.coords, area})));
  ANYNPU_TRY(b.set_top(1, b.reshape(object, {0, p.boxes * area})));
  ANYNPU_ASSIGN(const ValueId by_class,
                b.add("Transpose", {classes}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}));
  return b.set_top(2, b.reshape(by_class, {0, p.classes, p.boxes * area}));
}

}  // namespace anynpu::caffe
