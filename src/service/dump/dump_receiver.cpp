// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_receiver.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "exec/dump_file.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

struct Registration {
  DumpReceiver receiver;
  size_t most_path = 0;
};

struct ReceiverSlot {
  std::mutex mutex;
  std::shared_ptr<const Registration> current;  // null: dumps are written to files
};

ReceiverSlot& receiver_slot() {
  static auto* one = new ReceiverSlot;  // never destroyed: used until the process ends
  return *one;
}

std::shared_ptr<const Registration> current_registration() {
  const std::lock_guard lock(receiver_slot().mutex);
  return receiver_slot().current;
}

Status send_chunks(const std::string& path, std::string_view bytes) {
  const auto registration = current_registration();
  if (!registration) return {};
  if (path.size() > registration->most_path) {
    return fail(Code::io_error, "the path of a dump has {} letters; expected at most {}",
                path.size(), registration->most_path);
  }
  size_t at = 0;
  do {
    const std::string_view chunk = bytes.substr(at, kChunkBytes);
    const bool last = at + chunk.size() == bytes.size();
    if (const int32_t answer = registration->receiver({path, at, chunk, last})) {
      return fail(Code::io_error,
                  "the callback for dumps returned {} for byte {} of '{}'; expected 0", answer, at,
                  path);
    }
    at += chunk.size();
  } while (at < bytes.size());
  return {};
}

}  // namespace

Status receive_dumps(DumpReceiver receiver, size_t most_path) {
  on_finalize([] { (void)stop_receiving_dumps(); });
  {
    const std::lock_guard lock(receiver_slot().mutex);
    receiver_slot().current =
        std::make_shared<const Registration>(Registration{std::move(receiver), most_path});
  }
  exec::set_dump_sink(send_chunks);
  return {};
}

Status stop_receiving_dumps() {
  exec::set_dump_sink(nullptr);
  const std::lock_guard lock(receiver_slot().mutex);
  receiver_slot().current.reset();
  return {};
}

}  // namespace anynpu::service
