// SPDX-License-Identifier: Apache-2.0
// The regions drawn over the pictures of one channel, in layer order. Thread-safe; a channel
// without regions reads one atomic.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

#include "pixel/color.h"

namespace anynpu::media {

struct RegionDrawing {
  uint32_t layer = 0;
  std::function<void(const pixel::Picture& to, const pixel::ColorMatrix& matrix)> draw;
};

class RegionBoard {
 public:
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  // Replaces the drawing of a region.
  void set(uint32_t region, RegionDrawing drawing);
  void remove(uint32_t region);
  void draw(const pixel::Picture& to,
            const pixel::ColorMatrix& matrix = pixel::color_matrix(0)) const;

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, RegionDrawing> drawings_;  // by region
  std::atomic<size_t> count_{0};
};

}  // namespace anynpu::media
