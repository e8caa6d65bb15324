// SPDX-License-Identifier: Apache-2.0
// A view of a picture in memory: layout, size, strides, address. Owns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixel/format.h"

namespace anynpu::pixel {

// A region in pixels; right and bottom are exclusive.
struct Rect {
  uint32_t left = 0;
  uint32_t top = 0;
  uint32_t width = 0;
  uint32_t height = 0;
};

// Samples of one plane; a sample has `channels` bytes.
struct Plane {
  uint8_t* data = nullptr;
  size_t stride = 0;  // bytes from row to row
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 1;

  uint8_t* row(uint32_t y) const { return data + y * stride; }
};

struct Picture {
  const Format* format = nullptr;
  uint8_t* data = nullptr;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t width_stride = 0;   // bytes from row to row of the first plane
  uint32_t height_stride = 0;  // rows of the first plane, padding included

  int planes() const;
  Plane plane(int index) const;
  // A view of the region in the same memory. Its edges should be on chroma samples; otherwise the
  // chroma sample that contains them is used.
  std::vector<Plane> planes_of(const Rect& region) const;
  Rect all() const { return {0, 0, width, height}; }
};

// Bytes that a picture takes, from its first to its last row, padding rows included.
size_t picture_bytes(const Format& format, uint32_t width_stride, uint32_t height_stride);

// Fills the area of `whole` right of and below `part`, which is at its top left corner in the same
// memory, with the last column and row of `part`.
void repeat_edges(const Picture& part, const Picture& whole);

// A trace mark ("picture in between", with its bytes), so that tests can count copies.
void note_picture_in_between(size_t bytes);

// A picture that owns its memory, for intermediate steps. Each is recorded in the trace.
class OwnPicture {
 public:
  OwnPicture(const Format& format, uint32_t width, uint32_t height);
  OwnPicture(OwnPicture&&) = default;
  OwnPicture& operator=(OwnPicture&&) = default;
  const Picture& view() const { return picture_; }

 private:
  std::vector<uint8_t> bytes_;
  Picture picture_;
};

}  // namespace anynpu::pixel
