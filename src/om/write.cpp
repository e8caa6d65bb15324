// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/crc32c.h"
#include "base/mapped_file.h"
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

// The file as a list of pieces: weights are written from where they lie.
class Image {
 public:
  explicit Image(const Model& model) {
    texts_[0] = encode_meta(model.meta).take();
    texts_[1] = encode_graph(model.graph, weights_).take();
    header_.magic = kMagic;
    header_.version = kFormatVersion;
    header_.section_count = static_cast<uint32_t>(sections_.size());
    uint64_t at = sizeof(Header) + sizeof sections_;
    parts_.resize(2);
    pad(at, nullptr);
    add(SectionKind::meta, {std::as_bytes(std::span(texts_[0]))}, at);
    add(SectionKind::graph, {std::as_bytes(std::span(texts_[1]))}, at);
    std::vector<Bytes> pieces;
    for (const auto& constant : weights_.list()) pieces.push_back(constant->bytes);
    add(SectionKind::weights, pieces, at);
    header_.file_size = at;
    header_.checksum = crc32c(bytes_of_object(sections_), crc32c(bytes_of_object(header_)));
    parts_[0] = bytes_of_object(header_);
    parts_[1] = bytes_of_object(sections_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  const std::vector<Bytes>& parts() const { return parts_; }
  uint64_t size() const { return header_.file_size; }

 private:
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
    const Bytes zeros = Bytes(kZeros).first(align_up(size) - size);
    parts_.push_back(zeros);
    if (checksum) *checksum = crc32c(zeros, *checksum);
    size += zeros.size();
  }

  WeightTable weights_;
  std::array<std::string, 2> texts_;
  Header header_{};
  std::array<Section, 3> sections_{};
  size_t next_ = 0;
  std::vector<Bytes> parts_;
};

}  // namespace

Status write_file(const Model& model, const std::string& path) {
  const Image image(model);
  return write_file_atomically(path, image.parts());
}

Result<std::vector<std::byte>> to_bytes(const Model& model) {
  const Image image(model);
  std::vector<std::byte> bytes;
  bytes.reserve(image.size());
  for (const Bytes& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

}  // namespace anynpu::om
