// SPDX-License-Identifier: Apache-2.0
// Batches of copies, described copies, reduction and cache operations
// (acl.rt.memcpy_async_with_desc, reduce_async, cmo_async and similar).
#include "device/copy_batch.h"

#include <vector>

#include "acl/rt/memory.h"
#include "acl/rt/memory_copy.h"
#include "api/acl/entry.h"
#include "device/reduce.h"
#include "device/runtime.h"
#include "device/stream_allocator.h"
#include "service/instance/build.h"
#include "service/memory/async_copy.h"

using namespace anynpu;
using acl::check_array;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;
using device::BatchCopy;
using device::BatchPlace;
using device::Runtime;

namespace {

struct Batch {
  void** dsts;
  size_t* destMax;
  void** srcs;
  size_t* sizes;
  size_t numBatches;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrsIndexes;
  size_t numAttrs;
  size_t* failIndex;
};

Result<BatchPlace> check_place(const aclrtMemLocation& location) {
  if (location.type == ACL_MEM_LOCATION_TYPE_HOST) return BatchPlace{false, 0};
  if (location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
    return BatchPlace{true, static_cast<int32_t>(location.id)};
  }
  return fail(Code::invalid_argument, "a location has the type {}; expected 0 (host) or 1 (device)",
              location.type);
}

// attrs[i] holds from copy attrsIndexes[i] on, up to the next one.
Status check_attributes(const Batch& batch) {
  if (batch.numAttrs == 0 || batch.numAttrs > batch.numBatches) {
    return fail(Code::invalid_argument, "numAttrs is {}; expected 1 to the number of copies, {}",
                batch.numAttrs, batch.numBatches);
  }
  ANYNPU_TRY(check_array(batch.attrs, batch.numAttrs, "attrs"));
  ANYNPU_TRY(check_array(batch.attrsIndexes, batch.numAttrs, "attrsIndexes"));
  for (size_t i = 0; i < batch.numAttrs; ++i) {
    const bool in_order =
        i == 0 ? batch.attrsIndexes[0] == 0 : batch.attrsIndexes[i] > batch.attrsIndexes[i - 1];
    if (in_order && batch.attrsIndexes[i] < batch.numBatches) continue;
    return fail(Code::invalid_argument,
                "attrsIndexes[{}] is {}; expected indexes that start at 0, rise, and stay below {}",
                i, batch.attrsIndexes[i], batch.numBatches);
  }
  return {};
}

Result<std::vector<BatchCopy>> check_batch(const Batch& batch) {
  ANYNPU_TRY(check_pointer(batch.failIndex, "failIndex"));
  *batch.failIndex = SIZE_MAX;  // no copy is to blame
  constexpr size_t kMostCopies = 1 << 20;
  if (batch.numBatches == 0 || batch.numBatches > kMostCopies) {
    return fail(Code::invalid_argument, "numBatches is {}; expected 1 to {}", batch.numBatches,
                kMostCopies);
  }
  ANYNPU_TRY(check_attributes(batch));
  ANYNPU_TRY(check_array(batch.dsts, batch.numBatches, "dsts"));
  ANYNPU_TRY(check_array(batch.destMax, batch.numBatches, "destMaxs"));
  ANYNPU_TRY(check_array(batch.srcs, batch.numBatches, "srcs"));
  ANYNPU_TRY(check_array(batch.sizes, batch.numBatches, "sizes"));
  std::vector<BatchCopy> copies(batch.numBatches);
  for (size_t i = 0, attribute = 0; i < batch.numBatches; ++i) {
    if (attribute + 1 < batch.numAttrs && batch.attrsIndexes[attribute + 1] == i) ++attribute;
    copies[i] = {batch.dsts[i], batch.destMax[i], batch.srcs[i], batch.sizes[i], {}, {}};
    ANYNPU_ASSIGN(copies[i].to_place, check_place(batch.attrs[attribute].dstLoc));
    ANYNPU_ASSIGN(copies[i].from_place, check_place(batch.attrs[attribute].srcLoc));
  }
  return copies;
}

Status check_desc_kind(aclrtMemcpyKind kind) {
  if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE) return {};
  return fail(Code::invalid_argument,
              "the copy kind is {}; described copies are of kind 6 (inside a device) or 3", kind);
}

Status check_offset_kind(aclrtMemcpyKind kind) {
  if (kind == ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) return {};
  return fail(Code::invalid_argument, "the copy kind is {}; expected 6 (inside a device)", kind);
}

Status check_described_cache(aclrtCmoType type, const void* reserve) {
  if (type != ACL_RT_CMO_TYPE_PREFETCH) {
    return fail(Code::invalid_argument, "cmoType is {}; a description takes 0 (prefetch) alone",
                type);
  }
  if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
  return {};
}

Status check_barrier(aclrtCmoType type, uint32_t barrier) {
  if (type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH) {
    return fail(Code::invalid_argument, "cmoType is {}; expected 0 to 3", type);
  }
  if ((barrier > 0) == (type == ACL_RT_CMO_TYPE_INVALID)) return {};
  return fail(Code::invalid_argument,
              "cmoType is {}, barrierId {}; type 2 has a barrier above 0, the others have 0", type,
              barrier);
}

