// SPDX-License-Identifier: Apache-2.0
#include "exec/dump_file.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <variant>

#include "base/protowire.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "tensor/hifloat8.h"
#include "tensor/microscaling.h"

namespace anynpu::exec {

namespace {

std::atomic<DumpSink> dump_sink{nullptr};

// OutputDataType of the header; it counts otherwise than aclDataType.
uint64_t dump_type(DType type) {
  switch (type) {
    case DType::f32:
      return 1;
    case DType::f16:
      return 2;
    case DType::i8:
      return 3;
    case DType::u8:
      return 4;
    case DType::i16:
      return 5;
    case DType::u16:
      return 6;
    case DType::i32:
      return 7;
    case DType::i64:
      return 8;
    case DType::u32:
      return 9;
    case DType::u64:
      return 10;
    case DType::boolean:
      return 11;
    case DType::f64:
      return 12;
    case DType::c64:
      return 16;
    case DType::c128:
      return 17;
    case DType::bf16:
      return 27;
    default:
      return 0;
  }
}

WireWriter shape_message(const Shape& shape) {
  WireWriter out;
  out.packed(1, std::span<const int64_t>(shape));
  return out;
}

// Numbers of the fields differ between inputs and outputs.
struct Fields {
  uint32_t size, original_shape, address;
};

WireWriter tensor_message(const DumpTensor& tensor, const Fields& fields) {
  WireWriter out;
  out.varint(1, dump_type(tensor.dtype));
  out.varint(2, static_cast<uint64_t>(tensor.format < Format::nchw ? Format::nd : tensor.format));
  out.message(3, shape_message(tensor.shape));
  out.varint(fields.size, tensor.bytes.size());
  out.message(fields.original_shape, shape_message(tensor.shape));
  out.varint(fields.address, tensor.address);
  return out;
}

double element(const DumpTensor& t, size_t i) {
  const auto* at = t.bytes.data() + i * size_of(t.dtype);
  const auto as = [&]<typename T>(T) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  };
  switch (t.dtype) {
    case DType::f32:
      return as(float{});
    case DType::f64:
      return as(double{});
    case DType::f16:
      return to_float(as(F16{}));
    case DType::bf16:
      return to_float(as(BF16{}));
    case DType::f8e5m2:
      return to_float(as(F8E5M2{}));
    case DType::f8e4m3:
      return to_float(as(F8E4M3{}));
    case DType::hif8:
      return to_float(as(HiF8{}));
    case DType::f8e8m0:
      return to_float(as(F8E8M0{}));
    case DType::i8:
      return as(int8_t{});
    case DType::u8:
    case DType::boolean:
      return as(uint8_t{});
    case DType::i16:
      return as(int16_t{});
    case DType::u16:
      return as(uint16_t{});
    case DType::i32:
      return as(int32_t{});
    case DType::u32:
      return as(uint32_t{});
    case DType::i64:
      return static_cast<double>(as(int64_t{}));
    case DType::u64:
      return static_cast<double>(as(uint64_t{}));
    default:
      return 0;
  }
}

struct Summary {
  double high = 0, low = 0, mean = 0, norm = 0;
  size_t nan = 0, negative_inf = 0, positive_inf = 0;
};

// A word of `dump_stats`, its column and the offset of its value.
struct Column {
  std::string_view word, title;
  std::variant<double Summary::*, size_t Summary::*> value;
};
constexpr Column kColumns[] = {{"Max", "Max Value", &Summary::high},
                               {"Min", "Min Value", &Summary::low},
                               {"Avg", "Avg Value", &Summary::mean},
                               {"L2norm", "L2Norm", &Summary::norm},
                               {"Nan", "Nan Count", &Summary::nan},
                               {"Negative Inf", "Negative Inf Count", &Summary::negative_inf},
                               {"Positive Inf", "Positive Inf Count", &Summary::positive_inf}};

bool is_wanted(const Column& column, const std::vector<std::string>& words) {
  return words.empty() || contains(words, column.word);
}

size_t count_of(const DumpTensor& t) {
  return size_of(t.dtype) == 0 ? 0 : t.bytes.size() / size_of(t.dtype);
}

Summary summary_of(const DumpTensor& t) {
  Summary out;
  double low = INFINITY, high = -INFINITY, sum = 0, squares = 0;
  size_t finite = 0;
  for (size_t i = 0; i < count_of(t); ++i) {
    const double v = element(t, i);
    out.nan += std::isnan(v);
    out.positive_inf += v == INFINITY;
    out.negative_inf += v == -INFINITY;
    if (!std::isfinite(v)) continue;
    ++finite;
    low = std::min(low, v);
    high = std::max(high, v);
    sum += v;
    squares += v * v;
  }
  if (finite == 0) return out;
  out.high = high;
  out.low = low;
  out.mean = sum / static_cast<double>(finite);
  out.norm = std::sqrt(squares);
  return out;
}

std::string statistics_line(const char* side, size_t index, const DumpTensor& t,
                            const std::vector<std::string>& words) {
  std::string out =
      format("{},{},{},{},{}", side, index, name_of(t.dtype), to_string(t.shape), count_of(t));
  const Summary summary = summary_of(t);
  for (const Column& column : kColumns) {
    if (!is_wanted(column, words)) continue;
    out += std::visit([&](auto value) { return format(",{}", summary.*value); }, column.value);
  }
  return out + "\n";
}

}  // namespace

