// SPDX-License-Identifier: Apache-2.0
// A context holds streams and events of one device. It has a default stream that lives as long as
// the context. A device's default context is created by the first set_device and ends with the last
// reset_device; explicit ones end with destroy. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/device.h"
#include "device/stream.h"

namespace anynpu::device {

class Context : public std::enable_shared_from_this<Context> {
 public:
  enum class Origin : uint8_t { implicit, explicitly };

  // Called by Runtime, which announces the default stream (stream_observer.h); that stream exists
  // when this returns.
  static Result<std::shared_ptr<Context>> create(std::shared_ptr<Device> device, Origin origin);

  const std::shared_ptr<Device>& device() const { return device_; }
  bool is_default() const { return origin_ == Origin::implicit; }
  Handle handle() const { return handle_; }
  void set_handle(Handle handle) { handle_ = handle; }

  const std::shared_ptr<Stream>& default_stream() const { return default_stream_; }
  Handle default_stream_handle() const { return default_stream_handle_; }

  // A new stream and its handle. Fails at the device's limit.
  Result<Handle> create_stream(StreamOptions options);
  // synchronize() no longer waits for a destroyed stream, even if it is still referenced.
  void forget_stream(const Stream& stream);
  // Waits for every stream of this context; returns the first failure after all of them.
  Status synchronize(const Deadline& deadline);
  // A stream stopped at a failure: stops the other streams of this context too.
  void halt_others(const Stream& failed, const Status& why);
  // Drops queued work of every stream.
  void abort();
  // Ends the context: queued work is finished; streams refuse new work and can still be destroyed.
  // Streams that stay parked share the time limit `patience`.
  void shut_down(Stream::Close how, const Deadline& patience);
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  // Parameters a program sets per context (overflow mode and the like), by option number.
  static constexpr int kOptions = 8;
  Status set_option(int option, int64_t value);
  Result<int64_t> option(int option) const;

 private:
  Context(std::shared_ptr<Device> device, Origin origin);
  std::vector<std::shared_ptr<Stream>> streams();
  Result<Handle> add_stream(StreamOptions options);

  const std::shared_ptr<Device> device_;
  const Origin origin_;
  Handle handle_ = 0;
  std::shared_ptr<Stream> default_stream_;
  Handle default_stream_handle_ = 0;
  mutable std::mutex mutex_;
  std::atomic<bool> ended_{false};
  std::vector<std::weak_ptr<Stream>> streams_;
  int64_t options_[kOptions] = {};
  bool option_set_[kOptions] = {};
};

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Context, context);
}
