// SPDX-License-Identifier: Apache-2.0
// Calls on JPEG and PNG files that programs describe by handles, queued on a stream.
#pragma once

#include "base/handle_table.h"
#include "service/media/image_file.h"

namespace anynpu::media {

// The header information of a file; the chip must have the unit.
Result<JpegInfo> read_jpeg_info(const void* data, uint32_t bytes);
Result<PngInfo> read_png_info(const void* data, uint32_t bytes);
// Bytes that a decoded or encoded file takes.
Result<uint32_t> predict_decoded_bytes(ImageType type, const void* data, uint32_t bytes,
                                       int32_t format);
Result<uint32_t> predict_jpeg_bytes(Handle picture, Handle config);

// The file is read when the stream reaches the task, since an earlier task may write it. The output
// description then has the values that the program left at zero, and the return code.
Status decode_image(ImageType type, Handle channel, const void* data, uint32_t bytes, Handle output,
                    Handle stream);
// `*size` is the room at `data`, and the file's bytes once it is there.
Status encode_jpeg_image(Handle channel, Handle input, const void* data, uint32_t* size,
                         Handle config, Handle stream);

}  // namespace anynpu::media