std::string dump_word(std::string text) {
  for (char& c : text) {
    if (c == '.' || c == '/' || c == '\\' || c == ' ') c = '_';
  }
  return text;
}

std::string dump_file_name(const std::string& type, const std::string& name, uint32_t task,
                           uint32_t stream, uint64_t timestamp_us) {
  return format("{}.{}.{}.{}.{}", dump_word(type), dump_word(name), task, stream, timestamp_us);
}

uint64_t dump_timestamp() {
  static std::atomic<uint64_t> last{0};
  using namespace std::chrono;
  const auto now = static_cast<uint64_t>(
      duration_cast<microseconds>(system_clock::now().time_since_epoch()).count());
  uint64_t before = last.load();
  uint64_t mine;
  do {
    mine = std::max(now, before + 1);
  } while (!last.compare_exchange_weak(before, mine));
  return mine;
}

std::string to_bytes(const OperatorDump& dump, uint64_t timestamp_us) {
  WireWriter header;
  header.text(1, "2.0");
  header.varint(2, timestamp_us);
  for (const DumpTensor& output : dump.outputs)
    header.message(3, tensor_message(output, {.size = 6, .original_shape = 7, .address = 9}));
  for (const DumpTensor& input : dump.inputs)
    header.message(4, tensor_message(input, {.size = 5, .original_shape = 6, .address = 8}));
  header.text(6, dump.op_name);
  const std::string text = header.take();
  std::string out(8, '\0');
  const uint64_t length = text.size();
  std::memcpy(out.data(), &length, sizeof(length));
  out += text;
  for (const auto* tensors : {&dump.inputs, &dump.outputs}) {
    for (const DumpTensor& t : *tensors)
      out.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
  }
  return out;
}

std::vector<std::string_view> statistics_words() {
  std::vector<std::string_view> out;
  for (const Column& column : kColumns) out.push_back(column.word);
  return out;
}

std::string statistics(const OperatorDump& dump, const std::vector<std::string>& words) {
  std::string out = "Input/Output,Index,Data Type,Shape,Count";
  for (const Column& column : kColumns) {
    if (is_wanted(column, words)) out += format(",{}", column.title);
  }
  out += "\n";
  for (size_t i = 0; i < dump.inputs.size(); ++i)
    out += statistics_line("Input", i, dump.inputs[i], words);
  for (size_t i = 0; i < dump.outputs.size(); ++i)
    out += statistics_line("Output", i, dump.outputs[i], words);
  return out;
}

void set_dump_sink(DumpSink sink) { dump_sink.store(sink, std::memory_order_release); }

Status write_dump(const std::string& folder, const std::string& name, const std::string& bytes) {
  if (const DumpSink sink = dump_sink.load(std::memory_order_acquire)) {
    return sink(folder + "/" + name, bytes);
  }
  return write_file(folder, name, bytes);
}

Status write_file(const std::string& folder, const std::string& name, const std::string& bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(folder, error);
  // A dump can be made again, and there may be hundreds in a second: none waits for the disk.
  const std::span<const std::byte> all = std::as_bytes(std::span(bytes));
  return write_file_atomically(folder + "/" + name, {&all, 1}, Durability::unsynced);
}

}  // namespace anynpu::exec
