// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format, read without copies and written without a schema compiler. WireReader
// walks the fields of one message inside memory the caller keeps alive; a field that runs over the
// end, a bad varint, a group or nesting past kMaxWireDepth ends the walk and leaves a parse_error
// that names the offset. WireWriter appends fields to a string.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu {

constexpr int kMaxWireDepth = 64;

enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// One field. `bits` holds varint, fixed64 and fixed32 values; `bytes` the length-delimited ones.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t bits = 0;
  std::span<const std::byte> bytes;
  size_t offset = 0;  // of the field's key, from the start of the outermost message
  int depth = 0;

  // Each fails with parse_error when the field has another wire type.
  Status to(int64_t& out) const;
  Status to(uint64_t& out) const;
  Status to(float& out) const;
  Status to(double& out) const;
  Status to(std::string& out) const;
  Status to(std::string_view& out) const;
  Status to(std::span<const std::byte>& out) const;

  // Repeated scalars: one element, or a packed run of them.
  Status append_to(std::vector<int64_t>& out) const;
  Status append_to(std::vector<uint64_t>& out) const;
  Status append_to(std::vector<float>& out) const;
  Status append_to(std::vector<double>& out) const;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : message_(message) {}
  // The message inside a length-delimited field; status() fails if it is not one.
  explicit WireReader(const WireField& field);

  // Moves to the next field; false at the end and after a failure.
  bool next(WireField& field);
  // Why the walk ended; ok at the proper end.
  Status status() const { return status_; }

 private:
  bool read_varint(uint64_t& out);
  bool stop(std::string_view reason);

  std::span<const std::byte> message_;
  size_t position_ = 0;
  size_t base_ = 0;  // offset of message_ in the outermost message
  int depth_ = 0;
  Status status_;
};

class WireWriter {
 public:
  void varint(uint32_t number, uint64_t value);
  void integer(uint32_t number, int64_t value) { varint(number, static_cast<uint64_t>(value)); }
  void real(uint32_t number, float value);
  void real(uint32_t number, double value);
  void bytes(uint32_t number, std::span<const std::byte> value);
  void text(uint32_t number, std::string_view value);
  void message(uint32_t number, const WireWriter& value) { text(number, value.data()); }
  void packed(uint32_t number, std::span<const int64_t> values);
  void packed(uint32_t number, std::span<const float> values);

  const std::string& data() const { return data_; }
  std::string take() { return std::move(data_); }

 private:
  void key(uint32_t number, WireType type);
  void raw_varint(uint64_t value);
  std::string data_;
};

}  // namespace anynpu
