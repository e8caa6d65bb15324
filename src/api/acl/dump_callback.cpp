// SPDX-License-Identifier: Apache-2.0
// Dumps that a program takes itself (acldumpRegCallback). The documents give `flag` no meaning; it
// comes back in every chunk.
#include <cstring>
#include <memory>

#include "acl/acl_dump.h"
#include "api/acl/entry.h"
#include "service/dump/dump_receiver.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

using DumpCallback = int32_t (*)(const acldumpChunk*, int32_t);

int32_t pass_on(DumpCallback callback, int32_t flag, const service::DumpChunk& dump) {
  const size_t size = sizeof(acldumpChunk) + dump.bytes.size();
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(size);
  auto* chunk = new (memory.get()) acldumpChunk{};
  std::memcpy(chunk->fileName, dump.path.c_str(), dump.path.size() + 1);
  chunk->flag = flag;
  chunk->offset = static_cast<int64_t>(dump.offset);
  chunk->bufLen = static_cast<uint32_t>(dump.bytes.size());
  chunk->isLastChunk = dump.last ? 1 : 0;
  if (!dump.bytes.empty()) std::memcpy(chunk->dataBuf, dump.bytes.data(), dump.bytes.size());
  return callback(chunk, static_cast<int32_t>(size));
}

}  // namespace

extern "C" {

aclError acldumpRegCallback(int32_t (*messageCallback)(const acldumpChunk*, int32_t),
                            int32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(messageCallback), "messageCallback"));
    const auto receive = [messageCallback, flag](const service::DumpChunk& chunk) {
      return pass_on(messageCallback, flag, chunk);
    };
    return service::receive_dumps(receive, ACL_DUMP_MAX_FILE_PATH_LENGTH - 1);
  });
}

void acldumpUnregCallback(void) { (void)enter(__func__, service::stop_receiving_dumps); }

}  // extern "C"
