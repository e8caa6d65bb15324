// SPDX-License-Identifier: Apache-2.0
// Tables of values and histograms.
#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

acldvppLutMap* acldvppCreateLutMap(void) { return create<acldvppLutMap*, LookupTable>(__func__); }

aclError acldvppDestroyLutMap(const acldvppLutMap* lutMap) {
  return destroy<LookupTable>(__func__, lutMap);
}

uint32_t acldvppGetLutMapDims(const acldvppLutMap* lutMap) {
  return enter_value(__func__, uint32_t{0}, [&]() -> Result<uint32_t> {
    ANYNPU_TRY(resolve<LookupTable>(to_handle(lutMap)).status());
    return uint32_t{3};
  });
}

namespace {

Status check_dim(uint32_t dim) {
  if (dim < 3) return {};
  return fail(Code::invalid_argument, "the dimension is {}; expected 0 to 2", dim);
}

}  // namespace

aclError acldvppGetLutMapData(const acldvppLutMap* lutMap, uint32_t dim, uint8_t** data,
                              uint32_t* len) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<LookupTable>(to_handle(lutMap)));
    ANYNPU_TRY(check_dim(dim));
    ANYNPU_TRY(check_pointer(data, "data"));
    ANYNPU_TRY(check_pointer(len, "len"));
    *data = pin->table.value[dim];
    *len = 256;
    return {};
  });
}

acldvppHist* acldvppCreateHist(void) { return create<acldvppHist*, HistogramObject>(__func__); }

aclError acldvppDestroyHist(const acldvppHist* hist) {
  return destroy<HistogramObject>(__func__, hist);
}

uint32_t acldvppGetHistDims(const acldvppHist* hist) {
  return enter_value(__func__, uint32_t{0}, [&]() -> Result<uint32_t> {
    ANYNPU_TRY(resolve<HistogramObject>(to_handle(hist)).status());
    return uint32_t{3};
  });
}

aclError acldvppGetHistData(acldvppHist* hist, uint32_t dim, uint32_t** data, uint16_t* len) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<HistogramObject>(to_handle(hist)));
    ANYNPU_TRY(check_dim(dim));
    ANYNPU_TRY(check_pointer(data, "data"));
    ANYNPU_TRY(check_pointer(len, "len"));
    *data = pin->values.count[dim];
    *len = 256;
    return {};
  });
}

uint32_t acldvppGetHistRetCode(const acldvppHist* hist) {
  return get<HistogramObject, uint32_t>(__func__, hist, &HistogramObject::ret_code);
}

aclError acldvppClearHist(acldvppHist* hist) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<HistogramObject>(to_handle(hist)));
    pin->values = {};
    pin->ret_code = 0;
    return {};
  });
}
