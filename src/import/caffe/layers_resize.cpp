// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

using Ints = std::vector<int64_t>;

Result<ValueId> resize(Builder& b, ValueId x, int64_t height, int64_t width, Attrs attrs) {
  ANYNPU_TRY(b.need_static(x));
  const Shape& shape = b.shape(x);
  return b.add(
      "Resize",
      {x, graph::kNoValue, graph::kNoValue, b.integers({shape[0], shape[1], height, width})},
      std::move(attrs));
}

Status need_images(const Builder& b) {
  if (b.rank(b.bottom(0)) == 4) return {};
  return fail(Code::unsupported_shape, "its bottom is {}; expected N x C x H x W",
              to_string(b.shape(b.bottom(0))));
}

// Elements of the first bottom to where the mask, the second one, says they came from.
Result<ValueId> unpool(Builder& b, const Ints& window, int64_t height, int64_t width) {
  const ValueId x = b.bottom(0), mask = b.bottom(1);
  if (b.dtype(mask) != DType::i64) {
    return fail(Code::unsupported_feature,
                "its second bottom, the mask, is no second top of a Pooling layer; other masks are "
                "not supported: use upsample_param {{ scale: ... }} without a mask");
  }
  ANYNPU_TRY(b.need_static(x));
  const Shape& shape = b.shape(x);
  return b.add("MaxUnpool", {x, mask, b.integers({shape[0], shape[1], height, width})},
               {{"kernel_shape", window}, {"strides", window}});
}

// The extent after Interp, from its extent without the padding that is cut away.
int64_t interp_extent(Params& params, int64_t extent, const char* fixed) {
  const int64_t shrink = params.integer("shrink_factor", 1, 1);
  const int64_t zoom = params.integer("zoom_factor", 1, 1);
  if (!params.has("shrink_factor") && !params.has("zoom_factor")) return params.integer(fixed, 0);
  const int64_t less = (extent - 1) / shrink + 1;
  return less + (less - 1) * (zoom - 1);
}

}  // namespace

// Bilinear, the corners of both images on each other.
Status interp(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  ANYNPU_TRY(need_images(b));
  Params params(b.layer(), "interp_param");
  const int64_t before = -params.integer("pad_beg", 0, -(1 << 24), 0);
  const int64_t after = -params.integer("pad_end", 0, -(1 << 24), 0);
  ANYNPU_TRY(params.status());
  ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t height, b.extent(x, 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(x, 3));
  const int64_t cut = before + after;
  if (cut >= height || cut >= width) {
    return fail(Code::invalid_argument,
                "pad_beg and pad_end cut {} of {}x{} pixels; expected less than either", cut,
                height, width);
  }
  int64_t to_height = interp_extent(params, height - cut, "height");
  int64_t to_width = interp_extent(params, width - cut, "width");
  ANYNPU_TRY(params.status());
  if (b.bottoms() > 1) {
    ANYNPU_ASSIGN(to_height, b.extent(b.bottom(1), 2));
    ANYNPU_ASSIGN(to_width, b.extent(b.bottom(1), 3));
  }
  if (to_height < 1 || to_width < 1) {
    return fail(Code::invalid_argument,
                "the result would have {}x{} pixels; expected height and width, zoom_factor or "
                "shrink_factor",
                to_height, to_width);
  }
  if (cut > 0) {
    ANYNPU_ASSIGN(
        x, b.add("Slice", {x, b.integers({before, before}),
                           b.integers({height - after, width - after}), b.integers({2, 3})}));
  }
  return b.set_top(0, resize(b, x, to_height, to_width,
                             {{"mode", std::string("linear")},
                              {"coordinate_transformation_mode", std::string("align_corners")}}));
}

// With a mask (from a Pooling of two tops) each element goes back to where it came from; without,
// pixels are repeated. Beside a stride, as in darknet, `scale` is a factor of the values.
Status upsample(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  ANYNPU_TRY(need_images(b));
  Params params(b.layer(), "upsample_param");
  const bool strided = params.has("stride") || params.has("stride_h") || params.has("stride_w");
  const std::string step = strided ? "stride" : "scale";
  const int64_t both = params.integer(step, 2, 1);
  const int64_t scale_h = params.integer(step + "_h", both, 1);
  const int64_t scale_w = params.integer(step + "_w", both, 1);
  const float factor = strided ? params.real("scale", 1.0f) : 1.0f;
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t height, b.extent(x, 2));
  ANYNPU_ASSIGN(const int64_t width, b.extent(x, 3));
  const int64_t to_height =
      params.integer("upsample_h", height * scale_h - int64_t{params.flag("pad_out_h", false)}, 1);
  const int64_t to_width =
      params.integer("upsample_w", width * scale_w - int64_t{params.flag("pad_out_w", false)}, 1);
  ANYNPU_TRY(params.status());
  ValueId y = graph::kNoValue;
  if (b.bottoms() == 1) {
    ANYNPU_ASSIGN(y, resize(b, x, to_height, to_width,
                            {{"mode", std::string("nearest")},
                             {"nearest_mode", std::string("floor")},
                             {"coordinate_transformation_mode", std::string("asymmetric")}}));
  } else {
    ANYNPU_ASSIGN(y, unpool(b, {scale_h, scale_w}, to_height, to_width));
  }
  return b.set_top(0, factor == 1.0f ? Result<ValueId>(y) : b.add("Mul", {y, b.scalar(factor)}));
}

}  // namespace anynpu::caffe
