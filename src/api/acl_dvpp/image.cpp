// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG files (acl.media.dvpp_jpeg_*, dvpp_png_*).
#include "api/acl_dvpp/objects.h"
#include "service/media/image_calls.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::ImageType;

aclError acldvppJpegGetImageInfo(const void* data, uint32_t size, uint32_t* width, uint32_t* height,
                                 int32_t* components) {
  return acldvppJpegGetImageInfoV2(data, size, width, height, components, nullptr);
}

aclError acldvppJpegGetImageInfoV2(const void* data, uint32_t size, uint32_t* width,
                                   uint32_t* height, int32_t* components,
                                   acldvppJpegFormat* format) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto info, media::read_jpeg_info(data, size));
    give_if(width, info.width), give_if(height, info.height);
    give_if(components, info.components), give_if(format, info.sampling);
    return {};
  });
}

aclError acldvppJpegPredictDecSize(const void* data, uint32_t dataSize,
                                   acldvppPixelFormat outputPixelFormat, uint32_t* decSize) {
  return give_value(__func__, decSize, "decSize", [&] {
    return media::predict_decoded_bytes(ImageType::jpeg, data, dataSize, outputPixelFormat);
  });
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                                acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::decode_image(ImageType::jpeg, to_handle(channelDesc), data, size,
                               to_handle(outputDesc), to_handle(stream));
  });
}

aclError acldvppPngGetImageInfo(const void* data, uint32_t dataSize, uint32_t* width,
                                uint32_t* height, int32_t* components) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto info, media::read_png_info(data, dataSize));
    give_if(width, info.width), give_if(height, info.height);
    give_if(components, info.components);
    return {};
  });
}

aclError acldvppPngPredictDecSize(const void* data, uint32_t dataSize,
                                  acldvppPixelFormat outputPixelFormat, uint32_t* decSize) {
  return give_value(__func__, decSize, "decSize", [&] {
    return media::predict_decoded_bytes(ImageType::png, data, dataSize, outputPixelFormat);
  });
}

aclError acldvppPngDecodeAsync(acldvppChannelDesc* channelDesc, const void* data, uint32_t size,
                               acldvppPicDesc* outputDesc, aclrtStream stream) {
  return enter(__func__, [&] {
    return media::decode_image(ImageType::png, to_handle(channelDesc), data, size,
                               to_handle(outputDesc), to_handle(stream));
  });
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc* inputDesc,
                                   const acldvppJpegeConfig* config, uint32_t* size) {
  return give_value(__func__, size, "size", [&] {
    return media::predict_jpeg_bytes(to_handle(inputDesc), to_handle(config));
  });
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                const void* data, uint32_t* size, acldvppJpegeConfig* config,
                                aclrtStream stream) {
  return enter(__func__, [&] {
    return media::encode_jpeg_image(to_handle(channelDesc), to_handle(inputDesc), data, size,
                                    to_handle(config), to_handle(stream));
  });
}
