// SPDX-License-Identifier: Apache-2.0
#include "pixel/transform.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace anynpu::pixel {
namespace {

// The region of a picture as a picture of its own, where memory allows it: planes keep their
// places, so the view is only valid through planes_of(); conversion needs a real one.
bool covers_all(const Picture& picture, const Rect& r) {
  return r.left == 0 && r.top == 0 && r.width == picture.width && r.height == picture.height;
}

// The layout in which a picture is scaled: packed 4:2:2 cannot be scaled in place.
const Format& scaled_in(const Format& format) {
  return format.packing == Packing::packed_422 ? *find_format(kYuv422sp) : format;
}

void scale(const Picture& from, const Rect& crop, const Picture& to, const Rect& paste,
           Interpolation how) {
  const auto source = from.planes_of(crop);
  const auto target = to.planes_of(paste);
  for (size_t i = 0; i < source.size(); ++i) resize_plane(source[i], target[i], how);
}

// A copy of a region, as a separate picture.
OwnPicture cut_out(const Picture& from, const Rect& region) {
  OwnPicture out(*from.format, region.width, region.height);
  const auto source = from.planes_of(region);
  for (size_t i = 0; i < source.size(); ++i) {
    Plane target = out.view().plane(static_cast<int>(i));
    // An odd edge may touch one chroma sample more than the picture of its own has.
    target.width = std::min(target.width, source[i].width);
    target.height = std::min(target.height, source[i].height);
    for (uint32_t y = 0; y < target.height; ++y)
      std::memcpy(target.row(y), source[i].row(y), size_t{target.width} * target.channels);
  }
  return out;
}

void paste_in(const Picture& from, const Picture& to, const Rect& paste) {
  scale(from, from.all(), to, paste, Interpolation::nearest);
}

}  // namespace

void transform(const Transform& t) {
  const bool same_layout = t.from.format == t.to.format;
  const bool same_size = t.crop.width == t.paste.width && t.crop.height == t.paste.height;
  const Format& layout = scaled_in(*t.from.format);
  if (same_layout && (same_size || &layout == t.from.format))
    return scale(t.from, t.crop, t.to, t.paste, t.interpolation);

  // From here on intermediate steps need their own memory.
  const Picture* source = &t.from;
  std::optional<OwnPicture> cropped, unpacked, scaled;
  if (!covers_all(t.from, t.crop) && (same_size || &layout != t.from.format)) {
    cropped.emplace(cut_out(t.from, t.crop));
    source = &cropped->view();
  }
  if (!same_size && &layout != t.from.format) {
    unpacked.emplace(layout, t.crop.width, t.crop.height);
    convert(*source, unpacked->view(), *t.matrix);
    source = &unpacked->view();
  }
  if (!same_size) {
    scaled.emplace(layout, t.paste.width, t.paste.height);
    const Rect region = source == &t.from ? t.crop : source->all();
    scale(*source, region, scaled->view(), scaled->view().all(), t.interpolation);
    source = &scaled->view();
  }
  if (covers_all(t.to, t.paste)) return convert(*source, t.to, *t.matrix, t.alpha);
  OwnPicture converted(*t.to.format, t.paste.width, t.paste.height);
  convert(*source, converted.view(), *t.matrix, t.alpha);
  paste_in(converted.view(), t.to, t.paste);
}

}  // namespace anynpu::pixel
