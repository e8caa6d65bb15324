// SPDX-License-Identifier: Apache-2.0
#include "tensor/texts.h"

#include <cstdint>
#include <cstring>

namespace anynpu {

namespace {

struct Head {
  uint64_t offset = 0;
  uint64_t length = 0;
};

}  // namespace

std::vector<std::byte> pack_texts(std::span<const std::string_view> texts) {
  size_t total = texts.size() * sizeof(Head);
  for (std::string_view text : texts) total += text.size();
  std::vector<std::byte> bytes(total);
  Head head{texts.size() * sizeof(Head), 0};
  for (size_t i = 0; i < texts.size(); ++i) {
    head.length = texts[i].size();
    std::memcpy(bytes.data() + i * sizeof(Head), &head, sizeof(Head));
    if (head.length > 0) std::memcpy(bytes.data() + head.offset, texts[i].data(), head.length);
    head.offset += head.length;
  }
  return bytes;
}

Result<std::vector<std::string_view>> unpack_texts(std::span<const std::byte> bytes, size_t count) {
  if (count > bytes.size() / sizeof(Head)) {
    return fail(Code::corrupt_model, "{} strings are said to lie in {} bytes; the data is damaged",
                count, bytes.size());
  }
  std::vector<std::string_view> texts;
  texts.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    Head head;
    std::memcpy(&head, bytes.data() + i * sizeof(Head), sizeof(Head));
    if (head.offset > bytes.size() || head.length > bytes.size() - head.offset) {
      return fail(Code::corrupt_model,
                  "string {} is said to lie at {}, {} bytes long, in {} bytes; the data is damaged",
                  i, head.offset, head.length, bytes.size());
    }
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + head.offset, head.length);
  }
  return texts;
}

}  // namespace anynpu
