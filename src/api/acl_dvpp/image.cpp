// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG files (acl.media.dvpp_jpeg_*, dvpp_png_*).
#include "media/image.h"

#include <cstring>

#include "api/acl_dvpp/submit.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::Bytes;
using media::Unit;
using media::Version;

namespace {

constinit device::TaskKind kDecodeJpeg{"jpeg_decode", device::Engine::jpeg};
constinit device::TaskKind kEncodeJpeg{"jpeg_encode", device::Engine::jpeg};
constinit device::TaskKind kDecodePng{"png_decode", device::Engine::jpeg};

Result<device::Range> file_of(const void* data, uint32_t size) {
  ANYNPU_TRY(check_pointer(data, "data"));
  if (size == 0) return fail(Code::invalid_argument, "the size is 0; expected the bytes of a file");
  return device::check_range(data, size, device::Access::read, "data");
}

Bytes bytes_of(const device::Range& range) { return {range.address, range.bytes}; }

// What a decode task needs; the file is read when the stream comes to it, since an earlier task may
// have brought it.
struct Decode {
  device::Range file;
  std::shared_ptr<PictureDesc> output;
  media::PictureSpec spec;  // as described when the call was made
  const pixel::ColorMatrix* matrix;
  std::shared_ptr<void> keep;
};

Status decode_jpeg(Decode& work) {
  ANYNPU_ASSIGN(const auto info, media::jpeg_info(bytes_of(work.file)));
  ANYNPU_TRY(complete_jpeg_output(info, &work.spec));
  ANYNPU_ASSIGN(auto to,
                check_picture(work.spec, media::kJpegdRules, "output", device::Access::write));
  return media::decode_jpeg(bytes_of(work.file), info, to.view, *work.matrix);
}

Status decode_png(Decode& work) {
  ANYNPU_ASSIGN(const auto info, media::png_info(bytes_of(work.file)));
  ANYNPU_TRY(complete_png_output(info, &work.spec));
  ANYNPU_ASSIGN(auto to,
                check_picture(work.spec, media::kPngdRules, "output", device::Access::write));
  return media::decode_png(bytes_of(work.file), to.view);
}

struct DecodeUnit {
  device::TaskKind& kind;
  uint32_t mode;
  Unit unit;
  const media::Rules& rules;
  Status (*run)(Decode&);
};

Status submit_decode(const DecodeUnit& unit, acldvppChannelDesc* channel, const void* data,
                     uint32_t size, acldvppPicDesc* output, aclrtStream stream) {
  ANYNPU_ASSIGN(auto in_use, use_channel(channel, unit.mode, unit.unit, stream));
  ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(to_handle(output)));
  auto work = std::make_shared<Decode>();
  ANYNPU_ASSIGN(work->file, file_of(data, size));
  work->output = pin.share();
  work->spec = *pin;
  work->matrix = in_use.matrix;
  work->keep = std::move(in_use.keep);
  if (work->spec.format != pixel::kUnknown)
    ANYNPU_TRY(check_format(work->spec.format, unit.rules, "output").status());
  ANYNPU_TRY(device::check_range(work->spec.data, std::max(work->spec.bytes, 1u),
                                 device::Access::write, "output")
                 .status());
  return in_use.stream->submit({unit.kind, size}, [work, run = unit.run]() -> Status {
    const Status status = run(*work);
    static_cast<media::PictureSpec&>(*work->output) = work->spec;
    work->output->ret_code = status.ok() ? 0 : 1;
    return status;
  });
}

}  // namespace

aclError acldvppJpegGetImageInfo(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                 int32_t* components) {
  return acldvppJpegGetImageInfoV2(data, size, width, height, components, nullptr);
}

aclError acldvppJpegGetImageInfoV2(const void* data, uint32_t size, uint32_t* width,
                                   uint32_t* height, int32_t* components,
                                   acldvppJpegFormat* format) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(media::check_support(Unit::jpegd, Version::v1));
    ANYNPU_ASSIGN(const auto file, file_of(data, size));
    ANYNPU_ASSIGN(const auto info, media::jpeg_info(bytes_of(file)));
    if (width != nullptr) *width = info.width;
    if (height != nullptr) *height = info.height;
    if (components != nullptr) *components = info.components;
    if (format != nullptr) *format = static_cast<acldvppJpegFormat>(info.sampling);
    return {};
  });
}

