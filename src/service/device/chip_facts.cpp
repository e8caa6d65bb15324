// SPDX-License-Identifier: Apache-2.0
#include "service/device/chip_facts.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/soc.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kUnknown = UINT64_MAX;  // no document at hand states it

struct LocalMemory {
  uint64_t unified, l1, l0a, l0b, l0c, bias;  // bytes
};
constexpr LocalMemory k1001{256 * kKiB, 1024 * kKiB, 64 * kKiB, 64 * kKiB, 256 * kKiB, 0};
constexpr LocalMemory k1001Small{248 * kKiB, 1024 * kKiB, 64 * kKiB, 64 * kKiB, 256 * kKiB, 0};
constexpr LocalMemory k2002{256 * kKiB, 1024 * kKiB, 64 * kKiB, 64 * kKiB, 256 * kKiB, 0};
constexpr LocalMemory k2201{192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB};
constexpr LocalMemory k3002{248 * kKiB, 1024 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB};
constexpr LocalMemory kNone{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};

// By the beginning of the name, the longest first. A clock is stated where the published peak rate
// follows from it: 910B2, 24 cores of 8,192 operations a cycle at 1.8 GHz, is 353.9 TFLOPS.
struct Chip {
  std::string_view name;
  int architecture;
  std::string_view core;  // version of the AI core; empty: unknown
  uint64_t mhz;
  LocalMemory memory;
};
constexpr Chip kChips[] = {
    {"Ascend910B1", 2201, "AIC-C-220", 1850, k2201},
    {"Ascend910B2", 2201, "AIC-C-220", 1800, k2201},
    {"Ascend910B3", 2201, "AIC-C-220", 1800, k2201},
    {"Ascend910B4", 2201, "AIC-C-220", kUnknown, k2201},
    {"Ascend910_93", 2201, "AIC-C-220", kUnknown, k2201},
    {"Ascend950", 3510, "", kUnknown, kNone},
    {"Ascend310P", 2002, "AIC-M-200", 1080, k2002},
    {"Ascend310B", 3002, "AIC-M-300", kUnknown, k3002},
    {"Ascend610", 2002, "AIC-M-200", kUnknown, k2002},
    {"Ascend615", 2002, "AIC-M-200", kUnknown, k2002},
    {"Ascend910", 1001, "AIC-C-100", 1000, k1001},
    {"Ascend310", 1001, "AIC-M-100", 680, k1001Small},
};

const Chip* find_chip(std::string_view name) {
  const auto* found = std::find_if(std::begin(kChips), std::end(kChips),
                                   [&](const Chip& chip) { return name.starts_with(chip.name); });
  return is_soc_name(name) && found != std::end(kChips) ? found : nullptr;
}

// In the order of the interface.
enum class Fact : int {
  cores,
  unified,
  cube_cores,
  vector_cores,
  l2,
  memory,
  cube_mhz,
  vector_mhz,
  bias,
  l0a,
  l0b,
  l0c,
  l1,
  name,
  core_version,
  architecture,
  memory_type,
  count
};

constexpr int kMemoryType = 6;  // the memory of a device, among the kinds that programs can name

Result<uint64_t> device_fact(Fact fact) {
  if (fact == Fact::l2) return static_cast<uint64_t>(std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 0L));
  if (fact != Fact::memory) return uint64_t{ThreadPool::instance().threads()};
  auto context = device::Runtime::instance().current();
  if (context.ok()) return (*context)->device()->memory_total();
  ANYNPU_ASSIGN(const auto first, device::Runtime::instance().device(0));
  return first->memory_total();
}

Result<uint64_t> number_of(const Chip& chip, Fact fact) {
  switch (fact) {
    case Fact::unified:
      return chip.memory.unified;
    case Fact::cube_mhz:
    case Fact::vector_mhz:
      return chip.mhz;
    case Fact::bias:
      return chip.memory.bias;
    case Fact::l0a:
      return chip.memory.l0a;
    case Fact::l0b:
      return chip.memory.l0b;
    case Fact::l0c:
      return chip.memory.l0c;
    case Fact::l1:
      return chip.memory.l1;
    case Fact::architecture:
      return static_cast<uint64_t>(chip.architecture);
    case Fact::memory_type:
      return uint64_t{kMemoryType};
    default:
      return device_fact(fact);
  }
}

}  // namespace

int chip_architecture(std::string_view name) {
  const Chip* chip = find_chip(name);
  return chip ? chip->architecture : 0;
}

bool fits_chip(std::string_view name) {
  const int wanted = chip_architecture(name);
  return wanted != 0 && wanted == chip_architecture(soc_name());
}

bool has_hbm(std::string_view name) { return name.starts_with("Ascend910"); }

Result<std::string> chip_fact(int number, std::string_view soc) {
  if (number < 0 || number >= static_cast<int>(Fact::count)) {
    return fail(Code::invalid_argument, "infoType is {}; expected 0 to {}", number,
                static_cast<int>(Fact::count) - 1);
  }
  const auto fact = static_cast<Fact>(number);
  const Chip* chip = find_chip(soc);
  if (!chip) return fail(Code::internal, "chip '{}' stands in no row of the table", soc);
  if (fact == Fact::name) return std::string(soc);
  if (fact == Fact::core_version && !chip->core.empty()) return std::string(chip->core);
  uint64_t value = kUnknown;
  if (fact != Fact::core_version) {
    ANYNPU_ASSIGN(value, number_of(*chip, fact));
  }
  if (value != kUnknown) return format("{}", value);
  return fail(Code::unsupported_feature,
              "infoType {} of {} is not known: no public document states it; choose another chip "
              "with ANYNPU_SOC",
              number, soc);
}

Result<uint32_t> atomic_capability(int operation) {
  constexpr uint32_t kSigned = 1, kReduction = 4, k8 = 8, k16 = 16, k32 = 32;
  const bool integer_or_float = operation >= 0 && operation <= 12;
  const bool simd = operation >= 40 && operation <= 44;
  if (operation >= 30 && operation <= 32) return kSigned | kReduction | k8 | k16 | k32;
  if (integer_or_float || simd) return uint32_t{0};
  return fail(Code::invalid_argument, "the operation is {}; expected 0 to 12, 30 to 32 or 40 to 44",
              operation);
}

}  // namespace anynpu::service
