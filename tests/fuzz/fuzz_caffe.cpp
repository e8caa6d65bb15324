// SPDX-License-Identifier: Apache-2.0
// A prototxt and, behind a line of dashes, a caffemodel: imported, compiled and run.
#include <cstdint>
#include <string_view>

#include "compile/compile.h"
#include "import/caffe/caffe.h"
#include "run_model.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace anynpu;
  constexpr std::string_view kCut = "\n----\n";
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find(kCut);
  const std::string_view text = all.substr(0, cut);
  const std::string_view weights =
      cut == std::string_view::npos ? std::string_view{} : all.substr(cut + kCut.size());
  auto net = caffe::import_memory(text, std::as_bytes(std::span(weights)));
  if (!net.ok()) return 0;
  auto model = compile::compile(std::move(*net), {});
  if (model.ok()) fuzz::run_model(std::move(*model), {data, size});
  return 0;
}
