// SPDX-License-Identifier: Apache-2.0
// Histograms and tables of values.
#include "pixel/transform.h"

namespace anynpu::pixel {
namespace {

// Which component channel c of plane `plane` holds; -1 for alpha.
int component_of(const Format& f, int plane, uint32_t c) {
  if (f.packing == Packing::planar) {
    for (int i = 0; i < 3; ++i)
      if (f.at[i] == plane) return i;
  }
  if (f.packing == Packing::semiplanar) return plane == 0 ? 0 : f.at[1] == c ? 1 : 2;
  if (f.packing == Packing::packed_422) return c % 2 == f.at[0] % 2u ? 0 : f.at[1] == c ? 1 : 2;
  for (int i = 0; i < 3; ++i)
    if (f.at[i] == c) return i;
  return -1;
}

}  // namespace

int components(const Format& format) { return format.family == Family::grey ? 1 : 3; }

void count_values(const Picture& from, Histogram* histogram) {
  for (int i = 0; i < from.planes(); ++i) {
    const Plane plane = from.plane(i);
    for (uint32_t c = 0; c < plane.channels; ++c) {
      const int component = component_of(*from.format, i, c);
      if (component < 0) continue;
      uint32_t* count = histogram->count[component];
      for (uint32_t y = 0; y < plane.height; ++y) {
        const uint8_t* row = plane.row(y) + c;
        for (uint32_t x = 0; x < plane.width; ++x) ++count[row[size_t{x} * plane.channels]];
      }
    }
  }
}

void look_up(const Picture& from, const Picture& to, const Lookup& table) {
  for (int i = 0; i < from.planes(); ++i) {
    const Plane source = from.plane(i);
    const Plane target = to.plane(i);
    for (uint32_t c = 0; c < source.channels; ++c) {
      const int component = component_of(*from.format, i, c);
      for (uint32_t y = 0; y < source.height; ++y) {
        for (uint32_t x = 0; x < source.width; ++x) {
          const size_t at = size_t{x} * source.channels + c;
          const uint8_t value = source.row(y)[at];
          target.row(y)[at] = component < 0 ? value : table.value[component][value];
        }
      }
    }
  }
}

}  // namespace anynpu::pixel
