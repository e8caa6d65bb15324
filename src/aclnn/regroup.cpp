// SPDX-License-Identifier: Apache-2.0
// Elements in other places: slices, diagonals, circular pads, gathers by coordinates; and operators
// of lists that are one of ours.
#include <algorithm>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// The shape of the output says all.
void reshaped(Recipe& r) { r.out("out", r.reshape(r.in("self"), r.shape("out"))); }
void expanded(Recipe& r) { r.out("out", r.expand(r.in("self"), r.shape("out"))); }

void transpose_and_reshape(Recipe& r) {
  const Value x = r.in("x");
  if (r.flag("transpose_first"))
    return r.out("out", r.reshape(r.transpose(x, r.ints("perm")), r.shape("out")));
  r.out("out", r.transpose(r.reshape(x, r.ints("shape")), r.ints("perm")));
}

// A vector as the diagonal of a matrix; `self` is flat.
Value diagonal_matrix(Recipe& r, Value list, int64_t offset) {
  const int64_t count = r.extent(list, 0);
  const int64_t shift = std::abs(std::max(offset, -kMostItems - 1)), size = count + shift;
  check_items(shift);
  Ints places;
  for (int64_t i = 0; i < count; ++i)
    places.push_back((i + std::max<int64_t>(-offset, 0)) * size + i + std::max<int64_t>(offset, 0));
  const Value zeros = r.filled(r.dtype(list), {size * size}, 0);
  const Value made = r.op("ScatterElements", {zeros, r.constant(places), list}, {{"axis", 0}});
  return r.reshape(made, {size, size});
}

void diagonal(Recipe& r) {
  const int64_t offset = r.integer("diagonal");
  const Value x = r.in("self");
  const Shape s = r.shape(x);
  if (s.size() == 1) return r.out("out", diagonal_matrix(r, x, offset));
  if (s.size() != 2) refuse("self has {} axes; expected 1 or 2", s.size());
  const int64_t shift = std::clamp(offset, -s[0], s[1]);
  Ints places;
  for (int64_t i = std::max<int64_t>(-shift, 0); i < s[0] && i + shift < s[1]; ++i)
    places.push_back(i * s[1] + i + shift);
  if (places.empty()) return;
  const Value flat = r.reshape(x, {s[0] * s[1]});
  r.out("out", r.op("Gather", {flat, r.constant(places)}, {{"axis", 0}}));
}

void flat_diagonal(Recipe& r) {
  const Value flat = r.reshape(r.in("self"), {r.tensor("self").count()});
  r.out("out", diagonal_matrix(r, flat, r.integer("diagonal")));
}

// Every element of the main diagonal; of a tall matrix again and again with `wrap`.
void fill_diagonal(Recipe& r) {
  const Shape s = r.shape("selfRef");
  if (s.size() < 2) refuse("selfRef has {} axes; expected at least 2", s.size());
  const int64_t count = r.tensor("selfRef").count();
  int64_t step = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    int64_t stride = 1;
    for (size_t j = i + 1; j < s.size(); ++j) stride *= s[j];
    step += stride;
  }
  const int64_t least = *std::min_element(s.begin(), s.end());
  const bool wraps = s.size() == 2 && r.flag("wrap");
  std::vector<int64_t> kept;
  for (int64_t i = 0; (wraps || i < least) && i * step < count; ++i) kept.push_back(i * step);
  if (kept.empty()) return;
  const DType type = r.dtype("selfRef");
  const Value value = r.expand(r.number("fillValue", type), {static_cast<int64_t>(kept.size())});
  const Value flat = r.reshape(r.in("selfRef"), {count});
  r.out("selfRef",
        r.reshape(r.op("ScatterElements", {flat, r.constant(kept), value}, {{"axis", 0}}), s));
}

// --- circular pads: two numbers for each axis, the last one first

struct Pad {
  int64_t axis, before, after, extent;
};

std::vector<Pad> pads_of(Recipe& r, const Shape& shape) {
  const std::vector<int64_t> list = r.ints("padding");
  if (list.size() % 2 != 0 || list.size() / 2 > shape.size()) {
    refuse("padding has {} numbers for {} axes; expected two for each of the last ones",
           list.size(), shape.size());
  }
  std::vector<Pad> pads;
  for (size_t i = 0; i < list.size() / 2; ++i) {
    const size_t axis = shape.size() - 1 - i;
    pads.push_back({static_cast<int64_t>(axis), list[2 * i], list[2 * i + 1], shape[axis]});
    if (list[2 * i] < 0 || list[2 * i + 1] < 0 || list[2 * i] > shape[axis] ||
        list[2 * i + 1] > shape[axis]) {
      refuse("padding is {} and {} for an axis of {}; expected 0 to that", list[2 * i],
             list[2 * i + 1], shape[axis]);
    }
  }
  return pads;
}

