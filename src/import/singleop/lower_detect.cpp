// SPDX-License-Identifier: Apache-2.0
// Boxes, regions and sampling of pictures.
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

ValueId columns(Builder& b, ValueId value, int64_t first, int64_t end) {
  return b.node("Slice", 13, {value, b.list({first}), b.list({end}), b.list({1})});
}

// Regions as rows: [batch, 5, count] becomes [batch * count, 5].
ValueId region_rows(Builder& b, size_t index) {
  const ValueId rois = b.in(index);
  if (!b.ok() || b.rank(rois) != 3) return rois;
  return b.reshape(b.transpose(rois, {0, 2, 1}), {-1, 5});
}

}  // namespace

// features, rois [n, 5]: image, x1, y1, x2, y2.
void lower_roi_align(Builder& b) {
  const ValueId x = b.in_nchw(0), rois = b.cast(b.in(1), b.ok() ? b.dtype(b.in(1)) : DType::f32);
  if (!b.ok()) return;
  const int64_t mode = b.i("roi_end_mode", 1);
  if (mode < 0 || mode > 2 || b.rank(rois) != 2 || b.shape(rois)[1] != 5)
    return b.refuse(Code::unsupported_feature,
                    "roi_end_mode is {} and rois have the shape {}, expected 0 to 2 and [n, 5]",
                    mode, to_string(b.shape(rois)));
  ValueId boxes = columns(b, rois, 1, 5);
  if (mode == 1) {  // the last pixel belongs to the region
    const ValueId corner = b.scalar(b.dtype(rois), 1);
    boxes = b.node("Concat", 13,
                   {columns(b, boxes, 0, 2), b.node("Add", 14, {columns(b, boxes, 2, 4), corner})},
                   {{"axis", int64_t{1}}});
  }
  const ValueId images = b.reshape(b.cast(columns(b, rois, 0, 1), DType::i64), {-1});
  const std::string transform = mode == 2 ? "half_pixel" : "output_half_pixel";
  b.out_nchw(0, b.node("RoiAlign", 16, {x, boxes, images},
                       {{"coordinate_transformation_mode", transform},
                        {"output_height", b.i("pooled_height")},
                        {"output_width", b.i("pooled_width")},
                        {"sampling_ratio", b.i("sample_num", 2)},
                        {"spatial_scale", b.f("spatial_scale")}}));
}

void lower_roi_pooling(Builder& b) {
  const float scale = b.f("spatial_scale_h", b.f("spatial_scale", 0.0625f));
  if (b.f("spatial_scale_w", scale) != scale)
    return b.refuse(Code::unsupported_feature,
                    "spatial_scale_h and spatial_scale_w are {} and {}, expected the same", scale,
                    b.f("spatial_scale_w", scale));
  const std::vector<int64_t> size = {b.i("pooled_h"), b.i("pooled_w")};
  b.out_nchw(0, b.node("MaxRoiPool", 1, {b.in_nchw(0), region_rows(b, 1)},
                       {{"pooled_shape", size}, {"spatial_scale", scale}}));
}

void lower_ps_roi_pooling(Builder& b) {
  b.out_nchw(0, b.node("anynpu.PsRoiPool", 1, {b.in_nchw(0), region_rows(b, 1)},
                       {{"output_dim", b.i("output_dim")},
                        {"group_size", b.i("group_size")},
                        {"spatial_scale", b.f("spatial_scale")}}));
}

// boxes [n, 4], scores [n], how many at most, and thresholds: the indices of those kept.
void lower_non_max_suppression(Builder& b) {
  const ValueId boxes = b.node("Unsqueeze", 13, {b.cast(b.in(0), DType::f32), b.list({0})});
  const ValueId scores = b.node("Unsqueeze", 13, {b.cast(b.in(1), DType::f32), b.list({0, 1})});
  const bool attribute = b.type() == "NonMaxSuppression";
  const ValueId iou = attribute ? b.scalar(DType::f32, b.f("iou_threshold", 0.5f))
                                : b.reshape(b.cast(b.in(3), DType::f32), {1});
  const bool scored = !attribute && b.has(4);
  const ValueId least = scored ? b.reshape(b.cast(b.in(4), DType::f32), {1}) : kNoValue;
  const ValueId most = b.reshape(b.index(b.in(2)), {1});
  const ValueId rows = b.node("NonMaxSuppression", 11,
                              {boxes, scores, most, attribute ? b.reshape(iou, {1}) : iou, least});
  b.out(0, b.reshape(columns(b, rows, 2, 3), {-1}), Type::any);
}

