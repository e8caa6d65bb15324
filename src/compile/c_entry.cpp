// SPDX-License-Identifier: Apache-2.0
#include "compile/c_entry.h"

#include <algorithm>
#include <cstring>

#include "om/bundle.h"

namespace {

anynpu::Status bundle_models(const char* const* models, size_t count, const char* output_path) {
  if (!models || !output_path || std::find(models, models + count, nullptr) != models + count) {
    return anynpu::fail(anynpu::Code::invalid_argument,
                        "the models and output_path must not be null");
  }
  return anynpu::om::write_bundle({models, models + count}, output_path);
}

std::string text_of(const std::vector<anynpu::om::TensorInfo>& infos) {
  std::string text;
  for (const auto& info : infos) {
    text += anynpu::format("{}{}: {}{}", text.empty() ? "" : ", ", info.name,
                           anynpu::name_of(info.dtype), info.shape);
  }
  return text;
}

anynpu::Status list_models(const char* path, void (*show)(const char*)) {
  if (!path || !show) {
    return anynpu::fail(anynpu::Code::invalid_argument, "path and show must not be null");
  }
  ANYNPU_ASSIGN(const auto entries, anynpu::om::list_bundle(path));
  for (size_t i = 0; i < entries.size(); ++i) {
    const anynpu::om::Meta& meta = entries[i].meta;
    show(anynpu::format("{} {} {} bytes: {} -> {}", i, meta.name, entries[i].bytes,
                        text_of(meta.inputs), text_of(meta.outputs))
             .c_str());
  }
  return {};
}

int finish(const anynpu::Status& status, char* message, size_t message_bytes) {
  if (status.ok()) return 0;
  if (message && message_bytes > 0) {
    const std::string text = status.to_string();
    const size_t length = std::min(text.size(), message_bytes - 1);
    std::memcpy(message, text.data(), length);
    message[length] = '\0';
  }
  return 1;
}

}  // namespace

int anynpu_bundle(const char* const* models, size_t count, const char* output_path, char* message,
                  size_t message_bytes) {
  return finish(bundle_models(models, count, output_path), message, message_bytes);
}

int anynpu_bundle_list(const char* path, void (*show)(const char* line), char* message,
                       size_t message_bytes) {
  return finish(list_models(path, show), message, message_bytes);
}
