// SPDX-License-Identifier: Apache-2.0
// Copies between host and devices, and between devices.
#include "npc/host/copy.h"

#include "anynpu.h"
#include "api/hpe/entry.h"
#include "npc/host/host.h"
#include "npc/host/objects.h"

using namespace anynpu;
using hpe::enter;

namespace {

Result<npc::CopyRequest> request_of(void* dst, const void* src, size_t count, stcMemcpyKind kind,
                                    npc::ClusterHost& device) {
  npc::CopyRequest request{{nullptr, dst}, {nullptr, src}, count};
  switch (kind) {
    case stcMemcpyHostToHost:
      return request;
    case stcMemcpyHostToDevice:
      request.to.host = &device;
      return request;
    case stcMemcpyDeviceToHost:
      request.from.host = &device;
      return request;
    case stcMemcpyP2P:
      request.to.host = request.from.host = &device;
      return request;
  }
  return fail(Code::invalid_argument, "the copy kind is {}; expected 0, 1, 2 or 4",
              static_cast<int>(kind));
}

Status queue_copy(const npc::CopyRequest& request, npc::ClusterHost& device, stcStream_t stream) {
  ANYNPU_ASSIGN(auto lane, npc::find_lane(hpe::to_handle(stream), device));
  return npc::copy_async(request, lane);
}

Result<npc::CopyRequest> peer_request(void* dst, int dst_device, const void* src, int src_device,
                                      size_t count) {
  ANYNPU_ASSIGN(auto* to, npc::device(dst_device));
  ANYNPU_ASSIGN(auto* from, npc::device(src_device));
  return npc::CopyRequest{{to, dst}, {from, src}, count};
}

// Copies to or from the current device; the memory of the host is released when that is done, or
// when it fails.
Status copy_and_release(void* dst, const void* src, size_t count, stcMemcpyKind kind, Handle stream,
                        npc::CopyRelease release) {
  std::shared_ptr<npc::Lane> lane;
  const auto request = [&]() -> Result<npc::CopyRequest> {
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(auto made, request_of(dst, src, count, kind, *device));
    ANYNPU_ASSIGN(lane, npc::find_lane(stream, *device));
    return made;
  }();
  if (request.ok()) return npc::copy_async(*request, lane, release);
  release.call(release.data);
  return request.status();
}

}  // namespace

stcError_t stcMemcpy(void* dst, const void* src, size_t count, stcMemcpyKind kind) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(const auto request, request_of(dst, src, count, kind, *device));
    return npc::copy(request, device->default_lane());
  });
}

stcError_t stcMemcpyAsync(void* dst, const void* src, size_t count, stcMemcpyKind kind,
                          stcStream_t stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(const auto request, request_of(dst, src, count, kind, *device));
    return queue_copy(request, *device, stream);
  });
}

stcError_t stcMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice, size_t count) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto request, peer_request(dst, dstDevice, src, srcDevice, count));
    auto& source = request.from.host->default_lane()->stream();
    ANYNPU_TRY(source.wait_for(source.submitted(), Deadline::never()));
    return npc::copy(request, request.to.host->default_lane());
  });
}

stcError_t stcMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                              size_t count, stcStream_t stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto request, peer_request(dst, dstDevice, src, srcDevice, count));
    // The stream of either side will do.
    auto lane = npc::find_lane(hpe::to_handle(stream), *request.to.host);
    if (!lane.ok()) return queue_copy(request, *request.from.host, stream);
    return npc::copy_async(request, *lane);
  });
}

int anynpu_hpe_memcpy_async(void* dst, const void* src, size_t count, int kind, void* stream,
                            void (*release)(void*), void* data) {
  bool entered = false;
  const stcError_t error = enter(__func__, [&] {
    entered = true;
    return copy_and_release(dst, src, count, static_cast<stcMemcpyKind>(kind),
                            hpe::to_handle(stream), {release, data});
  });
  if (!entered && release) release(data);  // the call was refused at the door
  return error;
}
