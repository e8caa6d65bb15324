// SPDX-License-Identifier: Apache-2.0
#include "service/media/region_board.h"

#include <algorithm>
#include <vector>

namespace anynpu::media {

void RegionBoard::set(uint32_t region, RegionDrawing drawing) {
  const std::lock_guard lock(mutex_);
  drawings_[region] = std::move(drawing);
  count_ = drawings_.size();
}

void RegionBoard::remove(uint32_t region) {
  const std::lock_guard lock(mutex_);
  drawings_.erase(region);
  count_ = drawings_.size();
}

void RegionBoard::draw(const pixel::Picture& to, const pixel::ColorMatrix& matrix) const {
  std::vector<RegionDrawing> drawings;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [region, drawing] : drawings_) drawings.push_back(drawing);
  }
  std::stable_sort(
      drawings.begin(), drawings.end(),
      [](const RegionDrawing& a, const RegionDrawing& b) { return a.layer < b.layer; });
  for (const RegionDrawing& drawing : drawings) drawing.draw(to, matrix);
}

}  // namespace anynpu::media
