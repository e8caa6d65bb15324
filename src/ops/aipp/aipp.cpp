// SPDX-License-Identifier: Apache-2.0
// Aipp (domain anynpu): byte images to the model's input. Inputs: the images, one after
// the other, and the parameters (params.h); attribute `shape` is N, C, H, W of the output, `to` its
// type. Order: swaps, crop, scaling, colour conversion, mean/min/variance, padding. Parameters are
// read when it runs, because dynamic AIPP gives them per execution.
#include <algorithm>
#include <cstring>

#include "ops/aipp/params.h"
#include "ops/families.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

struct Pixel {
  int c[4] = {};  // Y, U, V or R, G, B; with four channels the extra one stands first
};

// One picture and how to read it.
class Picture {
 public:
  Picture(const AippHeader& header, const uint8_t* data)
      : header_(header),
        format_(static_cast<AippFormat>(header.format)),
        data_(data),
        width_(header.source_w),
        height_(header.source_h) {}

  Pixel at(int64_t x, int64_t y) const {
    Pixel p;
    const int64_t i = y * width_ + x;
    const int64_t even = x & ~int64_t{1};
    switch (format_) {
      case AippFormat::yuv420sp: {
        const uint8_t* uv = data_ + width_ * height_ + y / 2 * width_ + even;
        p = {{data_[i], uv[0], uv[1], 0}};
        break;
      }
      case AippFormat::yuv422sp: {
        const uint8_t* uv = data_ + width_ * height_ + y * width_ + even;
        p = {{data_[i], uv[0], uv[1], 0}};
        break;
      }
      case AippFormat::yuyv: {
        const uint8_t* pair = data_ + (y * width_ + even) * 2;
        p = {{pair[(x & 1) * 2], pair[1], pair[3], 0}};
        break;
      }
      case AippFormat::yuv400:
        p = {{data_[i], 0, 0, 0}};
        break;
      case AippFormat::rgb888:
        p = {{data_[i * 3], data_[i * 3 + 1], data_[i * 3 + 2], 0}};
        break;
      default: {
        const uint8_t* q = data_ + i * 4;
        // The swap turns RGBA (YUVA) in memory into ARGB (AYUV), which is what the formats mean.
        p = header_.ax_swap ? Pixel{{q[3], q[0], q[1], q[2]}} : Pixel{{q[0], q[1], q[2], q[3]}};
        if (header_.rbuv_swap) std::swap(p.c[is_yuv(format_) ? 2 : 1], p.c[3]);
        return p;
      }
    }
    if (header_.rbuv_swap) std::swap(p.c[is_yuv(format_) ? 1 : 0], p.c[2]);
    return p;
  }

  // Bilinear, with the centres of pixels as sample points.
  Pixel between(float x, float y, const AippBatch& batch, int64_t w, int64_t h) const {
    const int64_t left = batch.crop ? batch.crop_x : 0, top = batch.crop ? batch.crop_y : 0;
    const float fx = std::clamp(x, 0.0f, static_cast<float>(w - 1));
    const float fy = std::clamp(y, 0.0f, static_cast<float>(h - 1));
    const auto x0 = static_cast<int64_t>(fx), y0 = static_cast<int64_t>(fy);
    const int64_t x1 = std::min(x0 + 1, w - 1), y1 = std::min(y0 + 1, h - 1);
    const float ax = fx - static_cast<float>(x0), ay = fy - static_cast<float>(y0);
    const Pixel a = at(left + x0, top + y0), b = at(left + x1, top + y0);
    const Pixel c = at(left + x0, top + y1), d = at(left + x1, top + y1);
    Pixel mixed;
    for (int k = 0; k < 4; ++k) {
      const auto up = static_cast<float>(a.c[k]) * (1 - ax) + static_cast<float>(b.c[k]) * ax;
      const auto low = static_cast<float>(c.c[k]) * (1 - ax) + static_cast<float>(d.c[k]) * ax;
      mixed.c[k] = static_cast<int>(up * (1 - ay) + low * ay + 0.5f);
    }
    return mixed;
  }

