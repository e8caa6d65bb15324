// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/runtime.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "acl/acl.h"
#include "aclruntime/log.h"

namespace anynpu::aclruntime {

namespace {

std::mutex mutex;
bool started_here = false;
std::atomic<unsigned> starts{0};
std::map<int, std::set<void*>> contexts;  // of the devices that were opened

Failure start(const std::string& config) {
  const aclError error = aclInit(config.empty() ? nullptr : config.c_str());
  if (error == ACL_ERROR_REPEAT_INITIALIZE) return {};
  if (error != ACL_SUCCESS) return acl_failure(error, "the start of AscendCL");
  started_here = true;
  ++starts;
  contexts.clear();
  log_line(LogLevel::info, "acl init success");
  return {};
}

}  // namespace

unsigned current_start() { return starts.load(std::memory_order_relaxed); }

Context::Context(int device, void* handle)
    : device_(device), handle_(handle), start_(current_start()) {}

Failure Context::open(int device, const std::string& config, std::shared_ptr<Context>& context) {
  const std::lock_guard lock(mutex);
  if (Failure failure = start(config)) return failure;
  const std::string name = "device " + std::to_string(device);
  if (!contexts.contains(device)) {
    if (const aclError error = aclrtSetDevice(device)) {
      return acl_failure(error, "opening " + name);
    }
  }
  aclrtContext handle = nullptr;
  if (const aclError error = aclrtCreateContext(&handle, device)) {
    return acl_failure(error, "making a context on " + name);
  }
  contexts[device].insert(handle);
  context.reset(new Context(device, handle));
  log_line(LogLevel::info, "open " + name + " success");
  return {};
}

Context::~Context() {
  const std::lock_guard lock(mutex);
  if (start_ != current_start()) return;
  const auto found = contexts.find(device_);
  if (found == contexts.end() || found->second.erase(handle_) == 0) return;  // finalized
  aclrtDestroyContext(handle_);
}

Failure Context::use() const {
  const aclError error = aclrtSetCurrentContext(handle_);
  if (error == ACL_SUCCESS) return {};
  return acl_failure(error, "using the session's context on device " + std::to_string(device_));
}

Failure use_device(int device) {
  const std::lock_guard lock(mutex);
  const auto found = contexts.find(device);
  if (found == contexts.end() || found->second.empty()) {
    return {kBadArgument, "no session is open on device " + std::to_string(device) +
                              "; make an InferSession there before moving tensors to it"};
  }
  if (const aclError error = aclrtSetCurrentContext(*found->second.begin())) {
    return acl_failure(error, "using device " + std::to_string(device));
  }
  return {};
}

Failure finalize() {
  const std::lock_guard lock(mutex);
  for (auto& [device, handles] : contexts) {
    for (void* handle : handles) aclrtDestroyContext(handle);
    if (const aclError error = aclrtResetDevice(device)) {
      return acl_failure(error, "resetting device " + std::to_string(device));
    }
    log_line(LogLevel::info, "end to reset device " + std::to_string(device));
  }
  contexts.clear();
  ++starts;
  if (!started_here) return {};
  started_here = false;
  if (const aclError error = aclFinalize()) return acl_failure(error, "the end of AscendCL");
  log_line(LogLevel::info, "end to finalize acl");
  return {};
}

}  // namespace anynpu::aclruntime
