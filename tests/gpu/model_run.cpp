// SPDX-License-Identifier: Apache-2.0
// Runs a model on device 0 through the C API, with random inputs from a fixed seed.
//   model_run model.om [--runs N] [--row N] [--save results] [--compare results] [--tolerance 1e-3]
//             [--config acl.json]
// --save writes the outputs. --compare reads those of a run on another device and prints the
// largest difference, divided by the largest value of the output. Prints median latencies in
// microseconds: of one asynchronous execution and its synchronization, of one among --row that are
// enqueued together, and of aclmdlExecute. Exits with 0 if all outputs are within the tolerance.
#include <acl/acl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace {

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* why = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %d %s\n", what, code, why ? why : "");
  std::exit(2);
}

struct Buffer {
  void* device = nullptr;
  std::vector<char> host;
  aclDataType type = ACL_FLOAT;
};

// Memory of the device that this process has allocated.
double used_mib() {
  size_t free = 0, total = 0;
  check(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), "aclrtGetMemInfo");
  return static_cast<double>(total - free) / (1 << 20);
}

float half_to_float(uint16_t half) { return aclFloat16ToFloat(half); }

float value_at(const Buffer& buffer, size_t index) {
  const char* const bytes = buffer.host.data();
  switch (buffer.type) {
    case ACL_FLOAT: {
      float value;
      std::memcpy(&value, bytes + index * 4, 4);
      return value;
    }
    case ACL_FLOAT16: {
      uint16_t value;
      std::memcpy(&value, bytes + index * 2, 2);
      return half_to_float(value);
    }
    case ACL_BF16: {
      uint16_t bits;
      std::memcpy(&bits, bytes + index * 2, 2);
      const uint32_t wide = static_cast<uint32_t>(bits) << 16;
      float value;
      std::memcpy(&value, &wide, 4);
      return value;
    }
    case ACL_INT64: {
      int64_t value;
      std::memcpy(&value, bytes + index * 8, 8);
      return static_cast<float>(value);
    }
    case ACL_INT32: {
      int32_t value;
      std::memcpy(&value, bytes + index * 4, 4);
      return static_cast<float>(value);
    }
    default:
      return static_cast<float>(static_cast<unsigned char>(bytes[index]));
  }
}

size_t elements_of(const Buffer& buffer) {
  return buffer.host.size() / std::max<size_t>(1, aclDataTypeSize(buffer.type));
}