 private:
  const AippHeader& header_;
  AippFormat format_;
  const uint8_t* data_;
  int64_t width_, height_;
};

int saturate(int value) { return std::clamp(value, 0, 255); }

void convert_colour(const AippHeader& header, int* c) {
  const bool yuv = is_yuv(static_cast<AippFormat>(header.format));
  int in[3], out[3];
  for (int k = 0; k < 3; ++k) in[k] = c[k] - (yuv ? header.input_bias[k] : 0);
  for (int k = 0; k < 3; ++k) {
    const int16_t* row = header.matrix + k * 3;
    out[k] = (row[0] * in[0] + row[1] * in[1] + row[2] * in[2]) >> 8;
    if (!yuv) out[k] += header.output_bias[k];
  }
  for (int k = 0; k < 3; ++k) c[k] = saturate(out[k]);
}

inline void store(float value, float& out) { out = value; }
inline void store(float value, F16& out) { out = to_f16(value); }
inline void store(float value, uint8_t& out) {
  out = static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f));
}

struct Sizes {
  int64_t n, c, h, w;
};

template <typename T>
void convert_rows(const AippHeader& header, const AippBatch& batch, const Picture& picture,
                  const Sizes& out, T* target, int64_t first, int64_t last) {
  constexpr bool raw = std::is_same_v<T, uint8_t>;  // bytes to bytes: no mean, min, variance
  const auto format = static_cast<AippFormat>(header.format);
  const int64_t crop_x = batch.crop ? batch.crop_x : 0, crop_y = batch.crop ? batch.crop_y : 0;
  const int64_t left = batch.padding ? batch.pad_left : 0, top = batch.padding ? batch.pad_top : 0;
  const int64_t right = batch.padding ? batch.pad_right : 0;
  const int64_t bottom = batch.padding ? batch.pad_bottom : 0;
  const float ratio_x =
      batch.scale ? static_cast<float>(batch.scale_in_w) / static_cast<float>(batch.scale_out_w)
                  : 1;
  const float ratio_y =
      batch.scale ? static_cast<float>(batch.scale_in_h) / static_cast<float>(batch.scale_out_h)
                  : 1;
  float subtract[4], multiply[4];
  for (size_t k = 0; k < 4; ++k) {
    subtract[k] = raw ? 0 : static_cast<float>(batch.mean[k]) + batch.min_of(k);
    multiply[k] = raw ? 1 : batch.variance_of(k);
  }
  const bool four = channels_of(format) == 4;
  const int skip = four && out.c < 4 ? 1 : 0;  // the extra channel is left out
  for (int64_t y = first; y < last; ++y) {
    for (int64_t x = 0; x < out.w; ++x) {
      T* pixel = target + y * out.w + x;
      if (y < top || x < left || y >= out.h - bottom || x >= out.w - right) {
        for (int64_t k = 0; k < out.c; ++k) store(header.padding_value, pixel[k * out.h * out.w]);
        continue;
      }
      Pixel p;
      if (batch.scale) {
        p = picture.between((static_cast<float>(x - left) + 0.5f) * ratio_x - 0.5f,
                            (static_cast<float>(y - top) + 0.5f) * ratio_y - 0.5f, batch,
                            batch.scale_in_w, batch.scale_in_h);
      } else {
        p = picture.at(crop_x + x - left, crop_y + y - top);
      }
      if (header.csc) convert_colour(header, p.c + (four ? 1 : 0));
      for (int64_t k = 0; k < out.c; ++k) {
        const auto value = static_cast<float>(p.c[k + skip]);
        store((value - subtract[k]) * multiply[k], pixel[k * out.h * out.w]);
      }
    }
  }
}

class AippPlan final : public KernelPlan {
 public:
  AippPlan(Sizes out, DType dtype, size_t image_bytes, size_t batches)
      : out_(out), dtype_(dtype), image_bytes_(image_bytes), batches_(batches) {}

