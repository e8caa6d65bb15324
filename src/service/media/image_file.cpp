// SPDX-License-Identifier: Apache-2.0
#include "service/media/image_file.h"

#include "device/memory.h"

namespace anynpu::media {

Result<ImageDescription> describe_image(ImageType type, const void* data, size_t bytes,
                                        int32_t format) {
  ANYNPU_ASSIGN(auto range,
                device::check_host_range(data, bytes, device::Access::read, "the file"));
  const Bytes file(range.address, range.bytes);
  ImageDescription found;
  found.type = type;
  PictureSpec& spec = found.picture;
  spec.format = format;
  if (type == ImageType::jpeg) {
    ANYNPU_ASSIGN(const auto info, jpeg_info(file));
    ANYNPU_TRY(complete_jpeg_output(info, &spec));
    found.sampling = info.sampling;
  } else {
    ANYNPU_ASSIGN(const auto info, png_info(file));
    ANYNPU_TRY(complete_png_output(info, &spec));
    found.color_type = info.color_type;
  }
  spec.bytes = static_cast<uint32_t>(pixel::picture_bytes(*pixel::find_format(spec.format),
                                                          spec.width_stride, spec.height_stride));
  return found;
}

}  // namespace anynpu::media
