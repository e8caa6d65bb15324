// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/exchange.h"

#include <numeric>
#include <vector>

#include "device/device.h"
#include "device/runtime.h"
#include "service/collective/collectives.h"
#include "service/collective/communicators.h"

namespace anynpu::service {

namespace {

using aclnn::Exchange;
using collective::Element;

std::vector<uint64_t> begins(const std::vector<uint64_t>& bytes) {
  std::vector<uint64_t> made(bytes.size());
  std::exclusive_scan(bytes.begin(), bytes.end(), made.begin(), uint64_t{0});
  return made;
}

Result<Handle> group_of(const aclnn::Transfer& transfer, int32_t device) {
  return find_communicator(transfer.group, device);
}

// Types that can be added, by HCCL's numbers.
Result<int64_t> summed_as(DType type) {
  const auto number = [](Element element) { return static_cast<int64_t>(element); };
  switch (type) {
    case DType::f32:
      return number(Element::f32);
    case DType::f16:
      return number(Element::f16);
    case DType::bf16:
      return number(Element::bf16);
    case DType::i32:
      return number(Element::i32);
    case DType::i64:
      return number(Element::i64);
    default:
      return fail(Code::unsupported_dtype,
                  "ranks add tensors of {}; expected float32, float16, bfloat16, int32 or int64",
                  name_of(type));
  }
}

}  // namespace

Status check_groups(const NnPlan& plan) {
  int32_t device = -1;
  for (const NnPlan::Part& part : plan.parts) {
    for (const aclnn::Transfer& transfer : part.transfers) {
      if (device < 0) {
        ANYNPU_ASSIGN(const auto context, device::Runtime::instance().current());
        device = context->device()->id();
      }
      ANYNPU_ASSIGN(const Handle handle, group_of(transfer, device));
      ANYNPU_ASSIGN(const auto group, find_communicator(handle));
      if (transfer.ranks == 0 || transfer.ranks == group->size()) continue;
      return fail(Code::invalid_argument, "the tensors are of {} ranks; communicator '{}' has {}",
                  transfer.ranks, transfer.group, group->size());
    }
  }
  return {};
}

Status exchange(const NnRun& run, const aclnn::Transfer& t, const device::Stream& stream,
                Handle stream_handle) {
  ANYNPU_ASSIGN(const Handle group, group_of(t, stream.device()->id()));
  const Where where{group, stream_handle};
  const void* from = run.shared(t.from);
  void* to = run.shared(t.to);
  switch (t.kind) {
    case Exchange::keep:
      return {};
    case Exchange::all_gather: {
      const uint64_t bytes = bytes_of(t.dtype, t.count);
      return all_gather(where, from, bytes, to, {.count = bytes},
                        static_cast<int64_t>(Element::u8));
    }
    case Exchange::all_reduce: {
      ANYNPU_ASSIGN(const int64_t type, summed_as(t.dtype));
      return all_reduce(where, from, to, t.count, type, 0);
    }
    case Exchange::all_to_all: {
      const std::vector<uint64_t> sent = begins(t.sent), received = begins(t.received);
      const auto bytes = static_cast<int64_t>(Element::u8);
      return all_to_all(where, from, {.counts = t.sent.data(), .offsets = sent.data()}, bytes, to,
                        {.counts = t.received.data(), .offsets = received.data()}, bytes);
    }
    case Exchange::reduce_scatter: {
      ANYNPU_ASSIGN(const int64_t type, summed_as(t.dtype));
      return reduce_scatter(where, from, {.count = t.count}, to, t.count, type, 0);
    }
  }
  return {};
}

}  // namespace anynpu::service
