// SPDX-License-Identifier: Apache-2.0
// The operations of HCCL.
#include "service/collective/collectives.h"

#include <vector>

#include "api/acl_hccl/entry.h"
#include "base/guarded_touch.h"
#include "hccl/hccl.h"

namespace anynpu::hccl {

namespace {

service::Where where(HcclComm comm, aclrtStream stream) {
  return {to_handle(comm), to_handle(stream)};
}

// Results are written through pointers that the interface calls const.
void* written(const void* buffer) { return const_cast<void*>(buffer); }

Result<std::vector<service::TransferRequest>> requests_of(const HcclSendRecvItem* items,
                                                          uint32_t count) {
  if (!items || count == 0 || !can_read(items, size_t{count} * sizeof *items)) {
    return fail(Code::invalid_argument, "sendRecvInfo is {} and itemNum is {}; expected items",
                static_cast<const void*>(items), count);
  }
  std::vector<service::TransferRequest> requests;
  for (const HcclSendRecvItem& item : std::span(items, count)) {
    if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
      return fail(Code::invalid_argument, "sendRecvType is {}; expected 0 (send) or 1 (receive)",
                  static_cast<int>(item.sendRecvType));
    }
    requests.push_back(
        {item.sendRecvType == HCCL_SEND, item.buf, item.count, item.dataType, item.remoteRank});
  }
  return requests;
}

}  // namespace

}  // namespace anynpu::hccl

using namespace anynpu;
using namespace anynpu::hccl;

extern "C" {

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::all_reduce(where(comm, stream), sendBuf, recvBuf, count, dataType, op);
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::reduce(where(comm, stream), sendBuf, recvBuf, count, dataType, op, root);
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
  return enter(__func__,
               [&] { return service::broadcast(where(comm, stream), buf, count, dataType, root); });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::scatter(where(comm, stream), sendBuf, recvBuf, recvCount, dataType, root);
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::all_gather(where(comm, stream), sendBuf, sendCount, recvBuf, {sendCount},
                               dataType);
  });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(recvCounts, "recvCounts"));
    return service::all_gather(where(comm, stream), sendBuf, sendCount, recvBuf,
                               {0, recvCounts, recvDispls}, dataType);
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
  return enter(__func__, [&] {
    return service::reduce_scatter(where(comm, stream), sendBuf, {recvCount}, recvBuf, recvCount,
                                   dataType, op);
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls,
                              void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(sendCounts, "sendCounts"));
    return service::reduce_scatter(where(comm, stream), sendBuf, {0, sendCounts, sendDispls},
                                   recvBuf, recvCount, dataType, op);
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::all_to_all(where(comm, stream), sendBuf, {sendCount}, sendType,
                               written(recvBuf), {recvCount}, recvType);
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(sendCounts, "sendCounts"));
    ANYNPU_TRY(check_pointer(recvCounts, "recvCounts"));
    return service::all_to_all(where(comm, stream), sendBuf, {0, sendCounts, sdispls}, sendType,
                               written(recvBuf), {0, recvCounts, rdispls}, recvType);
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream) {
  return enter(__func__, [&] {
    return service::all_to_all_matrix(where(comm, stream), sendBuf, sendCountMatrix, sendType,
                                      written(recvBuf), recvType);
  });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::transfer_one(where(comm, stream), {true, sendBuf, count, dataType, destRank});
  });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::transfer_one(where(comm, stream), {false, recvBuf, count, dataType, srcRank});
  });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto requests, requests_of(sendRecvInfo, itemNum));
    return service::transfer(where(comm, stream), requests);
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return enter(__func__, [&] { return service::barrier(where(comm, stream)); });
}

}  // extern "C"
