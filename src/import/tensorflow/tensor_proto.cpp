// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "graph/tensor_value.h"
#include "import/tensorflow/attr_value.h"
#include "import/tensorflow/types.h"
#include "tensor/texts.h"

namespace anynpu::tensorflow {

namespace {

constexpr size_t kMostSpread = size_t{1} << 30;
// Small tensors are copied to aligned memory: shape rules read them directly.
constexpr size_t kCopied = 4096;

struct TensorLists {
  int64_t type = 0;
  Shape shape;
  bool has_content = false;
  std::span<const std::byte> content;
  std::vector<float> floats;        // float_val, scomplex_val
  std::vector<double> doubles;      // double_val, dcomplex_val
  std::vector<int64_t> ints;        // int_val, int64_val, bool_val, half_val
  std::vector<uint64_t> unsigneds;  // uint32_val, uint64_val
  std::vector<std::string_view> texts;
};

Status read_lists(const WireField& message, TensorLists& lists) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(lists.type));
        break;
      case 2: {
        ANYNPU_ASSIGN(const PartialShape shape, read_shape(field));
        if (!shape || !is_static(*shape)) {
          return fail(Code::corrupt_model,
                      "a constant has no fixed shape; the file is damaged, freeze the model again");
        }
        lists.shape = *shape;
        break;
      }
      case 4:
        lists.has_content = !field.bytes.empty();
        ANYNPU_TRY(field.to(lists.content));
        break;
      case 5:
      case 9:
        ANYNPU_TRY(field.append_to(lists.floats));
        break;
      case 6:
      case 12:
        ANYNPU_TRY(field.append_to(lists.doubles));
        break;
      case 7:
      case 10:
      case 11:
      case 13:
        ANYNPU_TRY(field.append_to(lists.ints));
        break;
      case 8:
        ANYNPU_TRY(field.to(lists.texts.emplace_back()));
        break;
      case 16:
      case 17:
        ANYNPU_TRY(field.append_to(lists.unsigneds));
        break;
      default:
        break;
    }
  }
  return reader.status();
}

template <typename To, typename From>
std::vector<std::byte> packed_list(const std::vector<From>& list) {
  std::vector<std::byte> bytes(list.size() * sizeof(To));
  for (size_t i = 0; i < list.size(); ++i) {
    const To value = static_cast<To>(list[i]);
    std::memcpy(bytes.data() + i * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

// Which list a type uses.
std::vector<std::byte> list_bytes(DType dtype, const TensorLists& lists) {
  switch (dtype) {
    case DType::f32:
    case DType::c64:
      return packed_list<float>(lists.floats);
    case DType::f64:
    case DType::c128:
      return packed_list<double>(lists.doubles);
    case DType::i64:
      return packed_list<int64_t>(lists.ints);
    case DType::u64:
      return packed_list<uint64_t>(lists.unsigneds);
    case DType::u32:
      return packed_list<uint32_t>(lists.unsigneds);
    case DType::i32:
      return packed_list<int32_t>(lists.ints);
    case DType::i16:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return packed_list<uint16_t>(lists.ints);
    default:
      return packed_list<uint8_t>(lists.ints);
  }
}

Result<std::vector<std::byte>> spread_out(std::vector<std::byte> given, size_t element,
                                          size_t expected, size_t& spread) {
  if (given.size() == expected) return given;
  if (given.size() > expected || given.size() % element != 0) {
    return fail(Code::corrupt_model,
                "a constant has {} bytes in its list, expected at most {}; the file is damaged",
                given.size(), expected);
  }
  if (expected > kMostSpread - std::min(spread, kMostSpread)) {
    return fail(Code::limit_exceeded,
                "constants that repeat one element take more than {} bytes; compute them in the "
                "model with Fill",
                kMostSpread);
  }
  spread += expected;
  // No element at all stands for zeros.
  const std::vector<std::byte> last =
      given.empty()
          ? std::vector<std::byte>(element)
          : std::vector<std::byte>(given.end() - static_cast<ptrdiff_t>(element), given.end());
  size_t at = given.size();
  given.resize(expected);
  for (; at < expected; at += element) std::memcpy(given.data() + at, last.data(), element);
  return given;
}

Result<std::vector<std::byte>> text_bytes(TensorLists& lists, size_t count, size_t& spread) {
  if (lists.texts.size() > count || (lists.texts.empty() && lists.has_content)) {
    return fail(Code::corrupt_model, "a constant of {} strings has {}; the file is damaged", count,
                lists.texts.size());
  }
  const std::string_view last = lists.texts.empty() ? std::string_view() : lists.texts.back();
  const size_t more = (count - lists.texts.size()) * (last.size() + 16);
  if (more > kMostSpread - std::min(spread, kMostSpread)) {
    return fail(Code::limit_exceeded, "constants that repeat one string take more than {} bytes",
                kMostSpread);
  }
  spread += more;
  lists.texts.resize(count, last);
  return pack_texts(lists.texts);
}

}  // namespace

Result<ConstantTensor> read_tensor(const WireField& message,
                                   const std::shared_ptr<const void>& owner, size_t& spread) {
  TensorLists lists;
  ANYNPU_TRY(read_lists(message, lists));
  ConstantTensor tensor;
  ANYNPU_ASSIGN(tensor.dtype, dtype_of(lists.type));
  tensor.shape = lists.shape;
  const int64_t count = element_count(tensor.shape);
  if (count > int64_t{1} << 40) {
    return fail(Code::corrupt_model,
                "a constant of {} has more than 2^40 elements; the file is "
                "damaged",
                to_string(tensor.shape));
  }
  if (tensor.dtype == DType::string) {
    ANYNPU_ASSIGN(std::vector<std::byte> bytes,
                  text_bytes(lists, static_cast<size_t>(count), spread));
    tensor.data = graph::constant_of(std::move(bytes));
    return tensor;
  }
  const size_t expected = bytes_of(tensor.dtype, static_cast<size_t>(count));
  if (lists.has_content) {
    if (lists.content.size() != expected) {
      return fail(Code::corrupt_model,
                  "a constant of {} {} has {} bytes, expected {}; the file is damaged",
                  name_of(tensor.dtype), to_string(tensor.shape), lists.content.size(), expected);
    }
    if (expected > kCopied) {
      tensor.data = std::make_shared<const graph::Constant>(graph::Constant{owner, lists.content});
      return tensor;
    }
    tensor.data =
        graph::constant_of(std::vector<std::byte>(lists.content.begin(), lists.content.end()));
    return tensor;
  }
  ANYNPU_ASSIGN(std::vector<std::byte> bytes,
                spread_out(list_bytes(tensor.dtype, lists),
                           std::max<size_t>(1, size_of(tensor.dtype)), expected, spread));
  tensor.data = graph::constant_of(std::move(bytes));
  return tensor;
}

}  // namespace anynpu::tensorflow