void fill(Buffer& buffer, std::mt19937& random) {
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (size_t i = 0; i < elements_of(buffer); ++i) {
    char* const at = buffer.host.data() + i * aclDataTypeSize(buffer.type);
    const float value = numbers(random);
    if (buffer.type == ACL_FLOAT) {
      std::memcpy(at, &value, 4);
    } else if (buffer.type == ACL_FLOAT16) {
      const aclFloat16 half = aclFloatToFloat16(value);
      std::memcpy(at, &half, 2);
    } else if (buffer.type == ACL_BF16) {
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const auto high = static_cast<uint16_t>(bits >> 16);
      std::memcpy(at, &high, 2);
    } else if (buffer.type == ACL_INT64) {
      const int64_t small = value > 0 ? 1 : 0;
      std::memcpy(at, &small, 8);
    } else if (buffer.type == ACL_INT32) {
      const int32_t small = value > 0 ? 1 : 0;
      std::memcpy(at, &small, 4);
    } else {
      std::memset(at, 1, aclDataTypeSize(buffer.type));
    }
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr,
                 "usage: model_run model.om [--runs N] [--row N] [--save F] [--compare F] "
                 "[--tolerance X]\n");
    return 2;
  }
  int runs = 20, row = 1;
  double tolerance = 1e-3;
  std::string save, compare, config;
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string option = words[i];
    if (option == "--runs") runs = std::atoi(words[i + 1]);
    if (option == "--row") row = std::max(1, std::atoi(words[i + 1]));
    if (option == "--save") save = words[i + 1];
    if (option == "--compare") compare = words[i + 1];
    if (option == "--config") config = words[i + 1];
    if (option == "--tolerance") tolerance = std::atof(words[i + 1]);
  }
  check(aclInit(config.empty() ? nullptr : config.c_str()), "aclInit");
  check(aclrtSetDevice(0), "aclrtSetDevice");
  aclrtStream stream;
  check(aclrtCreateStream(&stream), "aclrtCreateStream");
  const auto load_start = std::chrono::steady_clock::now();
  uint32_t model;
  check(aclmdlLoadFromFile(words[1], &model), "aclmdlLoadFromFile");
  const double loaded =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - load_start)
          .count();
  aclmdlDesc* const desc = aclmdlCreateDesc();
  check(aclmdlGetDesc(desc, model), "aclmdlGetDesc");

  std::mt19937 random(7);
  aclmdlDataset *inputs = aclmdlCreateDataset(), *outputs = aclmdlCreateDataset();
  std::vector<Buffer> in(aclmdlGetNumInputs(desc)), out(aclmdlGetNumOutputs(desc));
  for (size_t i = 0; i < in.size(); ++i) {
    in[i].type = aclmdlGetInputDataType(desc, i);
    in[i].host.resize(aclmdlGetInputSizeByIndex(desc, i));
    fill(in[i], random);
    check(aclrtMalloc(&in[i].device, in[i].host.size(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMemcpy(in[i].device, in[i].host.size(), in[i].host.data(), in[i].host.size(),
                      ACL_MEMCPY_HOST_TO_DEVICE),
          "aclrtMemcpy");
    check(aclmdlAddDatasetBuffer(inputs, aclCreateDataBuffer(in[i].device, in[i].host.size())),
          "aclmdlAddDatasetBuffer");
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].type = aclmdlGetOutputDataType(desc, i);
    out[i].host.resize(aclmdlGetOutputSizeByIndex(desc, i));
    check(aclrtMalloc(&out[i].device, out[i].host.size(), ACL_MEM_MALLOC_HUGE_FIRST),
          "aclrtMalloc");
    check(aclmdlAddDatasetBuffer(outputs, aclCreateDataBuffer(out[i].device, out[i].host.size())),
          "aclmdlAddDatasetBuffer");
  }
  check(aclmdlExecute(model, inputs, outputs), "aclmdlExecute");
  const double first =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - load_start)
          .count();
  const auto time_row = [&](int length) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < length; ++i)
      check(aclmdlExecuteAsync(model, inputs, outputs, stream), "aclmdlExecuteAsync");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - start;
    return taken.count() / length;
  };
  for (int run = 0; run < 3; ++run) time_row(row);  // warm up: captures the CUDA graph
  std::vector<double> executed;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    check(aclmdlExecute(model, inputs, outputs), "aclmdlExecute");
    executed.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::vector<double> times, in_row;
  for (int run = 0; run < runs; ++run) times.push_back(time_row(1));
  for (int run = 0; run < runs && row > 1; ++run) in_row.push_back(time_row(row));
  for (Buffer& one : out) {
    check(aclrtMemcpy(one.host.data(), one.host.size(), one.device, one.host.size(),
                      ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
  }
  if (!save.empty()) {
    std::ofstream file(save, std::ios::binary);
    for (const Buffer& one : out) file.write(one.host.data(), static_cast<long>(one.host.size()));
  }
  double worst = 0;
  if (!compare.empty()) {
    std::ifstream file(compare, std::ios::binary);
    for (const Buffer& one : out) {
      Buffer other = one;
      file.read(other.host.data(), static_cast<long>(other.host.size()));
      if (!file) {
        std::fprintf(stderr, "%s is shorter than the outputs\n", compare.c_str());
        return 2;
      }
      double difference = 0, largest = 1e-30;
      for (size_t i = 0; i < elements_of(one); ++i) {
        const double a = value_at(one, i), b = value_at(other, i);
        if (std::isnan(a) != std::isnan(b)) difference = INFINITY;
        if (std::isnan(a) || std::isnan(b) || a == b) continue;
        difference = std::max(difference, std::abs(a - b));
        largest = std::max(largest, std::abs(b));
      }
      worst = std::max(worst, difference / largest);
    }
  }
  const auto median = [](std::vector<double>& all) {
    std::sort(all.begin(), all.end());
    return all.empty() ? 0 : all[all.size() / 2];
  };
  std::printf(
      "%s: median %.1f us, in a row %.1f us, execute %.1f us, load %.0f ms, first run %.0f ms, "
      "difference %.3g, memory %.1f\n",
      words[1], median(times), median(in_row), median(executed), loaded, first, worst, used_mib());
  aclFinalize();
  return worst <= tolerance ? 0 : 1;
}
