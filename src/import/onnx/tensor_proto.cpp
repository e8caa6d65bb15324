// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/tensor_proto.h"

#include <charconv>
#include <cstring>
#include <new>

#include "base/align.h"
#include "tensor/onnx_type.h"
#include "tensor/texts.h"

namespace anynpu::onnx {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 50;
// Tensors up to this size are copied to aligned memory: shape rules read them directly, and a view
// into a protobuf file starts at any odd address.
constexpr size_t kCopyLimit = 4096;
constexpr int64_t kUint4 = 21;  // of TensorProto.DataType

// The parts of a TensorProto before they are put together.
struct Parts {
  std::string name;
  Shape dims;
  int64_t type = 0;
  bool has_raw = false;
  std::span<const std::byte> raw;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> ints;  // int32_data and int64_data
  std::vector<uint64_t> unsigneds;
  std::vector<std::string_view> texts;
  bool is_external = false;
  bool segmented = false;
  ExternalData external;
};

Status read_external_entry(const WireField& field, ExternalData& out) {
  WireReader reader(field);
  WireField entry;
  std::string key, value;
  while (reader.next(entry)) {
    if (entry.number == 1) ANYNPU_TRY(entry.to(key));
    if (entry.number == 2) ANYNPU_TRY(entry.to(value));
  }
  ANYNPU_TRY(reader.status());
  if (key == "location") {
    out.location = value;
  } else if (key == "offset" || key == "length") {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) {
      return fail(Code::corrupt_model,
                  "external data: {} is '{}'; expected a number of bytes, save the model again",
                  key, value);
    }
    (key == "offset" ? out.offset : out.length) = number;
    if (key == "length") out.has_length = true;
  }
  return {};
}

Status read_parts(const WireField& message, Parts& parts) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.append_to(parts.dims));
        break;
      case 2:
        ANYNPU_TRY(field.to(parts.type));
        break;
      case 3:
        parts.segmented = true;
        break;
      case 4:
        ANYNPU_TRY(field.append_to(parts.floats));
        break;
      case 5:
      case 7:
        ANYNPU_TRY(field.append_to(parts.ints));
        break;
      case 6:
        ANYNPU_TRY(field.to(parts.texts.emplace_back()));
        break;
      case 8:
        ANYNPU_TRY(field.to(parts.name));
        break;
      case 9:
        parts.has_raw = true;
        ANYNPU_TRY(field.to(parts.raw));
        break;
      case 10:
        ANYNPU_TRY(field.append_to(parts.doubles));
        break;
      case 11:
        ANYNPU_TRY(field.append_to(parts.unsigneds));
        break;
      case 13:
        ANYNPU_TRY(read_external_entry(field, parts.external));
        break;
      case 14: {
        int64_t location = 0;
        ANYNPU_TRY(field.to(location));
        parts.is_external = location == 1;
        break;
      }
      default:
        break;
    }
  }
  return reader.status();
}

