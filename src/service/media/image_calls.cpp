// SPDX-License-Identifier: Apache-2.0
#include "service/media/image_calls.h"

#include <algorithm>
#include <cstring>

#include "service/media/picture_calls.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kDecodeJpegFile{"jpeg_decode", device::Engine::jpeg};
constinit device::TaskKind kDecodePngFile{"png_decode", device::Engine::jpeg};
constinit device::TaskKind kEncodeJpegFile{"jpeg_encode", device::Engine::jpeg};

Result<device::Range> check_file(const void* data, uint32_t bytes) {
  if (data == nullptr)
    return fail(Code::invalid_argument, "data is null; expected the address of a variable or text");
  if (bytes == 0)
    return fail(Code::invalid_argument, "the size is 0; expected the bytes of a file");
  return device::check_host_range(data, bytes, device::Access::read, "data");
}

Bytes bytes_in(const device::Range& range) { return {range.address, range.bytes}; }

// What a decode task needs.
struct DecodeWork {
  device::Range file;
  std::shared_ptr<PictureDesc> output;
  PictureSpec spec;  // as described when the call was made
  const pixel::ColorMatrix* matrix;
  std::shared_ptr<void> keep;
};

Status run_jpeg_decode(DecodeWork& work) {
  ANYNPU_ASSIGN(const auto info, jpeg_info(bytes_in(work.file)));
  ANYNPU_TRY(complete_jpeg_output(info, &work.spec));
  ANYNPU_ASSIGN(auto to, check_picture(work.spec, kJpegdRules, "output", device::Access::write));
  return decode_jpeg(bytes_in(work.file), info, to.view, *work.matrix);
}

Status run_png_decode(DecodeWork& work) {
  ANYNPU_ASSIGN(const auto info, png_info(bytes_in(work.file)));
  ANYNPU_TRY(complete_png_output(info, &work.spec));
  ANYNPU_ASSIGN(auto to, check_picture(work.spec, kPngdRules, "output", device::Access::write));
  return decode_png(bytes_in(work.file), to.view);
}

struct ImageDecoder {
  device::TaskKind& kind;
  uint32_t mode;
  Unit unit;
  const Rules& rules;
  Status (*run)(DecodeWork&);
};
const ImageDecoder kJpegDecoder{kDecodeJpegFile, kModeJpegd, Unit::jpegd, kJpegdRules,
                                run_jpeg_decode};
const ImageDecoder kPngDecoder{kDecodePngFile, kModePngd, Unit::pngd, kPngdRules, run_png_decode};

}  // namespace

Result<JpegInfo> read_jpeg_info(const void* data, uint32_t bytes) {
  ANYNPU_TRY(check_support(Unit::jpegd, Version::v1));
  ANYNPU_ASSIGN(const auto file, check_file(data, bytes));
  return jpeg_info(bytes_in(file));
}

Result<PngInfo> read_png_info(const void* data, uint32_t bytes) {
  ANYNPU_TRY(check_support(Unit::pngd, Version::v1));
  ANYNPU_ASSIGN(const auto file, check_file(data, bytes));
  return png_info(bytes_in(file));
}

Result<uint32_t> predict_decoded_bytes(ImageType type, const void* data, uint32_t bytes,
                                       int32_t format) {
  ANYNPU_ASSIGN(const auto file, check_file(data, bytes));
  if (type == ImageType::jpeg) {
    ANYNPU_ASSIGN(const auto info, jpeg_info(bytes_in(file)));
    return jpeg_decoded_bytes(info, format);
  }
  ANYNPU_ASSIGN(const auto info, png_info(bytes_in(file)));
  return png_decoded_bytes(info, format);
}

Result<uint32_t> predict_jpeg_bytes(Handle picture, Handle config) {
  ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(picture));
  ANYNPU_TRY(resolve<JpegConfig>(config).status());
  return jpeg_encoded_bytes(*pin);
}

Status decode_image(ImageType type, Handle channel, const void* data, uint32_t bytes, Handle output,
                    Handle stream) {
  const ImageDecoder& unit = type == ImageType::jpeg ? kJpegDecoder : kPngDecoder;
  ANYNPU_ASSIGN(auto use, use_channel(channel, unit.mode, unit.unit, stream));
  ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(output));
  auto work = std::make_shared<DecodeWork>();
  ANYNPU_ASSIGN(work->file, check_file(data, bytes));
  work->output = pin.share();
  work->spec = *pin;
  work->matrix = use.matrix;
  work->keep = std::move(use.keep);
  if (work->spec.format != pixel::kUnknown)
    ANYNPU_TRY(check_format(work->spec.format, unit.rules, "output").status());
  ANYNPU_TRY(device::check_host_range(work->spec.data, std::max(work->spec.bytes, 1u),
                                      device::Access::write, "output")
                 .status());
  return use.stream->submit({unit.kind, bytes}, [work, run = unit.run]() -> Status {
    const Status status = run(*work);
    static_cast<PictureSpec&>(*work->output) = work->spec;
    work->output->ret_code = status.ok() ? 0 : 1;
    return status;
  });
}

Status encode_jpeg_image(Handle channel, Handle input, const void* data, uint32_t* size,
                         Handle config, Handle stream) {
  ANYNPU_ASSIGN(auto use, use_channel(channel, kModeJpege, Unit::jpege, stream));
  ANYNPU_ASSIGN(auto picture, resolve<PictureDesc>(input));
  ANYNPU_ASSIGN(auto settings, resolve<JpegConfig>(config));
  ANYNPU_ASSIGN(auto from, check_picture(*picture, kJpegeRules, "input", device::Access::read));
  ANYNPU_ASSIGN(auto length,
                device::check_host_range(size, sizeof(uint32_t), device::Access::write, "size"));
  uint32_t room = 0;
  std::memcpy(&room, length.address, sizeof room);
  if (room == 0)
    return fail(Code::invalid_argument, "*size is 0; expected the bytes of the output");
  ANYNPU_ASSIGN(auto to, device::check_host_range(data, room, device::Access::write, "data"));
  struct EncodeWork {
    CheckedPicture from;
    device::Range to, length;
    uint32_t level;
    std::shared_ptr<void> keep;
  };
  auto work = std::make_shared<EncodeWork>(
      EncodeWork{std::move(from), std::move(to), std::move(length), settings->level, use.keep});
  return use.stream->submit({kEncodeJpegFile, room}, [work]() -> Status {
    ANYNPU_ASSIGN(const size_t bytes, encode_jpeg(work->from.view, work->level, {},
                                                  {work->to.address, work->to.bytes}));
    const auto written = static_cast<uint32_t>(bytes);
    std::memcpy(work->length.address, &written, sizeof written);
    return {};
  });
}

}  // namespace anynpu::media
