// SPDX-License-Identifier: Apache-2.0
// ImageDecoder: the bytes of an image file to height x width x channels. The size of the image is
// in the bytes, so the output shape is data-dependent. A file that cannot be decoded gives an empty
// image, as the operator's definition says.
#include <cstring>

#include "base/log.h"
#include "ops/families.h"
#include "ops/image_decoder/rgb_codec.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::image_decoder {

namespace {

Result<RgbPicture> decode(const OpContext& context) {
  const auto bytes = context.inputs[0].constant;
  auto picture = decode_picture({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (picture.ok()) return picture;
  if (picture.status().code() != Code::file_invalid) {
    return picture.status().with_note(context.label());
  }
  ANYNPU_LOG(warning, "{} gives an empty picture: {}", context.label(), picture.status().message());
  return RgbPicture{};
}

int64_t channels_of(const OpContext& context) {
  return context.string_attr("pixel_format") == "Grayscale" ? 1 : 3;
}

Status decoder_rule(OpContext& context) {
  const Operand& x = context.inputs[0];
  const std::string order = context.string_attr("pixel_format");
  context.outputs[0].dtype = DType::u8;
  if (order != "RGB" && order != "BGR" && order != "Grayscale") {
    return fail(Code::invalid_argument, "{}: pixel_format is '{}', expected RGB, BGR or Grayscale",
                context.label(), order);
  }
  if (x.has_shape && x.rank() != 1) {
    return fail(Code::shape_mismatch, "{}: the input has the shape {}, expected one dimension",
                context.label(), to_string(x.shape));
  }
  if (!x.is_constant) return {};
  ANYNPU_ASSIGN(const RgbPicture picture, decode(context));
  return set_output(context, 0, DType::u8, {picture.height, picture.width, channels_of(context)});
}

PlanResult plan_decoder(const OpContext& context) {
  ANYNPU_ASSIGN(RgbPicture picture, decode(context));
  std::vector<uint8_t>& pixels = picture.pixels;
  const std::string order = context.string_attr("pixel_format");
  for (size_t i = 0; i < pixels.size() && order == "BGR"; i += 3)
    std::swap(pixels[i], pixels[i + 2]);
  if (order == "Grayscale") {
    constexpr uint32_t kRed = 19595, kGreen = 38470, kBlue = 7471;  // BT.601 in 16 bits
    const size_t count = pixels.size() / 3;
    for (size_t i = 0; i < count; ++i) {
      const uint8_t* from = pixels.data() + 3 * i;
      pixels[i] = static_cast<uint8_t>(
          (from[0] * kRed + from[1] * kGreen + from[2] * kBlue + 0x8000) >> 16);
    }
    pixels.resize(count);
  }
  return make_plan([pixels = std::move(pixels)](const RunArgs& args) {
    if (!pixels.empty()) std::memcpy(args.outputs[0], pixels.data(), pixels.size());
  });
}

}  // namespace

void register_family(Registry& registry) {
  registry.add(OpSchema{.name = "ImageDecoder",
                        .since = 20,
                        .inputs = {{"encoded_stream", "T"}},
                        .outputs = {{"image", "T"}},
                        .types = {{"T", {DType::u8}}},
                        .attrs = {{"pixel_format", AttrKind::s, std::string_view("RGB")}},
                        .traits = OpTraits::general().with(SizedBy::data),
                        .shape = decoder_rule});
  registry.add(KernelDef{.op = "ImageDecoder",
                         .name = "reference",
                         .types = {DType::u8},
                         .create = create_with_runtime_params<plan_decoder, 1>});
}

}  // namespace anynpu::ops::image_decoder