Status check_barriers(const aclrtBarrierTaskInfo& info, uint32_t flag) {
  if (flag != 0 || info.barrierNum == 0 || info.barrierNum > std::size(info.cmoInfo)) {
    return fail(Code::invalid_argument, "barrierNum is {}, flag {}; expected 1 to {}, and 0",
                info.barrierNum, flag, std::size(info.cmoInfo));
  }
  for (size_t i = 0; i < info.barrierNum; ++i) {
    if (info.cmoInfo[i].cmoType == ACL_RT_CMO_TYPE_INVALID) continue;
    return fail(Code::invalid_argument, "cmoInfo[{}].cmoType is {}; expected 2 (invalid)", i,
                static_cast<int>(info.cmoInfo[i].cmoType));
  }
  return {};
}

// Barriers are for streams that are bound to an instance.
Result<std::shared_ptr<device::Stream>> bound_stream_of(aclrtStream stream) {
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
  ANYNPU_TRY(service::bound_stream(*found).status());
  return found;
}

Result<device::ReduceType> check_reduce_type(aclDataType type) {
  switch (type) {
    case ACL_FLOAT:
      return device::ReduceType::f32;
    case ACL_FLOAT16:
      return device::ReduceType::f16;
    case ACL_BF16:
      return device::ReduceType::bf16;
    case ACL_INT8:
      return device::ReduceType::s8;
    case ACL_INT16:
      return device::ReduceType::s16;
    case ACL_INT32:
      return device::ReduceType::s32;
    default:
      return fail(Code::invalid_argument,
                  "type is {}; expected float (0), float16 (1), int8 (2), int32 (3), int16 (6) or "
                  "bfloat16 (27)",
                  type);
  }
}

Status check_reduce(aclrtReduceKind kind, const void* reserve) {
  if (kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
    return fail(Code::invalid_argument,
                "kind is {}; expected 10 (sum), 11 (max), 12 (min) or 13 (equal)", kind);
  }
  if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
  return {};
}

}  // namespace

aclError aclrtMemcpyBatch(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().current().status());
    ANYNPU_ASSIGN(const auto copies, check_batch({dsts, destMax, srcs, sizes, numBatches, attrs,
                                                  attrsIndexes, numAttrs, failIndex}));
    return device::copy_batch(copies, failIndex);
  });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMax, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().stream(to_handle(stream)).status());
    ANYNPU_ASSIGN(const auto copies, check_batch({dsts, destMax, srcs, sizes, numBatches, attrs,
                                                  attrsIndexes, numAttrs, failIndex}));
    return service::copy_batch_async(copies, failIndex, to_handle(stream));
  });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                            size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                            size_t numAttrs) {
  return enter(__func__, [&]() -> Status {
    size_t failed = 0;
    ANYNPU_TRY(Runtime::instance().current().status());
    ANYNPU_ASSIGN(const auto copies, check_batch({dsts, destMaxs, srcs, sizes, numBatches, attrs,
                                                  attrsIndexes, numAttrs, &failed}));
    return device::copy_batch(copies, &failed);
  });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                 size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    size_t failed = 0;
    ANYNPU_TRY(Runtime::instance().stream(to_handle(stream)).status());
    ANYNPU_ASSIGN(const auto copies, check_batch({dsts, destMaxs, srcs, sizes, numBatches, attrs,
                                                  attrsIndexes, numAttrs, &failed}));
    return service::copy_batch_async(copies, &failed, to_handle(stream));
  });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset,
                                    const void** src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_offset_kind(kind));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::copy_indirect_async({dst, destMax, dstDataOffset, src, count, srcDataOffset},
                                       *found);
  });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto checked, device::check_copy_kind(kind));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::copy_async_staged({dst, destMax, src, count, checked}, *found);
  });
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(descSize, "descSize"));
    ANYNPU_TRY(check_desc_kind(kind));
    *descSize = device::kCopyDescBytes;
    return {};
  });
}

aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr,
                            size_t count, void* config) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_desc_kind(kind));
    if (config) return fail(Code::invalid_argument, "config is {}; expected null", config);
    return device::write_copy_desc(desc, dstAddr, srcAddr, count);
  });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_desc_kind(kind));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::copy_described_async(desc, *found);
  });
}

aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void* reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_reduce(kind, reserve));
    ANYNPU_ASSIGN(const auto checked, check_reduce_type(type));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::reduce_async({dst, src, count, static_cast<device::ReduceKind>(kind), checked},
                                *found);
  });
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH) {
      return fail(Code::invalid_argument, "cmo_type is {}; expected 0 to 3", cmoType);
    }
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::cache_async(src, size, static_cast<device::CacheOperation>(cmoType), *found);
  });
}

aclError aclrtCmoGetDescSize(size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size, "size"));
    *size = device::kCacheDescBytes;
    return {};
  });
}

aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size) {
  return enter(__func__, [&] { return device::write_cache_desc(cmoDesc, src, size); });
}

aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream,
                               const void* reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_described_cache(cmoType, reserve));
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::cache_described_async(cmoDesc, device::CacheOperation::prefetch, *found);
  });
}

aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                  aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_barrier(cmoType, barrierId));
    ANYNPU_ASSIGN(auto bound, bound_stream_of(stream));
    return device::cache_async(src, size, static_cast<device::CacheOperation>(cmoType), *bound);
  });
}

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(taskInfo, "taskInfo"));
    ANYNPU_TRY(check_barriers(*taskInfo, flag));
    ANYNPU_ASSIGN(auto bound, bound_stream_of(stream));
    return device::cache_barrier_async(*bound);
  });
}
