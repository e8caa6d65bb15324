// SPDX-License-Identifier: Apache-2.0
#include "service/collective/collectives.h"

#include <vector>

#include "base/guarded_touch.h"
#include "device/device.h"
#include "device/runtime.h"
#include "service/collective/communicators.h"

namespace anynpu::service {

using collective::Communicator;
using collective::Element;
using collective::Layout;
using collective::Plan;
using collective::ReduceOp;

namespace {

using Group = std::shared_ptr<Communicator>;

// Makes the plan and queues it.
template <typename MakePlan>
Status run(const Where& where, MakePlan&& make_plan) {
  ANYNPU_ASSIGN(auto group, find_communicator(where.communicator));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(where.stream));
  const int32_t device = stream->device() ? stream->device()->id() : group->device();
  if (device != group->device()) {
    return fail(Code::wrong_context,
                "the communicator belongs to device {}, the stream to device {}; use a stream of "
                "the device that was set when the communicator was made",
                group->device(), device);
  }
  Plan plan = make_plan(group);
  if (!plan.ok()) return plan.status();
  if (!*plan) return group->failure();  // nothing to do
  return collective::Operation::submit(std::move(plan).value(), *stream);
}

Result<std::vector<uint64_t>> read_numbers(const void* at, size_t count, const char* what) {
  if (!at || !can_read(at, count * sizeof(uint64_t))) {
    return fail(Code::invalid_argument, "{} is {}; expected the address of {} numbers of 64 bits",
                what, at, count);
  }
  const auto* numbers = static_cast<const uint64_t*>(at);
  return std::vector<uint64_t>(numbers, numbers + count);
}

Result<Layout> layout_of(const Group& group, const Spread& spread) {
  if (!spread.counts && !spread.offsets) return Layout::even(group->size(), spread.count);
  ANYNPU_ASSIGN(const auto counts, read_numbers(spread.counts, group->size(), "counts"));
  ANYNPU_ASSIGN(const auto offsets, read_numbers(spread.offsets, group->size(), "displs"));
  return Layout::of(counts, offsets);
}

}  // namespace

Status all_reduce(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
                  int64_t reduce_op) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  ANYNPU_ASSIGN(const ReduceOp how, collective::reduce_op_of(reduce_op));
  return run(where, [&](const Group& group) {
    return plan_all_reduce(group, in, out, count, element, how);
  });
}

Status reduce(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
              int64_t reduce_op, uint32_t root) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  ANYNPU_ASSIGN(const ReduceOp how, collective::reduce_op_of(reduce_op));
  return run(where, [&](const Group& group) {
    return plan_reduce(group, in, out, count, element, how, root);
  });
}

Status broadcast(const Where& where, void* data, uint64_t count, int64_t type, uint32_t root) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  return run(where,
             [&](const Group& group) { return plan_broadcast(group, data, count, element, root); });
}

Status scatter(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
               uint32_t root) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  return run(where, [&](const Group& group) {
    return plan_scatter(group, in, out, count, element, root);
  });
}

Status barrier(const Where& where) {
  return run(where, [](const Group& group) { return collective::plan_barrier(group); });
}

Status all_gather(const Where& where, const void* in, uint64_t count, void* out,
                  const Spread& spread, int64_t type) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  return run(where, [&](const Group& group) -> Plan {
    ANYNPU_ASSIGN(const Layout layout, layout_of(group, spread));
    return plan_all_gather(group, in, count, out, layout, element);
  });
}

Status reduce_scatter(const Where& where, const void* in, const Spread& spread, void* out,
                      uint64_t count, int64_t type, int64_t reduce_op) {
  ANYNPU_ASSIGN(const Element element, collective::element_of(type));
  ANYNPU_ASSIGN(const ReduceOp how, collective::reduce_op_of(reduce_op));
  return run(where, [&](const Group& group) -> Plan {
    ANYNPU_ASSIGN(const Layout layout, layout_of(group, spread));
    return plan_reduce_scatter(group, in, layout, out, count, element, how);
  });
}

Status all_to_all(const Where& where, const void* in, const Spread& sent, int64_t sent_type,
                  void* out, const Spread& received, int64_t received_type) {
  ANYNPU_ASSIGN(const Element in_element, collective::element_of(sent_type));
  ANYNPU_ASSIGN(const Element out_element, collective::element_of(received_type));
  return run(where, [&](const Group& group) -> Plan {
    ANYNPU_ASSIGN(const Layout in_layout, layout_of(group, sent));
    ANYNPU_ASSIGN(const Layout out_layout, layout_of(group, received));
    return plan_all_to_all(group, in, in_layout, in_element, out, out_layout, out_element);
  });
}

Status all_to_all_matrix(const Where& where, const void* in, const void* matrix, int64_t sent_type,
                         void* out, int64_t received_type) {
  ANYNPU_ASSIGN(const Element in_element, collective::element_of(sent_type));
  ANYNPU_ASSIGN(const Element out_element, collective::element_of(received_type));
  return run(where, [&](const Group& group) -> Plan {
    const uint32_t ranks = group->size();
    ANYNPU_ASSIGN(const auto counts,
                  read_numbers(matrix, size_t{ranks} * ranks, "sendCountMatrix"));
    Layout sent, received;
    uint64_t sent_end = 0, received_end = 0;
    for (uint32_t peer = 0; peer < ranks; ++peer) {
      sent.counts.push_back(counts[size_t{group->rank()} * ranks + peer]);
      received.counts.push_back(counts[size_t{peer} * ranks + group->rank()]);
      sent.offsets.push_back(sent_end);
      received.offsets.push_back(received_end);
      sent_end += sent.counts.back();
      received_end += received.counts.back();
    }
    return plan_all_to_all(group, in, sent, in_element, out, received, out_element);
  });
}

Status transfer(const Where& where, std::span<const TransferRequest> requests) {
  std::vector<collective::Transfer> transfers;
  for (const TransferRequest& request : requests) {
    ANYNPU_ASSIGN(const Element element, collective::element_of(request.type));
    transfers.push_back({request.sends, request.at, request.count, element, request.peer});
  }
  return run(where, [&](const Group& group) { return plan_transfers(group, transfers); });
}

Status transfer_one(const Where& where, const TransferRequest& request) {
  ANYNPU_ASSIGN(const auto group, find_communicator(where.communicator));
  if (request.peer == group->rank()) {
    return fail(Code::invalid_argument, "rank {} cannot {} itself; use HcclBatchSendRecv for that",
                request.peer, request.sends ? "send to" : "receive from");
  }
  return transfer(where, std::span(&request, 1));
}

}  // namespace anynpu::service
