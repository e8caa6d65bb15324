// SPDX-License-Identifier: Apache-2.0
// Dumps that a program takes itself (acldumpRegCallback): instead of files, their bytes come in
// chunks, in order, in the thread that runs the operator. The documents give `flag` no meaning; it
// comes back in every chunk.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "acl/acl_dump.h"
#include "api/acl/entry.h"
#include "exec/dump_file.h"

using namespace anynpu;
using acl::enter;

namespace {

using DumpCallback = int32_t (*)(const acldumpChunk*, int32_t);
constexpr size_t kChunkBytes = size_t{1} << 20;

std::atomic<DumpCallback> dump_callback{nullptr};
std::atomic<int32_t> dump_flag{0};

Status send_chunks(const std::string& path, std::string_view bytes) {
  const DumpCallback callback = dump_callback.load(std::memory_order_acquire);
  if (!callback) return {};
  if (path.size() >= ACL_DUMP_MAX_FILE_PATH_LENGTH) {
    return fail(Code::io_error, "the path of a dump has {} letters; expected at most {}",
                path.size(), ACL_DUMP_MAX_FILE_PATH_LENGTH - 1);
  }
  std::vector<std::byte> room(sizeof(acldumpChunk) + std::min(kChunkBytes, bytes.size()));
  auto* chunk = new (room.data()) acldumpChunk{};
  std::memcpy(chunk->fileName, path.c_str(), path.size() + 1);
  chunk->flag = dump_flag.load(std::memory_order_relaxed);
  size_t at = 0;
  do {
    const size_t count = std::min(kChunkBytes, bytes.size() - at);
    chunk->offset = static_cast<int64_t>(at);
    chunk->bufLen = static_cast<uint32_t>(count);
    chunk->isLastChunk = at + count == bytes.size() ? 1 : 0;
    if (count > 0) std::memcpy(chunk->dataBuf, bytes.data() + at, count);
    const int32_t answer = callback(chunk, static_cast<int32_t>(sizeof(acldumpChunk) + count));
    if (answer != 0) {
      return fail(Code::io_error,
                  "the callback for dumps returned {} for byte {} of '{}'; expected 0", answer, at,
                  path);
    }
    at += count;
  } while (at < bytes.size());
  return {};
}

void forget_dump_callback() {
  exec::set_dump_sink(nullptr);
  dump_callback.store(nullptr, std::memory_order_release);
}

}  // namespace

extern "C" {

aclError acldumpRegCallback(int32_t (*messageCallback)(const acldumpChunk*, int32_t),
                            int32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(
        acl::check_pointer(reinterpret_cast<const void*>(messageCallback), "messageCallback"));
    static const bool once = (acl::on_finalize(forget_dump_callback), true);
    (void)once;
    dump_flag.store(flag, std::memory_order_relaxed);
    dump_callback.store(messageCallback, std::memory_order_release);
    exec::set_dump_sink(send_chunks);
    return {};
  });
}

void acldumpUnregCallback(void) {
  (void)enter(__func__, []() -> Status {
    forget_dump_callback();
    return {};
  });
}

}  // extern "C"