// boxes [batch, n, 4], scores [batch, classes, n]: rows of image, class, box.
void lower_non_max_suppression_batch(Builder& b) {
  std::vector<ValueId> inputs = {b.in(0), b.in(1)};
  for (size_t i = 2; i < 5; ++i) {
    if (!b.has(i)) {
      inputs.push_back(kNoValue);
    } else {
      inputs.push_back(b.reshape(i == 2 ? b.index(b.in(i)) : b.cast(b.in(i), DType::f32), {1}));
    }
  }
  b.out(0,
        b.node("NonMaxSuppression", 11, inputs, {{"center_point_box", b.i("center_point_box", 0)}}),
        Type::any);
}

void lower_grid_sampler(Builder& b) {
  std::string mode = b.s("interpolation_mode", "bilinear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  b.out_nchw(0, b.node("GridSample", 20, {b.in_nchw(0), b.in(1)},
                       {{"mode", mode},
                        {"padding_mode", b.s("padding_mode", "zeros")},
                        {"align_corners", int64_t{b.flag("align_corners", false)}}}));
}

void lower_affine_grid(Builder& b) {
  b.out(0, b.node("AffineGrid", 20, {b.in(0), b.list(b.in_values(1))},
                  {{"align_corners", int64_t{b.flag("align_corners", false)}}}));
}

// Every pixel several times, times a factor.
void lower_upsample(Builder& b) {
  if (b.s("mode", "nearest") != "nearest")
    return b.refuse(Code::unsupported_feature, "mode must be nearest");
  const ValueId x = b.in_nchw(0);
  if (!b.has_rank(x, "x", 4, 4)) return;
  const Shape s = b.shape(x);
  const int64_t rows = b.i_between("stride_h", 2, 1, 1 << 20),
                columns = b.i_between("stride_w", 2, 1, 1 << 20);
  const ValueId sizes = b.list({s[0], s[1], s[2] * rows, s[3] * columns});
  const ValueId y = b.node("Resize", 13, {x, kNoValue, kNoValue, sizes},
                           {{"mode", std::string("nearest")},
                            {"coordinate_transformation_mode", std::string("asymmetric")},
                            {"nearest_mode", std::string("floor")}});
  const float scale = b.f("scale", 1);
  b.out_nchw(0, scale == 1 ? y : b.node("Mul", 14, {y, b.scalar(b.dtype(x), scale)}));
}

// Pictures (channels last), boxes in parts of them, the picture of each box, height and width.
void lower_crop_and_resize(Builder& b) {
  const ValueId x = b.cast(b.in(0), DType::f32), boxes = b.cast(b.in(1), DType::f32),
                of = b.index(b.in(2));
  const auto size = b.in_values(3);
  const std::string method = b.word("method", "bilinear", {"bilinear", "nearest"});
  if (!b.has_rank(x, "x", 4, 4)) return;
  if (size.size() != 2)
    return b.refuse(Code::invalid_argument, "crop_size has {} numbers, expected height and width",
                    size.size());
  const ValueId made = b.node("anynpu.CropAndResize", 1, {b.transpose(x, {0, 3, 1, 2}), boxes, of},
                              {{"height", size[0]},
                               {"width", size[1]},
                               {"method", method},
                               {"outside", b.f("extrapolation_value", 0)}});
  if (b.ok()) b.out(0, b.transpose(made, {0, 2, 3, 1}), Builder::Type::any);
}

void lower_im2col_back(Builder& b) {
  const auto pair = [&](const char* name, int64_t otherwise) {
    std::vector<int64_t> v = b.ints(name, {otherwise, otherwise});
    if (v.size() == 1) v.push_back(v[0]);
    return v;
  };
  const std::vector<int64_t> pad = pair("padding", 0);
  if (pad.size() != 2)
    return b.refuse(Code::invalid_argument, "padding has {} entries, expected 1 or 2", pad.size());
  ValueId x = b.in(0);
  if (b.ok() && b.rank(x) == 4) {  // the window's elements on an axis of their own
    const Shape s = b.shape(x);
    x = b.reshape(x, {s[0], s[1] * s[2], s[3]});
  }
  b.out(0,
        b.node("Col2Im", 18, {x, b.list(b.in_values(1)), b.list(pair("kernel_size", 1))},
               {{"dilations", pair("dilation", 1)},
                {"strides", pair("stride", 1)},
                {"pads", std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}}}),
        Type::any);
}

}  // namespace anynpu::singleop
