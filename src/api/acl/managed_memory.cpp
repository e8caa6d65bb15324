// SPDX-License-Identifier: Apache-2.0
// Memory of host and device at one address (acl/rt/managed_memory.h).
#include "acl/rt/managed_memory.h"

#include <vector>

#include "acl/rt/memory.h"
#include "api/acl/entry.h"
#include "service/memory/managed_memory.h"

using namespace anynpu;
using acl::check_array;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;

namespace {

service::PageLocation page_location(const aclrtMemManagedLocation& location) {
  return {static_cast<int32_t>(location.type), location.id};
}

Status check_no_flags(uint64_t flags) {
  if (flags == 0) return {};
  return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
}

struct PrefetchBatch {
  const void** ptrs;
  const size_t* sizes;
  size_t count;
  const aclrtMemManagedLocation* locations;
  const size_t* indexes;
  size_t location_count;
};

Status check_prefetch_batch(const PrefetchBatch& batch) {
  for (const void* list :
       {static_cast<const void*>(batch.ptrs), static_cast<const void*>(batch.sizes),
        static_cast<const void*>(batch.locations), static_cast<const void*>(batch.indexes)}) {
    ANYNPU_TRY(check_pointer(list, "a list of the batch"));
  }
  constexpr size_t kMostRanges = 1 << 20;
  if (batch.count == 0 || batch.count > kMostRanges || batch.location_count == 0 ||
      batch.location_count > batch.count) {
    return fail(
        Code::invalid_argument,
        "count is {}, numPrefetchLocs is {}; expected 1 to {}, and at most as many locations",
        batch.count, batch.location_count, kMostRanges);
  }
  for (size_t i = 0; i < batch.location_count; ++i) {
    const bool rises = i == 0 ? batch.indexes[0] == 0 : batch.indexes[i] > batch.indexes[i - 1];
    if (rises && batch.indexes[i] < batch.count) continue;
    return fail(
        Code::invalid_argument,
        "prefetchLocIdxs[{}] is {}; expected indexes that start at 0, rise, and stay below {}", i,
        batch.indexes[i], batch.count);
  }
  return {};
}

// Location k serves the ranges from indexes[k] up to the next index.
Result<std::vector<service::PageRange>> read_prefetch_batch(const PrefetchBatch& batch) {
  ANYNPU_TRY(check_prefetch_batch(batch));
  std::vector<service::PageRange> ranges;
  for (size_t i = 0, k = 0; i < batch.count; ++i) {
    if (k + 1 < batch.location_count && batch.indexes[k + 1] == i) ++k;
    ranges.push_back({batch.ptrs[i], batch.sizes[i], page_location(batch.locations[k])});
  }
  return ranges;
}

Status check_lists(aclrtMemManagedRangeAttribute* attributes, void** data, size_t* sizes,
                   size_t count) {
  ANYNPU_TRY(check_array(attributes, count, "attributes"));
  ANYNPU_TRY(check_array(data, count, "data"));
  return check_array(sizes, count, "dataSizes");
}

}  // namespace

extern "C" {

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(ptr, "ptr"));
    *ptr = nullptr;
    if (flag != ACL_RT_MEM_ATTACH_GLOBAL)
      return fail(Code::invalid_argument, "flag is {}; expected 1 (global)", flag);
    ANYNPU_ASSIGN(*ptr, service::allocate_managed(size));
    return {};
  });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size,
                               aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location) {
  return enter(__func__, [&] {
    return service::advise_pages(ptr, size, static_cast<int>(advise), page_location(location));
  });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr,
                                size_t size, void* data, size_t dataSize) {
  return enter(__func__, [&] {
    return service::read_page_attribute(static_cast<int>(attribute), ptr, size, data, dataSize);
  });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes,
                                 const void* ptr, size_t size, void** data, size_t* dataSizes) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_lists(attributes, data, dataSizes, numAttributes));
    for (size_t i = 0; i < numAttributes; ++i) {
      const int attribute = static_cast<int>(attributes[i]);
      ANYNPU_TRY(service::read_page_attribute(attribute, ptr, size, data[i], dataSizes[i]),
                 "attribute {} of {}", i, numAttributes);
    }
    return {};
  });
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_no_flags(flags));
    const service::PageRange range{ptr, size, page_location(location)};
    return service::prefetch_pages({&range, 1}, to_handle(stream));
  });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs,
                                           uint64_t flags, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_no_flags(flags));
    const PrefetchBatch batch{ptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs};
    ANYNPU_ASSIGN(const auto ranges, read_prefetch_batch(batch));
    return service::prefetch_pages(ranges, to_handle(stream));
  });
}

}  // extern "C"
