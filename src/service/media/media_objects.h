// SPDX-License-Identifier: Apache-2.0
// Objects behind handles with which programs describe their calls: pictures, packets, regions,
// settings. Plain data, read and written by one thread at a time; calls copy what they need.
#pragma once

#include <memory>
#include <vector>

#include "base/handle_table.h"
#include "media/image.h"
#include "media/rules.h"
#include "pixel/transform.h"

namespace anynpu::media {

struct PictureDesc : PictureSpec {
  uint32_t ret_code = 0;
  bool in_batch = false;
};

// The pictures belong to the batch and end with it.
struct PictureBatch {
  static constexpr uint32_t kMost = 256;
  std::vector<Handle> pictures;
  ~PictureBatch();
};

struct PacketDesc {
  void* data = nullptr;
  uint32_t bytes = 0;
  int32_t format = 2;
  uint64_t timestamp = 0;
  uint32_t ret_code = 0;
  uint8_t eos = 0;
};

struct RegionConfig {
  Edges edges;
  // Refuses edges in the wrong order.
  Status set(const Edges& changed);
};

struct ResizeConfig {
  uint32_t interpolation = 0;
  Status set_interpolation(uint32_t number);
};

struct JpegConfig {
  uint32_t level = kJpegLevels;
  Status set_level(uint32_t changed);
};

struct BorderConfig {
  static constexpr uint32_t kValues = 4;
  int32_t type = 0;  // a pixel::BorderKind other than wrap
  double value[kValues] = {};
  uint32_t top = 0, bottom = 0, left = 0, right = 0;
  Status set_type(int32_t changed);
  Status set_value(uint32_t index, double changed);
  Result<double> value_at(uint32_t index) const;
  pixel::Border border() const;
};

inline constexpr uint32_t kComponents = 3;  // of tables and histograms
Status check_component(uint32_t index);

struct LookupTable {
  pixel::Lookup table;
};
struct HistogramObject {
  pixel::Histogram values;
  uint32_t ret_code = 0;
};

// The handle of a new object; fails when no handle is free.
template <typename T>
Result<Handle> insert_handle(std::shared_ptr<T> object) {
  const Handle handle = HandleTable::instance().insert(std::move(object));
  if (handle) return handle;
  return fail(Code::limit_exceeded, "no handle is free; destroy objects that are no longer used");
}

// Removes a handle; the error says why it is not valid.
template <typename T>
Status remove_handle(Handle handle) {
  if (HandleTable::instance().remove<T>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleType<T>::tag);
}

Result<Handle> create_batch(uint32_t pictures);
Result<Handle> picture_of_batch(Handle batch, uint32_t index);
Result<Handle> create_region(const Edges& edges);
// Refused for pictures of a batch.
Status destroy_picture(Handle picture);

}  // namespace anynpu::media

namespace anynpu {
ANYNPU_HANDLE_TYPE(media::PictureDesc, picture_desc);
ANYNPU_HANDLE_TYPE(media::PictureBatch, picture_batch);
ANYNPU_HANDLE_TYPE(media::PacketDesc, packet_desc);
ANYNPU_HANDLE_TYPE(media::RegionConfig, region);
ANYNPU_HANDLE_TYPE(media::ResizeConfig, resize_config);
ANYNPU_HANDLE_TYPE(media::JpegConfig, jpeg_config);
ANYNPU_HANDLE_TYPE(media::BorderConfig, border_config);
ANYNPU_HANDLE_TYPE(media::LookupTable, lookup_table);
ANYNPU_HANDLE_TYPE(media::HistogramObject, histogram);
}  // namespace anynpu
