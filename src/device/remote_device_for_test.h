// SPDX-License-Identifier: Apache-2.0
// For tests: a device whose memory the host cannot read and whose queue works only when the test
// tells it to.
#pragma once

#include <sys/mman.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/device_memory.h"
#include "device/free_blocks.h"
#include "device/host_view.h"
#include "device/queue.h"

namespace anynpu::device {

// Addresses without access; the bytes are in a vector.
class RemoteMemory final : public DeviceMemory {
 public:
  static constexpr size_t kBytes = size_t{1} << 20;
  static std::shared_ptr<RemoteMemory> create() {
    auto memory = std::make_shared<RemoteMemory>();
    make_known(memory);
    return memory;
  }
  RemoteMemory()
      : DeviceMemory(Host::cannot_read),
        blocks_(reinterpret_cast<uintptr_t>(
                    mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                kBytes, 4096),
        bytes_(kBytes) {}
  ~RemoteMemory() override { munmap(reinterpret_cast<void*>(blocks_.base()), kBytes); }

  uintptr_t take(size_t bytes, size_t alignment) override { return blocks_.take(bytes, alignment); }
  void give_back(uintptr_t base, size_t bytes) override { blocks_.give_back(base, bytes); }
  bool contains(uintptr_t address) const override { return blocks_.contains(address); }
  size_t total() const override { return blocks_.size(); }
  size_t used() const override { return blocks_.used(); }
  size_t peak() const override { return blocks_.peak(); }
  Status copy(const CopyRows& rows) override {
    CopyRows seen = rows;
    seen.to = own(rows.to);
    seen.from = own(rows.from);
    copy_on_host(seen);
    return {};
  }
  Status fill(void* address, int value, size_t bytes) override {
    std::memset(own(address), value, bytes);
    return {};
  }

 private:
  void* own(const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return contains(at) ? bytes_.data() + (at - blocks_.base()) : const_cast<void*>(address);
  }
  FreeBlocks blocks_;
  std::vector<std::byte> bytes_;
};

class HeldQueue final : public Queue {
 public:
  Status copy(const CopyRows& rows) override {
    work_.push_back([rows] { return copy_rows(rows); });
    return {};
  }
  Status fill(void* address, int value, size_t bytes) override {
    if (!refusal_.ok()) return std::exchange(refusal_, {});
    work_.push_back([=] { return fill_bytes(address, value, bytes); });
    return {};
  }
  bool idle() const override { return work_.empty(); }
  void when_idle(std::function<void(Status)> done) override { done_ = std::move(done); }
  void keep(std::shared_ptr<void> resource) override { kept_.push_back(std::move(resource)); }

  bool waited_for() const { return done_ != nullptr; }
  size_t length() const { return work_.size(); }
  void refuse(Status why) { refusal_ = std::move(why); }  // the next fill
  void work(Status outcome = {}) {
    for (const auto& one : work_) (void)one();
    work_.clear();
    kept_.clear();
    std::exchange(done_, nullptr)(std::move(outcome));
  }

 private:
  std::deque<std::function<Status()>> work_;
  std::function<void(Status)> done_;
  Status refusal_;
  std::vector<std::shared_ptr<void>> kept_;
};

class RemoteDevice final : public Device {
 public:
  explicit RemoteDevice(int32_t id) : Device(id, id) {}
  const Capabilities& capabilities() const override {
    static constexpr Capabilities kRemote{.backend = "remote",
                                          .host_readable = false,
                                          .finishes_calls = false,
                                          .shared_memory = false};
    return kRemote;
  }
  std::string description() const override { return "remote"; }
  Result<std::shared_ptr<DeviceMemory>> memory() override {
    return std::shared_ptr<DeviceMemory>(memory_);
  }
  size_t memory_total() const override { return RemoteMemory::kBytes; }
  size_t memory_used() const override { return memory_->used(); }
  std::shared_ptr<Queue> create_queue(uint32_t) override { return queue; }

  const std::shared_ptr<HeldQueue> queue = std::make_shared<HeldQueue>();

 private:
  const std::shared_ptr<RemoteMemory> memory_ = RemoteMemory::create();
};

}  // namespace anynpu::device