void circular(Recipe& r) {
  Value x = r.in("self");
  for (const Pad& p : pads_of(r, r.shape("self"))) {
    if (p.before + p.after == 0) continue;
    std::vector<Value> parts;
    if (p.before > 0) parts.push_back(r.slice(x, p.axis, p.extent - p.before, p.extent));
    parts.push_back(x);
    if (p.after > 0) parts.push_back(r.slice(x, p.axis, 0, p.after));
    x = r.op("Concat", parts, {{"axis", p.axis}});
  }
  r.out("out", x);
}

// `x` with zeros in front and behind along an axis.
Value padded(Recipe& r, Value x, int64_t axis, int64_t before, int64_t after) {
  std::vector<int64_t> list(2 * r.shape(x).size(), 0);
  list[static_cast<size_t>(axis)] = before;
  list[r.shape(x).size() + static_cast<size_t>(axis)] = after;
  return r.op("Pad", {x, r.constant(list)});
}

void circular_gradient(Recipe& r) {
  Value g = r.cast(r.in("gradOutput"), computed_in(r.dtype("gradOutput")));
  for (const Pad& p : pads_of(r, r.shape("self"))) {
    Value middle = r.slice(g, p.axis, p.before, p.before + p.extent);
    if (p.before > 0)
      middle = r.op("Add", {middle, padded(r, r.slice(g, p.axis, 0, p.before), p.axis,
                                           p.extent - p.before, 0)});
    if (p.after > 0) {
      const Value tail = r.slice(g, p.axis, p.before + p.extent, p.before + p.extent + p.after);
      middle = r.op("Add", {middle, padded(r, tail, p.axis, 0, p.extent - p.after)});
    }
    g = middle;
  }
  r.out("gradInput", g);
}

// --- by coordinates

void gather_nd(Recipe& r) {
  r.out("out", r.op("GatherND", {r.in("self"), r.cast(r.in("indices"), DType::i64)}));
}

// number 1: into the tensor itself, 2: added to it.
void scatter_nd(Recipe& r) {
  const char* const to = r.row().number ? "varRef" : "data";
  const Value made =
      r.op("ScatterND",
           {r.in(to), r.cast(r.in("indices"), DType::i64), r.cast(r.in("updates"), r.dtype(to))},
           {{"reduction", r.row().number == 2 ? "add" : "none"}});
  r.out(r.row().number ? "varRef" : "out", made);
}

void gather_axis(Recipe& r) {
  if (r.integer("batchDims") != 0) refuse("batchDims is {}; expected 0", r.integer("batchDims"));
  const Value made = r.op("Gather", {r.in("self"), r.cast(r.in("index"), DType::i64)},
                          {{"axis", r.axis("dim", r.rank("self"))}});
  r.out("out", r.reshape(made, r.shape("out")));
}

