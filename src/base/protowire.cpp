// SPDX-License-Identifier: Apache-2.0
#include "base/protowire.h"

#include <bit>
#include <cstring>

namespace anynpu {

namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

std::string_view name_of(WireType type) {
  switch (type) {
    case WireType::varint:
      return "varint";
    case WireType::fixed64:
      return "fixed64";
    case WireType::bytes:
      return "length-delimited";
    case WireType::fixed32:
      return "fixed32";
  }
  return "unknown";
}

Status wrong_type(const WireField& field, WireType expected) {
  return fail(
      Code::parse_error,
      "protobuf field {} at offset {} is {}, expected {}; the file is damaged or of another "
      "kind",
      field.number, field.offset, name_of(field.type), name_of(expected));
}

// Reads one varint; 0 = none (truncated or over 64 bits), else the bytes used.
size_t decode_varint(std::span<const std::byte> data, uint64_t& out) {
  uint64_t value = 0;
  for (size_t i = 0; i < data.size() && i < 10; ++i) {
    const auto byte = static_cast<uint64_t>(data[i]);
    if (i == 9 && byte > 1) return 0;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      out = value;
      return i + 1;
    }
  }
  return 0;
}

template <typename T>
Status append_varints(const WireField& field, std::vector<T>& out) {
  if (field.type == WireType::varint) {
    out.push_back(static_cast<T>(field.bits));
    return {};
  }
  if (field.type != WireType::bytes) return wrong_type(field, WireType::varint);
  for (auto rest = field.bytes; !rest.empty();) {
    uint64_t value = 0;
    const size_t used = decode_varint(rest, value);
    if (used == 0) {
      return fail(
          Code::parse_error,
          "protobuf field {} at offset {}: a packed integer is cut short; the file is damaged",
          field.number, field.offset);
    }
    out.push_back(static_cast<T>(value));
    rest = rest.subspan(used);
  }
  return {};
}

template <typename T, typename Bits, WireType kType>
Status append_fixed(const WireField& field, std::vector<T>& out) {
  if (field.type == kType) {
    out.push_back(std::bit_cast<T>(static_cast<Bits>(field.bits)));
    return {};
  }
  if (field.type != WireType::bytes) return wrong_type(field, kType);
  if (field.bytes.size() % sizeof(T) != 0) {
    return fail(
        Code::parse_error,
        "protobuf field {} at offset {} has {} bytes, expected a multiple of {}; the file is "
        "damaged",
        field.number, field.offset, field.bytes.size(), sizeof(T));
  }
  const size_t before = out.size();
  out.resize(before + field.bytes.size() / sizeof(T));
  if (!field.bytes.empty())
    std::memcpy(out.data() + before, field.bytes.data(), field.bytes.size());
  return {};
}

}  // namespace

Status WireField::to(int64_t& out) const {
  if (type != WireType::varint) return wrong_type(*this, WireType::varint);
  out = static_cast<int64_t>(bits);
  return {};
}

Status WireField::to(uint64_t& out) const {
  if (type != WireType::varint) return wrong_type(*this, WireType::varint);
  out = bits;
  return {};
}

Status WireField::to(float& out) const {
  if (type != WireType::fixed32) return wrong_type(*this, WireType::fixed32);
  out = std::bit_cast<float>(static_cast<uint32_t>(bits));
  return {};
}

Status WireField::to(double& out) const {
  if (type != WireType::fixed64) return wrong_type(*this, WireType::fixed64);
  out = std::bit_cast<double>(bits);
  return {};
}

Status WireField::to(std::string_view& out) const {
  if (type != WireType::bytes) return wrong_type(*this, WireType::bytes);
  out = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return {};
}

Status WireField::to(std::string& out) const {
  std::string_view view;
  ANYNPU_TRY(to(view));
  out.assign(view);
  return {};
}

Status WireField::to(std::span<const std::byte>& out) const {
  if (type != WireType::bytes) return wrong_type(*this, WireType::bytes);
  out = bytes;
  return {};
}

