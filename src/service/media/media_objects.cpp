// SPDX-License-Identifier: Apache-2.0
#include "service/media/media_objects.h"

#include <cmath>

#include "media/interpolation.h"

namespace anynpu::media {

PictureBatch::~PictureBatch() {
  for (Handle picture : pictures) HandleTable::instance().remove<PictureDesc>(picture);
}

Status RegionConfig::set(const Edges& changed) {
  const auto [left, right, top, bottom] = changed;
  if (left > right || top > bottom)
    return fail(Code::invalid_argument,
                "the region goes from {} to {} and from {} to {}; left and top must not lie behind "
                "right and bottom",
                left, right, top, bottom);
  edges = changed;
  return {};
}

Status ResizeConfig::set_interpolation(uint32_t number) {
  ANYNPU_TRY(interpolation_of(number, Version::v1).status());
  interpolation = number;
  return {};
}

Status JpegConfig::set_level(uint32_t changed) {
  if (changed > kJpegLevels)
    return fail(Code::invalid_argument, "the level is {}; expected 0 to {}", changed, kJpegLevels);
  level = changed;
  return {};
}

Status BorderConfig::set_type(int32_t changed) {
  if (changed < 0 || changed > static_cast<int32_t>(pixel::BorderKind::reflect_101))
    return fail(Code::invalid_argument,
                "the border type is {}; expected 0 (constant), 1 (replicate), 2 (reflect) or 3 "
                "(reflect 101)",
                changed);
  type = changed;
  return {};
}

Result<double> BorderConfig::value_at(uint32_t index) const {
  if (index < kValues) return value[index];
  return fail(Code::invalid_argument, "the index is {}; expected 0 to {}", index, kValues - 1);
}

Status BorderConfig::set_value(uint32_t index, double changed) {
  ANYNPU_TRY(value_at(index).status());
  if (!(changed >= 0 && changed <= 255))
    return fail(Code::invalid_argument, "the value is {}; expected 0 to 255", changed);
  value[index] = changed;
  return {};
}

pixel::Border BorderConfig::border() const {
  pixel::Border border;
  border.kind = static_cast<pixel::BorderKind>(type);
  for (uint32_t i = 0; i < kValues; ++i)
    border.value[i] = static_cast<uint8_t>(std::lround(value[i]));
  return border;
}

Status check_component(uint32_t index) {
  if (index < kComponents) return {};
  return fail(Code::invalid_argument, "the dimension is {}; expected 0 to 2", index);
}

Result<Handle> create_batch(uint32_t pictures) {
  if (pictures == 0 || pictures > PictureBatch::kMost)
    return fail(Code::invalid_argument, "the batch has {} pictures; expected 1 to {}", pictures,
                PictureBatch::kMost);
  auto batch = std::make_shared<PictureBatch>();
  for (uint32_t i = 0; i < pictures; ++i) {
    auto picture = std::make_shared<PictureDesc>();
    picture->in_batch = true;
    ANYNPU_ASSIGN(const Handle handle, insert_handle(std::move(picture)));
    batch->pictures.push_back(handle);
  }
  return insert_handle(std::move(batch));
}

Result<Handle> picture_of_batch(Handle batch, uint32_t index) {
  ANYNPU_ASSIGN(auto pin, resolve<PictureBatch>(batch));
  if (index < pin->pictures.size()) return pin->pictures[index];
  return fail(Code::invalid_argument, "the index is {}; the batch has {} pictures", index,
              pin->pictures.size());
}

Result<Handle> create_region(const Edges& edges) {
  auto region = std::make_shared<RegionConfig>();
  ANYNPU_TRY(region->set(edges));
  return insert_handle(std::move(region));
}

Status destroy_picture(Handle picture) {
  {
    ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(picture));
    if (pin->in_batch)
      return fail(Code::invalid_argument,
                  "the picture description belongs to a batch; destroy the batch instead");
  }
  return remove_handle<PictureDesc>(picture);
}

}  // namespace anynpu::media
