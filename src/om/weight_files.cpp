// SPDX-License-Identifier: Apache-2.0
// Weights outside the .om: the section that names the files, and reading them.
#include <filesystem>

#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "om/codec.h"
#include "om/container.h"

namespace anynpu::om {

std::shared_ptr<const graph::Constant> Weights::find(uint64_t offset, uint64_t size) const {
  for (const Piece& piece : pieces) {
    if (offset < piece.offset || offset - piece.offset > piece.bytes.size()) continue;
    const uint64_t begin = offset - piece.offset;
    if (size > piece.bytes.size() - begin) continue;
    return std::make_shared<const graph::Constant>(
        graph::Constant{piece.owner, piece.bytes.subspan(begin, size)});
  }
  return nullptr;
}

WireWriter encode_files(const std::vector<WeightFile>& files) {
  WireWriter out;
  for (const WeightFile& file : files) {
    WireWriter one;
    one.text(1, file.name);
    one.varint(2, file.offset);
    one.varint(3, file.size);
    one.varint(4, file.checksum);
    out.message(1, one);
  }
  return out;
}

namespace {

Result<WeightFile> decode_file(const WireField& message) {
  WeightFile file;
  uint64_t checksum = 0;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(file.name));
    if (field.number == 2) ANYNPU_TRY(field.to(file.offset));
    if (field.number == 3) ANYNPU_TRY(field.to(file.size));
    if (field.number == 4) ANYNPU_TRY(field.to(checksum));
  }
  ANYNPU_TRY(reader.status());
  file.checksum = static_cast<uint32_t>(checksum);
  // A plain name: files are never looked up outside their folder.
  if (file.name.empty() || file.name.find('/') != std::string::npos || file.name[0] == '.' ||
      file.size >> 48 != 0 || file.offset >> 48 != 0) {
    return fail(Code::corrupt_model, "the file of weights '{}' has no plain name or size",
                file.name);
  }
  return file;
}

}  // namespace

Result<std::vector<WeightFile>> decode_files(WireReader reader) {
  std::vector<WeightFile> files;
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1) continue;
    ANYNPU_ASSIGN(WeightFile file, decode_file(field));
    files.push_back(std::move(file));
  }
  ANYNPU_TRY(reader.status());
  return files;
}

WeightSource weights_in(const std::string& folder) {
  return [folder](const std::string& name) -> Result<OwnedBytes> {
    const std::string path = (std::filesystem::path(folder) / name).string();
    ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while opening the model's weights");
    const auto bytes = file->bytes();
    return OwnedBytes{std::move(file), bytes};
  };
}

std::string weight_folder(const std::string& model_path) {
  return (std::filesystem::path(model_path).parent_path() / "weight").string();
}

}  // namespace anynpu::om