Status WireField::append_to(std::vector<int64_t>& out) const { return append_varints(*this, out); }
Status WireField::append_to(std::vector<uint64_t>& out) const { return append_varints(*this, out); }
Status WireField::append_to(std::vector<float>& out) const {
  return append_fixed<float, uint32_t, WireType::fixed32>(*this, out);
}
Status WireField::append_to(std::vector<double>& out) const {
  return append_fixed<double, uint64_t, WireType::fixed64>(*this, out);
}

WireReader::WireReader(const WireField& field)
    : message_(field.bytes), base_(field.offset), depth_(field.depth + 1) {
  if (field.type != WireType::bytes) {
    status_ = wrong_type(field, WireType::bytes);
  } else if (depth_ > kMaxWireDepth) {
    status_ = fail(Code::parse_error,
                   "protobuf field {} at offset {} is nested {} levels deep, expected at most {}",
                   field.number, field.offset, depth_, kMaxWireDepth);
  }
}

bool WireReader::stop(std::string_view reason) {
  status_ =
      fail(Code::parse_error,
           "protobuf message: {} at offset {}; the file is damaged, cut short or of another kind",
           reason, base_ + position_);
  return false;
}

bool WireReader::read_varint(uint64_t& out) {
  const size_t used = decode_varint(message_.subspan(position_), out);
  position_ += used;
  return used != 0;
}

bool WireReader::next(WireField& field) {
  if (!status_.ok() || position_ == message_.size()) return false;
  field.offset = base_ + position_;
  field.depth = depth_;
  uint64_t key = 0;
  if (!read_varint(key)) return stop("bad field key");
  if (key >> 3 == 0 || key >> 3 > 0x1fffffff) return stop("bad field number");
  field.number = static_cast<uint32_t>(key >> 3);
  field.type = static_cast<WireType>(key & 7);
  field.bits = 0;
  field.bytes = {};
  const size_t left = message_.size() - position_;
  switch (field.type) {
    case WireType::varint:
      if (!read_varint(field.bits)) return stop("bad varint");
      return true;
    case WireType::fixed64:
    case WireType::fixed32: {
      const size_t size = field.type == WireType::fixed64 ? 8 : 4;
      if (left < size) return stop("fixed-size value runs over the end");
      std::memcpy(&field.bits, message_.data() + position_, size);
      position_ += size;
      return true;
    }
    case WireType::bytes: {
      uint64_t size = 0;
      if (!read_varint(size)) return stop("bad length");
      if (size > message_.size() - position_) return stop("length runs over the end");
      field.bytes = message_.subspan(position_, size);
      position_ += size;
      return true;
    }
  }
  return stop("unknown wire type");
}

void WireWriter::raw_varint(uint64_t value) {
  while (value >= 0x80) {
    data_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  data_ += static_cast<char>(value);
}

void WireWriter::key(uint32_t number, WireType type) {
  raw_varint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
}

void WireWriter::varint(uint32_t number, uint64_t value) {
  key(number, WireType::varint);
  raw_varint(value);
}

void WireWriter::real(uint32_t number, float value) {
  key(number, WireType::fixed32);
  data_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::real(uint32_t number, double value) {
  key(number, WireType::fixed64);
  data_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void WireWriter::text(uint32_t number, std::string_view value) {
  key(number, WireType::bytes);
  raw_varint(value.size());
  data_.append(value);
}

void WireWriter::bytes(uint32_t number, std::span<const std::byte> value) {
  text(number, {reinterpret_cast<const char*>(value.data()), value.size()});
}

void WireWriter::packed(uint32_t number, std::span<const int64_t> values) {
  WireWriter inner;
  for (int64_t value : values) inner.raw_varint(static_cast<uint64_t>(value));
  text(number, inner.data_);
}

void WireWriter::packed(uint32_t number, std::span<const float> values) {
  bytes(number, std::as_bytes(values));
}

}  // namespace anynpu
