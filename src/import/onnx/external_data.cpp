// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

namespace {

// The file that `location` means, inside `folder` even after links are followed.
Result<std::string> resolve(const std::string& folder, const std::string& location) {
  namespace fs = std::filesystem;
  const fs::path relative(location);
  bool outside =
      location.empty() || location.find('\0') != std::string::npos || relative.is_absolute();
  for (const fs::path& part : relative) outside = outside || part == "..";
  std::error_code error;
  fs::path target;
  if (!outside) {
    const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
    if (!error) target = fs::weakly_canonical(root / relative, error);
    if (error) {
      return fail(Code::file_not_found,
                  "external data '{}' in folder '{}': {}; put the file beside the model", location,
                  folder, error.message());
    }
    outside = fs::relative(target, root, error).begin()->string() == "..";
  }
  if (outside) {
    return fail(Code::permission_denied,
                "external data '{}' lies outside the folder '{}' of the model; expected a relative "
                "path inside it, save the model again with its data there",
                location, folder);
  }
  return target.string();
}

}  // namespace

Result<graph::Constant> read_external(const ExternalData& where, uint64_t expected,
                                      Source& source) {
  if (source.folder.empty()) {
    return fail(
        Code::unsupported_feature,
        "external data '{}': the model was loaded from memory and has no folder; load it from "
        "its file, or save it with the weights inside",
        where.location);
  }
  auto& file = source.external[where.location];
  if (!file) {
    ANYNPU_ASSIGN(const std::string path, resolve(source.folder, where.location));
    ANYNPU_ASSIGN(file, MappedFile::open(path), "while opening external tensor data");
  }
  const auto bytes = file->bytes();
  const uint64_t length = where.has_length ? where.length : expected;
  if (where.offset > bytes.size() || length > bytes.size() - where.offset) {
    return fail(
        Code::corrupt_model,
        "external data '{}' has {} bytes; the model asks for {} bytes at offset {}; the file "
        "is cut short or belongs to another model",
        where.location, bytes.size(), length, where.offset);
  }
  return graph::Constant{file, bytes.subspan(where.offset, length)};
}

}  // namespace anynpu::onnx