aclError acldvppJpegPredictDecSize(const void* data, uint32_t dataSize,
                                   acldvppPixelFormat outputPixelFormat, uint32_t* decSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(decSize, "decSize"));
    ANYNPU_ASSIGN(const auto file, file_of(data, dataSize));
    ANYNPU_ASSIGN(const auto info, media::jpeg_info(bytes_of(file)));
    ANYNPU_ASSIGN(*decSize, media::jpeg_decoded_bytes(info, outputPixelFormat));
    return {};
  });
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                                acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&] {
    return submit_decode(
        {kDecodeJpeg, DVPP_CHNMODE_JPEGD, Unit::jpegd, media::kJpegdRules, decode_jpeg},
        channelDesc, data, size, outputDesc, stream);
  });
}

aclError acldvppPngGetImageInfo(const void* data, uint32_t dataSize, uint32_t* width,
                                uint32_t* height, int32_t* components) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(media::check_support(Unit::pngd, Version::v1));
    ANYNPU_ASSIGN(const auto file, file_of(data, dataSize));
    ANYNPU_ASSIGN(const auto info, media::png_info(bytes_of(file)));
    if (width != nullptr) *width = info.width;
    if (height != nullptr) *height = info.height;
    if (components != nullptr) *components = info.components;
    return {};
  });
}

aclError acldvppPngPredictDecSize(const void* data, uint32_t dataSize,
                                  acldvppPixelFormat outputPixelFormat, uint32_t* decSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(decSize, "decSize"));
    ANYNPU_ASSIGN(const auto file, file_of(data, dataSize));
    ANYNPU_ASSIGN(const auto info, media::png_info(bytes_of(file)));
    ANYNPU_ASSIGN(*decSize, media::png_decoded_bytes(info, outputPixelFormat));
    return {};
  });
}

aclError acldvppPngDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                               acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&] {
    return submit_decode({kDecodePng, DVPP_CHNMODE_PNGD, Unit::pngd, media::kPngdRules, decode_png},
                         channelDesc, data, size, outputDesc, stream);
  });
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc* inputDesc,
                                   const acldvppJpegeConfig* config, uint32_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_ASSIGN(const auto from, picture_of(inputDesc));
    ANYNPU_TRY(resolve<JpegConfig>(to_handle(config)).status());
    ANYNPU_ASSIGN(*size, media::jpeg_encoded_bytes(from));
    return {};
  });
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                const void* data, uint32_t* size, acldvppJpegeConfig* config,
                                aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto in_use, use_channel(channelDesc, DVPP_CHNMODE_JPEGE, Unit::jpege, stream));
    ANYNPU_ASSIGN(const auto spec, picture_of(inputDesc));
    ANYNPU_ASSIGN(auto settings, resolve<JpegConfig>(to_handle(config)));
    ANYNPU_ASSIGN(auto from,
                  check_picture(spec, media::kJpegeRules, "input", device::Access::read));
    ANYNPU_ASSIGN(auto length,
                  device::check_range(size, sizeof(uint32_t), device::Access::write, "size"));
    uint32_t room = 0;
    std::memcpy(&room, length.address, sizeof room);
    if (room == 0)
      return fail(Code::invalid_argument, "*size is 0; expected the bytes of the output");
    ANYNPU_ASSIGN(auto to, device::check_range(data, room, device::Access::write, "data"));
    struct Work {
      media::CheckedPicture from;
      device::Range to, length;
      uint32_t level;
      std::shared_ptr<void> keep;
    };
    auto work = std::make_shared<Work>(
        Work{std::move(from), std::move(to), std::move(length), settings->level, in_use.keep});
    return in_use.stream->submit({kEncodeJpeg, room}, [work]() -> Status {
      ANYNPU_ASSIGN(const size_t bytes, media::encode_jpeg(work->from.view, work->level, {},
                                                           {work->to.address, work->to.bytes}));
      const auto written = static_cast<uint32_t>(bytes);
      std::memcpy(work->length.address, &written, sizeof written);
      return {};
    });
  });
}