template <typename To, typename From>
std::vector<std::byte> narrow(const std::vector<From>& list) {
  std::vector<std::byte> bytes(list.size() * sizeof(To));
  for (size_t i = 0; i < list.size(); ++i) {
    const To value = static_cast<To>(list[i]);
    std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

template <typename T>
std::vector<std::byte> as_is(const std::vector<T>& list) {
  const auto bytes = std::as_bytes(std::span(list));
  return {bytes.begin(), bytes.end()};
}

// Elements of 6 bits, one in each number of the list, the first in the lowest bits.
std::vector<std::byte> packed_sixes(const std::vector<int64_t>& list) {
  std::vector<std::byte> bytes(ceil_div(list.size() * 6, 8));
  for (size_t i = 0; i < list.size(); ++i) {
    const size_t at = i * 6 / 8, shift = i * 6 % 8;
    const auto code = static_cast<unsigned>(list[i] & 63) << shift;
    bytes[at] |= static_cast<std::byte>(code & 255u);
    if (code > 255) bytes[at + 1] |= static_cast<std::byte>(code >> 8);
  }
  return bytes;
}

// The typed lists: onnx.proto says which one a type uses.
std::vector<std::byte> bytes_of_lists(DType dtype, const Parts& parts) {
  switch (dtype) {
    case DType::f32:
    case DType::c64:
      return as_is(parts.floats);
    case DType::f64:
    case DType::c128:
      return as_is(parts.doubles);
    case DType::i64:
      return as_is(parts.ints);
    case DType::u64:
      return as_is(parts.unsigneds);
    case DType::u32:
      return narrow<uint32_t>(parts.unsigneds);
    case DType::i32:
      return narrow<int32_t>(parts.ints);
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return narrow<uint16_t>(parts.ints);
    case DType::f6e3m2:
    case DType::f6e2m3:
      return packed_sixes(parts.ints);
    default:
      return narrow<uint8_t>(parts.ints);
  }
}

Result<std::shared_ptr<const graph::Constant>> make_constant(const Parts& parts, DType dtype,
                                                             size_t expected, Source& source) {
  graph::Constant data;
  std::vector<std::byte> converted;
  if (parts.is_external) {
    ANYNPU_ASSIGN(data, read_external(parts.external, expected, source));
  } else if (parts.has_raw) {
    data = graph::Constant{source.owner, parts.raw};
  } else {
    converted = bytes_of_lists(dtype, parts);
    data.bytes = converted;
  }
  if (data.bytes.size() != expected) {
    return fail(Code::corrupt_model,
                "tensor '{}' ({} {}) has {} bytes of data, expected {}; the file is damaged",
                parts.name, name_of(dtype), to_string(parts.dims), data.bytes.size(), expected);
  }
  if (!data.owner || data.bytes.size() <= kCopyLimit) return copy_constant(data.bytes);
  return std::make_shared<const graph::Constant>(std::move(data));
}

// Unsigned elements of 4 bits as signed ones, each 8 lower.
std::shared_ptr<const graph::Constant> eight_lower(const graph::Constant& data, int64_t count) {
  std::vector<std::byte> bytes(data.bytes.begin(), data.bytes.end());
  for (std::byte& byte : bytes) byte ^= std::byte{0x88};
  if (count % 2 != 0) bytes.back() &= std::byte{0x0f};
  return copy_constant(bytes);
}

}  // namespace

Result<DType> dtype_of(int64_t onnx_type) {
  const DType type = dtype_of_onnx_number(onnx_type);
  if (type != DType::undefined) return type;
  return fail(
      Code::unsupported_dtype,
      "ONNX data type {} is not supported, AscendCL has no description for it; expected one "
      "of 1 to 17, 19 (FLOAT8E5M2), 22 (INT4), 23 (FLOAT4E2M1), 24 (FLOAT8E8M0), 27 (FLOAT6E2M3) "
      "or 28 (FLOAT6E3M2)",
      onnx_type);
}

std::shared_ptr<const graph::Constant> copy_constant(std::span<const std::byte> bytes) {
  const size_t size = bytes.empty() ? 1 : bytes.size();
  auto* memory = static_cast<std::byte*>(::operator new (size, std::align_val_t{64}));
  std::shared_ptr<const void> owner(memory, [](const std::byte* p) {
    ::operator delete (const_cast<std::byte*>(p), std::align_val_t{64});
  });
  if (!bytes.empty()) std::memcpy(memory, bytes.data(), bytes.size());
  return std::make_shared<const graph::Constant>(
      graph::Constant{std::move(owner), {memory, bytes.size()}});
}

std::shared_ptr<const graph::Constant> string_constant(const std::vector<std::string_view>& texts) {
  return copy_constant(pack_texts(texts));
}

Result<Tensor> read_tensor(const WireField& field, Source& source) {
  Parts parts;
  ANYNPU_TRY(read_parts(field, parts), "in a tensor of the model");
  Tensor tensor;
  const bool unsigned_four = parts.type == kUint4;
  if (unsigned_four) {
    tensor.dtype = DType::i4;
  } else {
    ANYNPU_ASSIGN(tensor.dtype, dtype_of(parts.type), "in tensor '{}'", parts.name);
  }
  for (int64_t extent : parts.dims) {
    if (extent < 0) {
      return fail(Code::corrupt_model,
                  "tensor '{}' has the dims {}; expected 0 or more each, the file is damaged",
                  parts.name, parts.dims);
    }
  }
  ANYNPU_TRY(check_shape(parts.dims), "in tensor '{}'", parts.name);
  if (parts.segmented) {
    return fail(Code::unsupported_feature,
                "tensor '{}' is stored in segments; save the model again without them", parts.name);
  }
  const int64_t count = element_count(parts.dims);
  if (count > kMaxElements) {
    return fail(Code::corrupt_model,
                "tensor '{}' of {} has more than 2^50 elements; the file is damaged", parts.name,
                to_string(parts.dims));
  }
  if (tensor.dtype == DType::string) {
    if (static_cast<int64_t>(parts.texts.size()) != count) {
      return fail(Code::corrupt_model,
                  "tensor '{}' of {} has {} strings, expected {}; the file is damaged", parts.name,
                  to_string(parts.dims), parts.texts.size(), count);
    }
    tensor.data = string_constant(parts.texts);
  } else {
    ANYNPU_ASSIGN(tensor.data,
                  make_constant(parts, tensor.dtype,
                                bytes_of(tensor.dtype, static_cast<size_t>(count)), source),
                  "in tensor '{}'", parts.name);
  }
  if (unsigned_four) {
    tensor.data = eight_lower(*tensor.data, count);
    source.unsigned_fours.insert(tensor.data.get());
  }
  tensor.name = std::move(parts.name);
  tensor.shape = std::move(parts.dims);
  return tensor;
}

}  // namespace anynpu::onnx
