// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <filesystem>

#include "base/align.h"
#include "base/content_hash.h"
#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "base/whole_file.h"
#include "om/codec.h"
#include "om/container.h"
#include "om/layout.h"

namespace anynpu::om {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::array<std::byte, kAlignment> kZeros{};

template <typename T>
Bytes bytes_of_object(const T& object) {
  return std::as_bytes(std::span(&object, 1));
}

// The file as a list of pieces: weights are written without a copy.
class Image {
 public:
  Image(const Model& model, WeightPlace place, const std::string& name)
      : sections_(place == WeightPlace::inside ? 3 : 4) {
    texts_[0] = encode_meta(model.meta).take();
    texts_[1] = encode_graph(model.graph, weights_).take();
    header_.magic = kMagic;
    header_.version = kFormatVersion;
    header_.section_count = static_cast<uint32_t>(sections_.size());
    uint64_t at = sizeof(Header) + sections_.size() * sizeof(Section);
    parts_.resize(2);
    pad(at, nullptr);
    add(SectionKind::meta, {std::as_bytes(std::span(texts_[0]))}, at);
    add(SectionKind::graph, {std::as_bytes(std::span(texts_[1]))}, at);
    std::vector<Bytes> pieces;
    for (const auto& constant : weights_.list()) pieces.push_back(constant->bytes);
    if (place == WeightPlace::inside) {
      add(SectionKind::weights, pieces, at);
    } else {
      add(SectionKind::weights, {}, at);
      place == WeightPlace::one_file ? gather(pieces, name) : spread(pieces);
      std::vector<WeightFile> infos;
      for (const File& file : files_) infos.push_back(file.info);
      texts_[2] = encode_files(infos).take();
      add(SectionKind::weight_files, {std::as_bytes(std::span(texts_[2]))}, at);
    }
    header_.file_size = at;
    const Bytes table = std::as_bytes(std::span(sections_));
    header_.checksum = crc32c(table, crc32c(bytes_of_object(header_)));
    parts_[0] = bytes_of_object(header_);
    parts_[1] = table;
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const std::vector<Bytes>& parts() const { return parts_; }
  uint64_t size() const { return header_.file_size; }

  struct File {
    WeightFile info;
    std::vector<Bytes> parts;
  };
  const std::vector<File>& files() const { return files_; }

 private:
  // One file for each constant, named by the hash of its content: models of the same weights share
  // them, and two contents never meet under one name.
  void spread(const std::vector<Bytes>& pieces) {
    uint64_t offset = 0;
    for (const Bytes& piece : pieces) {
      File file{{"", offset, piece.size(), crc32c(piece)}, {piece}};
      file.info.name = format("weight_{}", content_hash(piece));
      files_.push_back(std::move(file));
      offset += round_up(piece.size(), kAlignment);
    }
  }

  void gather(const std::vector<Bytes>& pieces, const std::string& name) {
    File file{{name + "_weight_combined", 0, 0, 0}, {}};
    for (const Bytes& piece : pieces) {
      for (const Bytes& part :
           {piece, Bytes(kZeros).first(round_up(piece.size(), kAlignment) - piece.size())}) {
        file.parts.push_back(part);
        file.info.checksum = crc32c(part, file.info.checksum);
        file.info.size += part.size();
      }
    }
    files_.push_back(std::move(file));
  }

  // Appends pieces, each padded to the alignment; the padding of the last is not part of the
  // section.
  void add(SectionKind kind, const std::vector<Bytes>& pieces, uint64_t& at) {
    Section& section = sections_[next_++];
    section.kind = kind;
    section.offset = at;
    uint64_t size = 0;
    for (const Bytes& piece : pieces) {
      pad(size, &section.checksum);
      parts_.push_back(piece);
      section.checksum = crc32c(piece, section.checksum);
      size += piece.size();
    }
    section.size = size;
    pad(size, nullptr);
    at += size;
  }

  void pad(uint64_t& size, uint32_t* checksum) {
    const Bytes zeros = Bytes(kZeros).first(round_up(size, kAlignment) - size);
    parts_.push_back(zeros);
    if (checksum) *checksum = crc32c(zeros, *checksum);
    size += zeros.size();
  }

  WeightTable weights_;
  std::array<std::string, 3> texts_;
  Header header_{};
  std::vector<Section> sections_;
  std::vector<File> files_;
  size_t next_ = 0;
  std::vector<Bytes> parts_;
};

// Whether the file exists and holds these bytes: an existing file is never trusted by name.
bool holds(const std::string& path, const std::vector<Bytes>& parts) {
  const auto file = MappedFile::open(path);
  if (!file.ok()) return false;
  Bytes rest = (*file)->bytes();
  for (const Bytes& part : parts) {
    if (rest.size() < part.size() ||
        (!part.empty() && std::memcmp(rest.data(), part.data(), part.size()) != 0))
      return false;
    rest = rest.subspan(part.size());
  }
  return rest.empty();
}

}  // namespace

Status write_file(const Model& model, const std::string& path, WeightPlace place) {
  namespace fs = std::filesystem;
  const Image image(model, place, fs::path(path).stem().string());
  if (!image.files().empty()) {
    std::error_code error;
    fs::create_directories(weight_folder(path), error);
    if (error) {
      return fail(Code::io_error, "cannot make the folder '{}': {}", weight_folder(path),
                  error.message());
    }
  }
  for (const Image::File& file : image.files()) {
    const std::string file_path = (fs::path(weight_folder(path)) / file.info.name).string();
    if (!holds(file_path, file.parts)) ANYNPU_TRY(write_file_atomically(file_path, file.parts));
  }
  return write_file_atomically(path, image.parts());
}

Result<std::vector<std::byte>> to_bytes(const Model& model) {
  const Image image(model, WeightPlace::inside, "");
  std::vector<std::byte> bytes;
  bytes.reserve(image.size());
  for (const Bytes& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace anynpu::om
