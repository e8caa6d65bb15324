// SPDX-License-Identifier: Apache-2.0
#include "service/random/random_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/instance/last_task.h"
#include "tensor/half.h"

namespace anynpu::service {

namespace {

constinit device::TaskKind kRandom{"random numbers", device::Engine::compute};

constexpr uint64_t kMostNumbers = uint64_t{1} << 36;

// splitmix64 of Steele, Lea and Flood: every counter gives 64 mixed bits.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

struct Draw {
  uint64_t key;
  uint64_t bits(uint64_t index) const { return mix(key + (index + 1) * 0x9e3779b97f4a7c15u); }
  double uniform(uint64_t index) const {  // 0 .. 1, 1 left out
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }
  double normal(uint64_t index) const {
    const double radius = std::sqrt(-2 * std::log1p(-uniform(2 * index)));
    return radius * std::cos(2 * M_PI * uniform(2 * index + 1));
  }
  // Within two deviations; otherwise drawn again from the following bits.
  double truncated(uint64_t index) const {
    for (uint64_t turn = 0; turn < 64; ++turn) {
      const double value = Draw{bits(index) + turn}.normal(0);
      if (std::abs(value) <= 2) return value;
    }
    return 0;
  }
};

Result<std::array<std::byte, 8>> value_of(const RandomParameter& parameter, const char* name) {
  if (parameter.bytes == 0 || parameter.bytes > 8) {
    return fail(Code::invalid_argument, "the size of {} is {}; expected 1 to 8 bytes", name,
                parameter.bytes);
  }
  std::array<std::byte, 8> value{};
  if (!parameter.in_memory) {
    std::copy_n(parameter.value.begin(), parameter.bytes, value.begin());
    return value;
  }
  void* address = nullptr;
  std::memcpy(&address, parameter.value.data(), sizeof address);
  ANYNPU_TRY(device::check_range(address, parameter.bytes, device::Access::read, name).status());
  ANYNPU_TRY(device::copy_bytes(value.data(), address, parameter.bytes));
  return value;
}

Result<uint64_t> whole_of(const RandomParameter& parameter, const char* name) {
  ANYNPU_ASSIGN(const auto bytes, value_of(parameter, name));
  return std::bit_cast<uint64_t>(bytes);
}

template <typename T>
T first_of(const std::array<std::byte, 8>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool is_whole(DType type) {
  return type == DType::i32 || type == DType::i64 || type == DType::u32 || type == DType::u64;
}

Result<double> number_of(const RandomParameter& parameter, DType type, const char* name) {
  ANYNPU_ASSIGN(const auto bytes, value_of(parameter, name));
  if (is_whole(type)) {
    const bool sign = type == DType::i32 || type == DType::i64;
    if (parameter.bytes == 8) {
      return sign ? static_cast<double>(first_of<int64_t>(bytes))
                  : static_cast<double>(first_of<uint64_t>(bytes));
    }
    return sign ? static_cast<double>(first_of<int32_t>(bytes))
                : static_cast<double>(first_of<uint32_t>(bytes));
  }
  if (parameter.bytes == 8) return first_of<double>(bytes);
  if (parameter.bytes == 4) return double{first_of<float>(bytes)};
  if (parameter.bytes == 2) {
    return type == DType::bf16 ? double{to_float(first_of<BF16>(bytes))}
                               : double{to_float(first_of<F16>(bytes))};
  }
  return fail(Code::invalid_argument, "{} has {} bytes; expected 2, 4 or 8", name, parameter.bytes);
}

// A whole number of [least, most], both ends included.
template <typename T>
T whole_between(uint64_t bits, T least, T most) {
  const auto span = static_cast<uint64_t>(most) - static_cast<uint64_t>(least) + 1;
  const uint64_t step =
      span == 0 ? bits : static_cast<uint64_t>((static_cast<unsigned __int128>(bits) * span) >> 64);
  return static_cast<T>(static_cast<uint64_t>(least) + step);
}

template <typename T>
Status fill_whole(const RandomRequest& request, const Draw& draw, uint64_t count, T* out) {
  ANYNPU_ASSIGN(const auto least, value_of(request.first, "min"));
  ANYNPU_ASSIGN(const auto most, value_of(request.second, "max"));
  const T low = first_of<T>(least), high = first_of<T>(most);
  if (low > high) return fail(Code::invalid_argument, "min is {}, more than max {}", low, high);
  for (uint64_t i = 0; i < count; ++i) out[i] = whole_between(draw.bits(i), low, high);
  return {};
}

void store(DType type, double value, void* out, uint64_t index) {
  if (type == DType::f32) static_cast<float*>(out)[index] = static_cast<float>(value);
  if (type == DType::f16) static_cast<F16*>(out)[index] = to_f16(static_cast<float>(value));
  if (type == DType::bf16) static_cast<BF16*>(out)[index] = to_bf16(static_cast<float>(value));
  if (type == DType::i32) static_cast<int32_t*>(out)[index] = static_cast<int32_t>(value);
  if (type == DType::i64) static_cast<int64_t*>(out)[index] = static_cast<int64_t>(value);
  if (type == DType::u32)
    static_cast<uint32_t*>(out)[index] = static_cast<uint32_t>(std::max(0.0, value));
  if (type == DType::u64)
    static_cast<uint64_t*>(out)[index] = static_cast<uint64_t>(std::max(0.0, value));
}

Status fill_real(const RandomRequest& request, const Draw& draw, uint64_t count, void* out) {
  ANYNPU_ASSIGN(const double first, number_of(request.first, request.type, "the first parameter"));
  ANYNPU_ASSIGN(const double second,
                number_of(request.second, request.type, "the second parameter"));
  for (uint64_t i = 0; i < count; ++i) {
    const double value =
        request.kind == RandomRequest::Kind::uniform  ? first + (second - first) * draw.uniform(i)
        : request.kind == RandomRequest::Kind::normal ? first + second * draw.normal(i)
                                                      : first + second * draw.truncated(i);
    store(request.type, value, out, i);
  }
  return {};
}

Status fill_bits(const RandomRequest& request, const Draw& draw, uint64_t count, void* out) {
  ANYNPU_ASSIGN(const double ratio, number_of(request.first, DType::f32, "the dropout ratio"));
  auto* bytes = static_cast<uint8_t*>(out);
  std::memset(bytes, 0, (count + 7) / 8);
  for (uint64_t i = 0; i < count; ++i) {
    if (draw.uniform(i) >= ratio) bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | 1u << i % 8);
  }
  return {};
}

Status fill(const RandomRequest& request, const Draw& draw, uint64_t count, void* out) {
  if (request.kind == RandomRequest::Kind::keep_bits) return fill_bits(request, draw, count, out);
  if (request.kind == RandomRequest::Kind::uniform && is_whole(request.type)) {
    if (request.type == DType::i32)
      return fill_whole(request, draw, count, static_cast<int32_t*>(out));
    if (request.type == DType::u32)
      return fill_whole(request, draw, count, static_cast<uint32_t*>(out));
    if (request.type == DType::i64)
      return fill_whole(request, draw, count, static_cast<int64_t*>(out));
    return fill_whole(request, draw, count, static_cast<uint64_t*>(out));
  }
  return fill_real(request, draw, count, out);
}

Status run(RandomTask& task) {
  RandomRequest request;
  {
    std::lock_guard lock(task.mutex);
    request = task.request;
  }
  ANYNPU_ASSIGN(const uint64_t seed, whole_of(request.seed, "the seed"));
  ANYNPU_ASSIGN(const uint64_t count, whole_of(request.count, "the count"));
  if (count > kMostNumbers) {
    return fail(Code::invalid_argument, "the count is {}; expected at most {}", count,
                kMostNumbers);
  }
  ANYNPU_ASSIGN(auto counter_range, device::check_range(request.counter, 16, device::Access::write,
                                                        "randomCounterAddr"));
  uint64_t counter[2];
  ANYNPU_TRY(device::copy_bytes(counter, counter_range.address, sizeof counter));
  const bool bits = request.kind == RandomRequest::Kind::keep_bits;
  const size_t bytes = bits ? (count + 7) / 8 : bytes_of(request.type, count);
  if (bytes == 0) return {};
  ANYNPU_ASSIGN(auto range, device::check_range(request.result, bytes, device::Access::write,
                                                "randomResultAddr"));
  const Draw draw{mix(mix(seed) ^ mix(counter[0] + 1) ^ mix(~counter[1]))};
  ANYNPU_TRY(device::with_host_view({range.address, bytes, device::Access::write},
                                    [&](void* at) { return fill(request, draw, count, at); }));
  counter[1] += (counter[0] += count) < count;
  return device::copy_bytes(counter_range.address, counter, sizeof counter);
}

Status check(const RandomRequest& request) {
  const bool real =
      request.type == DType::f32 || request.type == DType::f16 || request.type == DType::bf16;
  if (!real && !is_whole(request.type)) {
    return fail(
        Code::invalid_argument,
        "the data type is {}; expected float, float16, bfloat16, or a whole number of 32 or "
        "64 bits",
        static_cast<int>(request.type));
  }
  if (request.kind > RandomRequest::Kind::truncated_normal) {
    return fail(Code::invalid_argument, "the kind of random numbers is {}; expected 0 to 3",
                static_cast<uint32_t>(request.kind));
  }
  ANYNPU_TRY(
      device::check_range(request.result, 1, device::Access::write, "randomResultAddr").status());
  return device::check_range(request.counter, 16, device::Access::write, "randomCounterAddr")
      .status();
}

}  // namespace

void change_random_task(RandomTask& task, const RandomRequest& changed) {
  std::lock_guard lock(task.mutex);
  task.request.result = changed.result;
  task.request.counter = changed.counter;
  task.request.seed = changed.seed;
  task.request.count = changed.count;
}

Status submit_random_numbers(const RandomRequest& request, Handle stream) {
  ANYNPU_TRY(check(request));
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(stream));
  auto task = std::make_shared<RandomTask>();
  task->request = request;
  ANYNPU_TRY(found->submit(kRandom, [task] { return run(*task); }));
  if (found->recorder()) describe_last_random(task);
  return {};
}

}  // namespace anynpu::service
