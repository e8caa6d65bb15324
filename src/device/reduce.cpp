// SPDX-License-Identifier: Apache-2.0
#include "device/reduce.h"

#include <cmath>
#include <type_traits>

#include "device/host_view.h"
#include "device/memory.h"
#include "tensor/half.h"

namespace anynpu::device {

namespace {

constinit TaskKind kReduce{"reduce_async", Engine::d2d};

template <typename T>
auto widen(T value) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <typename T, typename Wide>
T narrow(Wide value) {
  if constexpr (std::is_same_v<T, F16>) {
    return to_f16(value);
  } else if constexpr (std::is_same_v<T, BF16>) {
    return to_bf16(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename Wide>
Wide add(Wide a, Wide b) {
  if constexpr (std::is_integral_v<Wide>) {
    using Unsigned = std::make_unsigned_t<Wide>;
    return static_cast<Wide>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return a + b;
  }
}

template <typename Wide>
bool is_nan(Wide value) {
  if constexpr (std::is_floating_point_v<Wide>) return std::isnan(value);
  return false;
}

template <typename Wide>
Wide combine(ReduceKind kind, Wide a, Wide b) {
  switch (kind) {
    case ReduceKind::sum:
      return add(a, b);
    case ReduceKind::max:
      return b > a || is_nan(b) ? b : a;  // NaN wins
    case ReduceKind::min:
      return b < a || is_nan(b) ? b : a;
    case ReduceKind::equal:
      return static_cast<Wide>(a == b);
  }
  return a;
}

template <typename T>
void reduce_elements(const Reduce& request) {
  auto* to = static_cast<T*>(request.to);
  const auto* from = static_cast<const T*>(request.from);
  const size_t count = request.bytes / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    to[i] = narrow<T>(combine(request.kind, widen(to[i]), widen(from[i])));
  }
}

void run_reduce(const Reduce& request) {
  switch (request.type) {
    case ReduceType::f32:
      return reduce_elements<float>(request);
    case ReduceType::f16:
      return reduce_elements<F16>(request);
    case ReduceType::bf16:
      return reduce_elements<BF16>(request);
    case ReduceType::s8:
      return reduce_elements<int8_t>(request);
    case ReduceType::s16:
      return reduce_elements<int16_t>(request);
    case ReduceType::s32:
      return reduce_elements<int32_t>(request);
  }
}

struct ReduceRanges {
  Range to;
  Range from;
};
Result<ReduceRanges> check_reduce(const Reduce& request) {
  const size_t unit = bytes_of(request.type);
  if (request.bytes == 0 || request.bytes % unit) {
    return fail(Code::invalid_argument,
                "count is {} bytes; expected a multiple of {}, the size of one element",
                request.bytes, unit);
  }
  if (reinterpret_cast<uintptr_t>(request.to) % unit ||
      reinterpret_cast<uintptr_t>(request.from) % unit) {
    return fail(Code::unaligned_address,
                "dst {} and src {} must lie on multiples of {}, the size of one element",
                request.to, request.from, unit);
  }
  ReduceRanges ranges;
  ANYNPU_ASSIGN(ranges.from, check_range(request.from, request.bytes, Access::read, "src"));
  ANYNPU_ASSIGN(ranges.to, check_range(request.to, request.bytes, Access::write, "dst"));
  return ranges;
}

}  // namespace

size_t bytes_of(ReduceType type) {
  switch (type) {
    case ReduceType::f32:
    case ReduceType::s32:
      return 4;
    case ReduceType::s8:
      return 1;
    default:
      return 2;
  }
}

Status reduce_async(const Reduce& request, Stream& stream) {
  ANYNPU_ASSIGN(ReduceRanges ranges, check_reduce(request));
  return stream.submit({kReduce, request.bytes}, [to = std::move(ranges.to.owner),
                                                  from = std::move(ranges.from.owner), request] {
    // Host memory may have been freed by now; ours is kept.
    if (!from) ANYNPU_TRY(check_range(request.from, request.bytes, Access::read, "src").status());
    if (!to) ANYNPU_TRY(check_range(request.to, request.bytes, Access::write, "dst").status());
    HostRange views[] = {{request.to, request.bytes, Access::write},
                         {const_cast<void*>(request.from), request.bytes, Access::read}};
    return with_host_view(views, [&] {
      run_reduce({views[0].address, views[1].address, request.bytes, request.kind, request.type});
      return Status();
    });
  });
}

}  // namespace anynpu::device
