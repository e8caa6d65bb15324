// SPDX-License-Identifier: Apache-2.0
// benchop --op Conv --shape 1x64x56x56,64x64x3x3,64 [--pads 1,1,1,1 ...]: runs every kernel of the
// operator that takes the case, checks it against the reference and times it. A bug report is one
// such line. Words without dashes (key=value, as in the tests) are taken too.
// benchop model FILE.om [--times 20] [--steps 1] [--input RAW] [--output RAW]: times a whole model
// and each of its steps. benchop support [--csv]: which kernels serve which operators and types
// (docs/ops.md). benchop tiles: the rate of the processor's tile products.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/thread_pool.h"
#include "model_bench.h"
#include "ops/op_case.h"
#include "support.h"
#include "tile_rate.h"

namespace {

using namespace anynpu;
using namespace anynpu::ops;

int usage() {
  std::puts(
      "usage: benchop --op OP --shape AxB,CxD[,...] [--dtype float32] [--opset 13]\n"
      "               [--ATTRIBUTE VALUE ...] [--times 20] [--check 1]\n"
      "       benchop model FILE.om [--times 20] [--steps 1] [--input RAW] [--output RAW]\n"
      "       benchop support [--csv]\n       benchop names\n       benchop tiles");
  return 2;
}

Status bench(const OpCase& op_case, int times, bool check) {
  ANYNPU_ASSIGN(const OpContext plain, op_case.context());
  const auto kernels = Registry::instance().kernels(plain.schema->name, plain.schema->domain);
  std::vector<std::vector<std::byte>> expected;
  if (check) {
    ANYNPU_ASSIGN(expected, op_case.run(*kernels.back(), Layout::plain));
  }
  std::printf("%s, output %s, %zu threads\n", plain.label().c_str(),
              to_string(plain.outputs[0].shape).c_str(), ThreadPool::instance().threads());
  for (const KernelDef* kernel : kernels) {
    const Layout layout = Layout::blocked16;
    ANYNPU_ASSIGN(const OpContext context, op_case.context(layout));
    const std::string name(kernel->name);
    Status refused;
    if (!kernel->types.has(context.inputs[0].dtype)) {
      refused = fail(Code::unsupported_dtype, "takes {}", kernel->types.to_string());
    } else if (kernel->can_run) {
      refused = kernel->can_run(context);
    }
    if (!refused.ok()) {
      std::printf("  %-22s refuses: %s\n", name.c_str(), refused.message().c_str());
      continue;
    }
    const bool reference = kernel == kernels.back() && kernels.size() > 1;
    if (reference && !check) continue;
    double best = 0;
    ANYNPU_ASSIGN(const auto outputs, op_case.run(*kernel, layout, reference ? 1 : times, &best));
    std::printf("  %-22s %10.1f us", name.c_str(), best / 1e3);
    if (op_case.flops() > 0) std::printf(" %8.1f GFLOP/s", op_case.flops() / best);
    if (check) {
      double worst = 0;
      for (size_t i = 0; i < outputs.size(); ++i) {
        worst = std::max(worst, worst_error(context.outputs[i].dtype, outputs[i], expected[i]));
      }
      std::printf("   error %.3f of the tolerance%s", worst, worst > 1 ? "  FAILED" : "");
      std::puts("");
      if (worst > 1) return fail(Code::internal, "kernel {} differs from the reference", name);
    } else {
      std::puts("");
    }
  }
  return {};
}

int model_main(int argc, char** argv) {
  ModelBenchOptions options;
  if (argc < 3) return usage();
  options.path = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string word = argv[i];
    if (word == "--times")
      options.times = std::max(1, std::atoi(argv[i + 1]));
    else if (word == "--steps")
      options.steps = std::atoi(argv[i + 1]) != 0;
    else if (word == "--input")
      options.input = argv[i + 1];
    else if (word == "--output")
      options.output = argv[i + 1];
    else
      return usage();
  }
  return bench_model(options);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return usage();
  if (std::strcmp(argv[1], "support") == 0) return print_support(argc > 2);
  if (std::strcmp(argv[1], "names") == 0) return print_names();
  if (std::strcmp(argv[1], "tiles") == 0) return print_tile_rate();
  if (std::strcmp(argv[1], "model") == 0) return model_main(argc, argv);
  std::string op, words;
  int times = 20;
  bool check = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      (op.empty() && word.find('=') == std::string::npos ? op : words) += " " + word;
      continue;
    }
    if (i + 1 >= argc) return usage();
    const std::string value = argv[++i];
    if (word == "--op")
      op = value;
    else if (word == "--times")
      times = std::max(1, std::atoi(value.c_str()));
    else if (word == "--check")
      check = value != "0";
    else
      words += " " + word.substr(2) + "=" + value;
  }
  const auto op_case = OpCase::parse(op + " " + words);
  Status status = op_case.ok() ? bench(*op_case, times, check) : op_case.status();
  if (!status.ok()) {
    std::fprintf(stderr, "benchop: %s\n", status.to_string().c_str());
    return 1;
  }
  return 0;
}
