// SPDX-License-Identifier: Apache-2.0
// The frame of the entry points of the second media interface: that of src/api/acl/entry.h, with
// the numbers of the units instead of aclError. Channels are known by the number the program chose.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "acl/dvpp/hi_dvpp.h"
#include "api/acl/entry.h"
#include "base/interrupt.h"
#include "device/runtime.h"
#include "media/rules.h"
#include "media/support.h"

namespace anynpu::mpi {

// As in the numbers of errors: 0xA0058003 is error 3 of the decoder.
enum class Module : uint32_t { sys = 2, vdec = 5, vpc = 7, venc = 8, pngd = 64 };

hi_s32 number_of(Module module, Code code);

// Whether hi_mpi_sys_init was called.
Status check_system();
void set_system(bool running);

enum class Needs { system, nothing };

template <Needs needs = Needs::system, typename Body>
hi_s32 enter(const char* function, Module module, Body&& body) {
  return acl::enter(function, [&]() -> acl::Failure {
    Status status = needs == Needs::system ? check_system() : Status();
    if (status.ok()) status = body();
    if (status.ok()) return {};
    const hi_s32 number = number_of(module, status.code());
    return {number, std::move(status)};
  });
}

inline Status check_pointer(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return fail(Code::invalid_handle, "{} is null", name);  // becomes the number of a null pointer
}

// The channels of one unit.
template <typename T>
class Channels {
 public:
  Channels(const char* unit, int32_t most) : unit_(unit), most_(most) {}

  template <typename Make>
  Status create(int32_t number, Make&& make) {
    if (number < 0 || number >= most_)
      return fail(Code::invalid_device, "the channel is {}; {} has channels 0 to {}", number, unit_,
                  most_ - 1);
    const std::lock_guard lock(mutex_);
    if (channels_.count(number))
      return fail(Code::already_exists, "channel {} of {} exists already; destroy it first", number,
                  unit_);
    ANYNPU_ASSIGN(auto made, make());
    channels_[number] = std::move(made);
    return {};
  }
  Result<std::shared_ptr<T>> find(int32_t number) {
    const std::lock_guard lock(mutex_);
    const auto at = channels_.find(number);
    if (at != channels_.end()) return at->second;
    return fail(Code::not_found, "{} has no channel {}; create it first", unit_, number);
  }
  // After the channel's work is done: a task keeps its channel alive, and the last to let go ends
  // the stream, which a task of that stream cannot wait for.
  Result<std::shared_ptr<T>> remove(int32_t number) {
    std::shared_ptr<T> channel;
    {
      const std::lock_guard lock(mutex_);
      const auto at = channels_.find(number);
      if (at == channels_.end())
        return fail(Code::not_found, "{} has no channel {}; create it first", unit_, number);
      channel = std::move(at->second);
      channels_.erase(at);
    }
    channel->drain();
    return channel;
  }
  // The first number that is free; -1 for none.
  int32_t free_number() {
    const std::lock_guard lock(mutex_);
    for (int32_t i = 0; i < most_; ++i)
      if (!channels_.count(i)) return i;
    return -1;
  }
  void remove_all() {
    std::map<int32_t, std::shared_ptr<T>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken = std::exchange(channels_, {});
    }
    for (auto& [number, channel] : taken) channel->drain();
  }

 private:
  const char* unit_;
  const int32_t most_;
  std::mutex mutex_;
  std::map<int32_t, std::shared_ptr<T>> channels_;
};

// A stream of the channel's own, ended with it.
class OwnStream {
 public:
  static Result<OwnStream> make();
  OwnStream() = default;
  OwnStream(OwnStream&& other) noexcept { *this = std::move(other); }
  OwnStream& operator=(OwnStream&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~OwnStream();
  device::Stream& operator*() const { return *stream_; }
  device::Stream* operator->() const { return stream_.get(); }

 private:
  Handle handle_ = 0;
  std::shared_ptr<device::Stream> stream_;
};

// Waits on `changed` until ready() or the time (-1: for ever, 0: not at all) is over.
template <typename Ready>
Status wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                  hi_s32 milli_sec, Ready&& ready, const char* what) {
  if (milli_sec < -1)
    return fail(Code::invalid_argument, "the time is {} ms; expected -1 (for ever) or more",
                milli_sec);
  const Deadline deadline = Deadline::after_ms(milli_sec);
  while (!ready()) {
    const WaitEnd end = milli_sec == 0 ? WaitEnd::timed_out : wait_turn(changed, lock, deadline);
    if (end == WaitEnd::interrupted) return fail(Code::cancelled, "the wait was interrupted");
    if (end == WaitEnd::timed_out && !ready())
      return fail(Code::not_complete, "{} within {} ms", what, milli_sec);
  }
  return {};
}

// A number that can be waited for with epoll, select and poll: readable while something is there.
class Signal {
 public:
  ~Signal();
  // Opens it on first use.
  Result<hi_s32> fd();
  void close();
  void set(bool readable);

 private:
  std::mutex mutex_;
  int fd_ = -1;
  bool wanted_ = false;
  bool readable_ = false;
};

// What a JPEG or PNG file decodes to.
Status describe_file(hi_payload_type img_type, const hi_u8* data, hi_u32 bytes,
                     hi_img_info* img_info);

// Ends what is open of each unit; hi_mpi_sys_exit.
void close_vpc();
void close_vdec();
void close_venc();
void close_pngd();

inline media::PictureSpec spec_of(const hi_vpc_pic_info& p) {
  return {p.picture_address, p.picture_buffer_size,  p.picture_format,       p.picture_width,
          p.picture_height,  p.picture_width_stride, p.picture_height_stride};
}

}  // namespace anynpu::mpi