  Status run(const RunArgs& args) const override {
    AippHeader header;
    std::memcpy(&header, args.inputs[1], sizeof header);
    const auto format = static_cast<AippFormat>(header.format);
    const int64_t bytes = picture_bytes(format, header.source_w, header.source_h);
    for (int64_t n = 0; n < out_.n; ++n) {
      AippBatch batch;
      const size_t which = std::min(static_cast<size_t>(n), batches_ - 1);
      std::memcpy(&batch, args.inputs[1] + aipp_bytes(which), sizeof batch);
      ANYNPU_TRY(check_aipp(header, batch, out_.c, out_.h, out_.w), "picture {} of the batch", n);
      if (static_cast<size_t>((n + 1) * bytes) > image_bytes_) {
        return fail(Code::invalid_config,
                    "AIPP: {} pictures of {} bytes are needed, the input holds {} bytes; raise "
                    "max_src_image_size or make the pictures smaller",
                    out_.n, bytes, image_bytes_);
      }
      const Picture picture(header, reinterpret_cast<const uint8_t*>(args.inputs[0]) + n * bytes);
      const int64_t start = n * out_.c * out_.h * out_.w;
      if (dtype_ == DType::f32) rows(header, batch, picture, output_of<float>(args, 0) + start);
      if (dtype_ == DType::f16) rows(header, batch, picture, output_of<F16>(args, 0) + start);
      if (dtype_ == DType::u8) rows(header, batch, picture, output_of<uint8_t>(args, 0) + start);
    }
    return {};
  }

 private:
  template <typename T>
  void rows(const AippHeader& header, const AippBatch& batch, const Picture& picture,
            T* target) const {
    parallel(static_cast<size_t>(out_.h), 16, [&](size_t begin, size_t end) {
      convert_rows(header, batch, picture, out_, target, static_cast<int64_t>(begin),
                   static_cast<int64_t>(end));
    });
  }

  Sizes out_;
  DType dtype_;
  size_t image_bytes_, batches_;
};

Status aipp_rule(OpContext& context) {
  const Shape shape = context.ints_attr("shape");
  const auto type = static_cast<DType>(context.int_attr("to"));
  if (shape.size() != 4 || !is_static(shape) ||
      (type != DType::f32 && type != DType::f16 && type != DType::u8)) {
    return fail(Code::invalid_argument,
                "{}: the output is {} of {}; expected N, C, H, W of "
                "float32, float16 or uint8",
                context.label(), to_string(shape), name_of(type));
  }
  ANYNPU_TRY(check_shape(shape));
  context.outputs[0].dtype = type;
  context.outputs[0].shape = shape;
  context.outputs[0].has_shape = true;
  return {};
}

PlanResult plan_aipp(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  const auto bytes = static_cast<size_t>(element_count(context.inputs[1].shape));
  if (bytes < aipp_bytes(1)) {
    return fail(Code::invalid_argument, "{}: the parameters have {} bytes, expected {} or more",
                context.label(), bytes, aipp_bytes(1));
  }
  return std::unique_ptr<KernelPlan>(
      std::make_unique<AippPlan>(Sizes{out[0], out[1], out[2], out[3]}, context.outputs[0].dtype,
                                 static_cast<size_t>(element_count(context.inputs[0].shape)),
                                 (bytes - sizeof(AippHeader)) / sizeof(AippBatch)));
}

}  // namespace

void register_aipp(Registry& registry) {
  registry.add(OpSchema{.name = "Aipp",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"image", "T"}, {"parameters", "T"}},
                        .outputs = {{"picture", "U"}},
                        .types = {{"T", {DType::u8}}, {"U", {DType::f32, DType::f16, DType::u8}}},
                        .attrs = {{"shape", AttrKind::ints}, {"to", AttrKind::i, int64_t{0}}},
                        .traits = OpTraits::general(),
                        .shape = aipp_rule});
  registry.add(KernelDef{.op = "Aipp",
                         .name = "aipp_reference",
                         .domain = "anynpu",
                         .types = {DType::u8},
                         .create = create_plain<plan_aipp>});
}

}  // namespace anynpu::ops