// Slices as TensorFlow has them: bits of the masks say which bounds are left out.
void strided_slice(Recipe& r) {
  for (const char* name : {"ellipsisMask", "newAxisMask"}) {
    if (r.integer(name) != 0) refuse("{} is {}; expected 0", name, r.integer(name));
  }
  const std::vector<int64_t> begin = r.ints("begin"), end = r.ints("end"),
                             steps = r.ints("strides");
  const int64_t no_begin = r.integer("beginMask"), no_end = r.integer("endMask"),
                one = r.integer("shrinkAxisMask");
  if (begin.size() != end.size() || begin.size() != steps.size() || begin.size() > r.rank("self")) {
    refuse("begin, end and strides have {}, {} and {} numbers; expected the same, up to {}",
           begin.size(), end.size(), steps.size(), r.rank("self"));
  }
  std::vector<int64_t> from, to, axes;
  for (size_t i = 0; i < begin.size(); ++i) {
    const bool shrinks = one >> i & 1, back = steps[i] < 0;
    if (steps[i] == 0) refuse("stride {} is 0", i);
    from.push_back(no_begin >> i & 1 && !shrinks ? (back ? INT32_MAX : 0) : begin[i]);
    to.push_back(shrinks           ? (begin[i] == -1 ? INT32_MAX : begin[i] + 1)
                 : no_end >> i & 1 ? (back ? INT32_MIN : INT32_MAX)
                                   : end[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  const Value made = r.op("Slice", {r.in("self"), r.constant(from), r.constant(to),
                                    r.constant(axes), r.constant(steps)});
  r.out("out", r.reshape(made, r.shape("out")));
}

// Number i as often as repeats[i] says.
void repeat_numbers(Recipe& r) {
  const int64_t inputs = r.tensor("repeats").count(), outputs = r.tensor("out").count();
  if (outputs == 0) return;
  const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
  const Value times = r.cast(r.reshape(r.in("repeats"), {inputs}), DType::i64);
  const Value each = r.op("Range", {number(0), number(outputs), number(1)});
  const Value ends = r.op("CumSum", {times, number(0)});
  r.out("out", r.reshape(r.op("SearchSorted", {ends, each}, {{"right", 1}}), r.shape("out")));
}

// --- operators of lists

void listed(Recipe& r) {
  std::vector<Value> items;
  DType type = r.tensor("tensors", 0).dtype;
  for (size_t i = 1; i < r.length("tensors"); ++i)
    type = promote(type, r.tensor("tensors", i).dtype);
  for (size_t i = 0; i < r.length("tensors"); ++i)
    items.push_back(r.cast(r.in("tensors", i), computed_in(type)));
  const Value made = r.op(r.row().op, items);
  r.out("out", r.expand(made, r.shape("out")));
}

void einsum(Recipe& r) {
  std::vector<Value> items;
  const DType type = computed_in(r.dtype("output"));
  for (size_t i = 0; i < r.length("tensors"); ++i)
    items.push_back(r.cast(r.in("tensors", i), type));
  r.out("output", r.op("Einsum", items, {{"equation", r.text("equation")}}));
}

void gemm(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  r.out("out",
        r.op("Gemm", {r.cast(r.in("A"), type), r.cast(r.in("B"), type), r.cast(r.in("C"), type)},
             {{"alpha", r.real("alpha")},
              {"beta", r.real("beta")},
              {"transA", r.flag("transA")},
              {"transB", r.flag("transB")}}));
}

void global_pool(Recipe& r) { r.out("out", r.op(r.row().op, {r.in("self")})); }

void log_sum(Recipe& r) {
  const Value x = r.cast(r.in("data"), computed_in(floating(r.dtype("data"))));
  if (r.length_if("axes") == 0 && r.flag("noopWithEmptyAxes")) return r.out("reduce", x);
  const Value axes = r.constant(r.axes("axes", r.rank("data")));
  r.out("reduce", r.op("ReduceLogSum", {x, axes}, {{"keepdims", r.flag("keepDims")}}));
}

void affine_grid(Recipe& r) {
  const Value made =
      r.op("AffineGrid",
           {r.cast(r.in("theta"), computed_in(r.dtype("theta"))), r.constant(r.ints("size"))},
           {{"align_corners", r.flag("alignCorners")}});
  r.out("out", made);
}

// Rows of a picture's number and four corners.
struct Boxes {
  Value corners, pictures;
};

Boxes boxes_of(Recipe& r, DType type) {
  if (r.rank("boxes") != 2 || r.shape("boxes")[1] != 5) {
    refuse("boxes is {}; expected rows of a picture's number and four corners",
           to_string(r.shape("boxes")));
  }
  const Value boxes = r.cast(r.in("boxes"), type);
  const Value pictures =
      r.cast(r.reshape(r.slice(boxes, 1, 0, 1), {r.extent(boxes, 0)}), DType::i64);
  return {r.slice(boxes, 1, 1, 5), pictures};
}

const char* roi_places(Recipe& r) { return r.flag("aligned") ? "half_pixel" : "output_half_pixel"; }

void roi_align(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Boxes boxes = boxes_of(r, type);
  r.out("out", r.op("RoiAlign", {r.cast(r.in("self"), type), boxes.corners, boxes.pictures},
                    {{"output_height", r.integer("pooledHeight")},
                     {"output_width", r.integer("pooledWidth")},
                     {"sampling_ratio", std::max<int64_t>(r.integer("samplingRatio"), 0)},
                     {"spatial_scale", r.real("spatialScale")},
                     {"coordinate_transformation_mode", roi_places(r)}}));
}

void roi_align_gradient(Recipe& r) {
  const DType type = computed_in(r.dtype("gradOutput"));
  const Boxes boxes = boxes_of(r, type);
  const Shape g = r.shape("gradOutput");
  if (g.size() != 4 || g[2] != r.integer("pooledHeight") || g[3] != r.integer("pooledWidth")) {
    refuse(
        "gradOutput is {} with pooledHeight {} and pooledWidth {}; expected them last of four "
        "extents",
        to_string(g), r.integer("pooledHeight"), r.integer("pooledWidth"));
  }
  r.out("gradInput",
        r.op("RoiAlignGrad", {r.cast(r.in("gradOutput"), type), boxes.corners, boxes.pictures},
             {{"input_shape", r.ints("inputShape")},
              {"sampling_ratio", std::max<int64_t>(r.integer("samplingRatio"), 0)},
              {"spatial_scale", r.real("spatialScale")},
              {"coordinate_transformation_mode", roi_places(r)}}));
}

// How much boxes overlap, in corners: a row for each of gtBoxes; in pairs where they are aligned.
// Sides are `eps` longer, as with the operator Iou.
void overlap(Recipe& r) {
  const Shape a = r.shape("bBoxes"), b = r.shape("gtBoxes");
  const std::string mode = r.text("mode");
  const bool pairs = r.flag("aligned");
  if (a.size() != 2 || b.size() != 2 || a[1] != 4 || b[1] != 4 || (pairs && a[0] != b[0])) {
    refuse(
        "bBoxes is {} and gtBoxes {}; expected rows of four corners, as many where they are "
        "aligned",
        to_string(a), to_string(b));
  }
  if (mode != "iou" && mode != "iof") refuse("mode is '{}'; expected iou or iof", mode);
  const DType type = computed_in(floating(r.dtype("bBoxes")));
  const auto corner = [&](const char* name, int64_t i, const Shape& lie) {
    return r.reshape(r.slice(r.cast(r.in(name), type), 1, i, i + 1), lie);
  };
  const Shape across = pairs ? Shape{a[0], 1} : Shape{1, a[0]}, down{b[0], 1};
  const auto side = [&](int64_t i, Value& of_box, Value& of_gt) {
    const Value box[] = {corner("bBoxes", i, across), corner("bBoxes", i + 2, across)};
    const Value gt[] = {corner("gtBoxes", i, down), corner("gtBoxes", i + 2, down)};
    const auto length = [&](Value from, Value to) {
      return r.op("Add", {r.op("Sub", {to, from}), r.number("eps", type)});
    };
    of_box = length(box[0], box[1]), of_gt = length(gt[0], gt[1]);
    return r.op("Max", {length(r.op("Max", {box[0], gt[0]}), r.op("Min", {box[1], gt[1]})),
                        r.constant(type, 0)});
  };
  Value box_w, box_h, gt_w, gt_h;
  const Value width = side(0, box_w, gt_w), height = side(1, box_h, gt_h);
  const Value common = r.op("Mul", {width, height}), of_gt = r.op("Mul", {gt_w, gt_h});
  Value whole = of_gt;
  if (mode == "iou")
    whole = r.op("Sub", {r.op("Add", {r.op("Mul", {box_w, box_h}), of_gt}), common});
  r.out("overlap", r.reshape(r.op("Div", {common, whole}), r.shape("overlap")));
}

// The first version: corners and pictures apart, and no half pixel.
void roi_align_apart(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value pictures =
      r.cast(r.reshape(r.in("batchIndices"), {r.tensor("batchIndices").count()}), DType::i64);
  const std::string mode = r.text("mode");
  if (mode != "avg" && mode != "max") refuse("mode is '{}'; expected avg or max", mode);
  r.out("out", r.op("RoiAlign", {r.cast(r.in("self"), type), r.cast(r.in("rois"), type), pictures},
                    {{"mode", mode},
                     {"output_height", r.integer("outputHeight")},
                     {"output_width", r.integer("outputWidth")},
                     {"sampling_ratio", r.integer("samplingRatio")},
                     {"spatial_scale", r.real("spatialScale")},
                     {"coordinate_transformation_mode", "output_half_pixel"}}));
}

// Sums of the windows back into where they were taken from.
void unfold_gradient(Recipe& r) {
  const Shape sizes = r.ints("inputSizes"), g = r.shape("gradOut");
  const int64_t size = r.integer("size"), step = r.integer("step");
  const int64_t axis = r.axis("dim", sizes.size());
  const auto at = static_cast<size_t>(axis);
  if (g.size() != sizes.size() + 1 || g.back() != size || step < 1 ||
      (g[at] - 1) * step + size > sizes[at]) {
    refuse("gradOut is {} for windows of {} every {} over {}", to_string(g), size, step,
           to_string(sizes));
  }
  std::vector<int64_t> order;
  for (int64_t i = 0; i < std::ssize(sizes); ++i) {
    order.push_back(i);
    if (i == axis) order.push_back(std::ssize(sizes));
  }
  Shape flat = sizes, beside(sizes.size(), 1);
  flat[at] = beside[at] = g[at] * size;
  Ints places;
  for (int64_t w = 0; w < g[at]; ++w) {
    for (int64_t i = 0; i < size; ++i) places.push_back(w * step + i);
  }
  const DType type = computed_in(r.dtype("gradOut"));
  const Value windows = r.reshape(r.transpose(r.cast(r.in("gradOut"), type), order), flat);
  const Value index = r.expand(r.constant_of(beside, places), flat);
  r.out("gradIn", r.op("ScatterElements", {r.filled(type, sizes, 0), index, windows},
                       {{"axis", axis}, {"reduction", "add"}}));
}

// Whether elements are the number, or the number is among them.
void is_in(Recipe& r) {
  const bool tensor = r.is_tensor("element");
  const char* const list = tensor ? "element" : "testElements";
  const char* const one = tensor ? "testElement" : "element";
  const DType type = promote_scalar(r.dtype(list), r.scalar_type(one));
  Value same = r.op("Equal", {r.cast(r.in(list), type), r.number(one, type)});
  if (!tensor) {
    const Value flat = r.cast(r.reshape(same, {r.tensor(list).count()}), DType::i32);
    const Value any = r.tensor(list).count() == 0
                          ? r.constant(DType::i32, 0)
                          : r.op("ReduceMax", {flat, r.constant({0})}, {{"keepdims", 0}});
    same = r.cast(any, DType::boolean);
  }
  r.out("out", r.reshape(r.flag("invert") ? r.op("Not", {same}) : same, r.shape("out")));
}

// Where a number belongs in a sorted row.
void search_number(Recipe& r) {
  Value row = r.in("sortedSequence");
  if (r.given("sorter"))
    row = r.op("GatherElements", {row, r.cast(r.in("sorter"), DType::i64)}, {{"axis", 0}});
  const DType type = promote_scalar(r.dtype(row), r.scalar_type("self"));
  const Value found =
      r.op("SearchSorted", {r.cast(row, type), r.reshape(r.number("self", type), {1})},
           {{"right", r.flag("right")}});
  r.out("out", r.reshape(found, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnFlatten", reshaped},
    {"aclnnExpand", expanded},
    {"aclnnConfusionTranspose", transpose_and_reshape},
    {"aclnnDiag", diagonal},
    {"aclnnDiagFlat", flat_diagonal},
    {"aclnnInplaceFillDiagonal", fill_diagonal},
    {"aclnnCircularPad2d", circular},
    {"aclnnCircularPad3d", circular},
    {"aclnnCircularPad2dBackward", circular_gradient},
    {"aclnnCircularPad3dBackward", circular_gradient},
    {"aclnnGatherNd", gather_nd},
    {"aclnnGatherV3", gather_axis},
    {"aclnnScatterNd", scatter_nd},
    {"aclnnScatterNdUpdate", scatter_nd, "", false, 1},
    {"aclnnTfScatterAdd", scatter_nd, "", false, 2},
    {"aclnnStridedSlice", strided_slice},
    {"aclnnRepeatInterleaveTensor", repeat_numbers},
    {"aclnnMaxN", listed, "Max"},
    {"aclnnMinN", listed, "Min"},
    {"aclnnSum", listed, "Sum"},
    {"aclnnEinsum", einsum},
    {"aclnnGemm", gemm},
    {"aclnnGlobalAveragePool", global_pool, "GlobalAveragePool"},
    {"aclnnGlobalMaxPool", global_pool, "GlobalMaxPool"},
    {"aclnnReduceLogSum", log_sum},
    {"aclnnAffineGrid", affine_grid},
    {"aclnnIou", overlap},
    {"aclnnRoiAlign", roi_align_apart},
    {"aclnnRoiAlignV2", roi_align},
    {"aclnnRoiAlignV2Backward", roi_align_gradient},
    {"aclnnUnfoldGrad", unfold_gradient},
    {"aclnnIsInTensorScalar", is_in},
    {"aclnnIsInScalarTensor", is_in},
    {"aclnnSearchSorteds", search_number},
};

}  // namespace

std::span<const Row> regroup_rows() { return kRows; }

}  // namespace anynpu::aclnn
