// SPDX-License-Identifier: Apache-2.0
#include "run_variant.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>

#include "compile/compile.h"
#include "exec/shaped_model.h"
#include "guarded_memory.h"

namespace anynpu::hostile {

namespace {

constexpr size_t kRoomForDynamicOutput = 64 << 10;
// A model may ask for any amount of memory and work. Here it is left out beyond this.
constexpr size_t kMostBytes = 16 << 20;

Outcome refused(const Status& status) {
  if (status.to_string().size() < 10)
    return {Outcome::Kind::wrong, "refused without a sentence: " + status.to_string()};
  return {Outcome::Kind::refused, status.to_string()};
}

Outcome run_loaded(exec::LoadedModel& model, const std::vector<Feed>& feeds) {
  if (model.sizes().work_bytes > kMostBytes)
    return {Outcome::Kind::refused, "more work than the test does"};
  for (const exec::TensorInfo& info : model.outputs()) {
    if (info.bytes > kMostBytes) return {Outcome::Kind::refused, "more than the test does"};
  }
  std::deque<GuardedMemory> memory;
  std::vector<exec::Buffer> in, out;
  for (const Feed& feed : feeds) {
    const GuardedMemory& block = memory.emplace_back(feed.bytes.size());
    if (!block.data()) return {Outcome::Kind::refused, "no memory for an input of the test"};
    if (!feed.bytes.empty()) std::memcpy(block.data(), feed.bytes.data(), feed.bytes.size());
    in.push_back({block.data(), feed.bytes.size()});
  }
  for (const exec::TensorInfo& info : model.outputs()) {
    const GuardedMemory& block =
        memory.emplace_back(info.dynamic_shape ? kRoomForDynamicOutput : info.bytes);
    if (!block.data()) return {Outcome::Kind::refused, "no memory for an output of the test"};
    out.push_back({block.data(), block.bytes()});
  }
  const Status status = model.run(in, out);
  for (const GuardedMemory& block : memory) {
    if (!block.end_is_intact()) return {Outcome::Kind::wrong, "wrote behind the end of a buffer"};
  }
  if (!status.ok()) return refused(status);
  return {};
}

Outcome run(Variant variant) {
  if (Status status = variant.graph.verify(); !status.ok()) return refused(status);
  auto compiled = compile::compile(std::move(variant.graph), {});
  if (!compiled.ok()) return refused(compiled.status());
  const auto model = std::make_shared<const om::Model>(std::move(*compiled));
  auto loaded = exec::ShapedModel::load(model);
  if (!loaded.ok()) return refused(loaded.status());
  if (!(*loaded)->has_ranges()) return run_loaded((*loaded)->gear(0), variant.feeds);
  std::vector<Shape> shapes;
  for (const Feed& feed : variant.feeds) shapes.push_back(feed.shape);
  auto plan = (*loaded)->for_shapes(shapes);
  if (!plan.ok()) return refused(plan.status());
  return run_loaded(**plan, variant.feeds);
}

}  // namespace

Outcome run_variant(Variant variant) {
  try {
    return run(std::move(variant));
  } catch (const std::exception& error) {
    return {Outcome::Kind::wrong, std::string("an exception: ") + error.what()};
  }
}

void run_or_abort(Variant variant) {
  const Outcome outcome = run_variant(std::move(variant));
  if (outcome.kind != Outcome::Kind::wrong) return;
  std::fprintf(stderr, "%s\n", outcome.text.c_str());
  std::abort();
}

}  // namespace anynpu::hostile
