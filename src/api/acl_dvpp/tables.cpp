// SPDX-License-Identifier: Apache-2.0
// Tables of values and histograms.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::HistogramObject;
using media::LookupTable;

namespace {

template <typename T>
uint32_t dimensions_of(const char* function, const void* handle) {
  return enter_value(function, uint32_t{0}, [&]() -> Result<uint32_t> {
    ANYNPU_TRY(resolve<T>(to_handle(handle)).status());
    return media::kComponents;
  });
}

// The 256 values of one component.
template <typename Value, typename Length>
Status give_values(Value (&values)[media::kComponents][256], uint32_t dim, Value** data,
                   Length* len) {
  ANYNPU_TRY(media::check_component(dim));
  ANYNPU_TRY(check_pointer(data, "data"));
  ANYNPU_TRY(check_pointer(len, "len"));
  *data = values[dim];
  *len = 256;
  return {};
}

}  // namespace

acldvppLutMap* acldvppCreateLutMap(void) { return create<acldvppLutMap*, LookupTable>(__func__); }

aclError acldvppDestroyLutMap(acldvppLutMap* lutMap) {
  return destroy<LookupTable>(__func__, lutMap);
}

uint32_t acldvppGetLutMapDims(const acldvppLutMap* lutMap) {
  return dimensions_of<LookupTable>(__func__, lutMap);
}

aclError acldvppGetLutMapData(const acldvppLutMap* lutMap, uint32_t dim, uint8_t** data,
                              uint32_t* len) {
  return on_object<LookupTable>(__func__, lutMap, [&](LookupTable& lookup) {
    return give_values(lookup.table.value, dim, data, len);
  });
}

acldvppHist* acldvppCreateHist(void) { return create<acldvppHist*, HistogramObject>(__func__); }

aclError acldvppDestroyHist(acldvppHist* hist) { return destroy<HistogramObject>(__func__, hist); }

uint32_t acldvppGetHistDims(acldvppHist* hist) {
  return dimensions_of<HistogramObject>(__func__, hist);
}

aclError acldvppGetHistData(acldvppHist* hist, uint32_t dim, uint32_t** data, uint16_t* len) {
  return on_object<HistogramObject>(__func__, hist, [&](HistogramObject& histogram) {
    return give_values(histogram.values.count, dim, data, len);
  });
}

uint32_t acldvppGetHistRetCode(acldvppHist* hist) {
  return get<HistogramObject, uint32_t>(__func__, hist, &HistogramObject::ret_code);
}

aclError acldvppClearHist(acldvppHist* hist) {
  return on_object<HistogramObject>(__func__, hist, [](HistogramObject& histogram) -> Status {
    histogram = {};
    return {};
  });
}
