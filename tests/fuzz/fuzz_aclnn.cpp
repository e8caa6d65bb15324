// SPDX-License-Identifier: Apache-2.0
// Any bytes as calls of aclnn operators: two bytes choose the operator, those that follow its
// arguments. Phase 1, and phase 2 where that succeeds, in memory whose ends are watched; executors
// are also run again, with other addresses, too small a workspace, or by another operator.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "aclnn/row.h"
#include "base/crc32c.h"
#include "device/runtime.h"
#include "nn_arguments.h"
#include "service/aclnn/executor.h"

namespace {

using namespace anynpu;
using namespace anynpu::service;
using fuzz::NnArguments;
using fuzz::Reader;

constexpr int kMostCalls = 4;
constexpr size_t kMostParameters = 48;

struct Operator {
  const char *name, *kinds, *sides;
  const char* parameters[kMostParameters];
};
constexpr Operator kOperators[] = {
#include "api/acl_nn/calls.inc"
};

// How far calls of each operator came, by their codes: what the fuzzer is to find more of.
constexpr size_t kOutcomes = 16;
__attribute__((used, section("__libfuzzer_extra_counters")))
uint8_t reached[std::size(kOperators) * kOutcomes];

struct Target {
  const char* kinds;
  uint8_t* reached;  // kOutcomes of them
  NnOperator op;

  void note(int phase, const Status& status) const {
    ++reached[8 * (phase - 1) + (status.ok() ? 7 : static_cast<int>(status.code()) % 7)];
  }
};

// By two bytes that depend on the name alone: inputs mean the same when operators are added.
const std::map<uint16_t, Target>& targets() {
  static const auto* all = [] {
    auto* made = new std::map<uint16_t, Target>;
    for (const Operator& op : kOperators) {
      const std::string_view name = op.name, kinds = op.kinds;
      auto key = static_cast<uint16_t>(crc32c(std::as_bytes(std::span(name))));
      while (made->contains(key)) ++key;
      const aclnn::Signature signature{name, {op.parameters, kinds.size()}, op.sides};
      uint8_t* counters = reached + kOutcomes * static_cast<size_t>(&op - kOperators);
      made->emplace(key, Target{op.kinds, counters, {signature, aclnn::find_row(name)}});
      if (!made->at(key).op.row) std::abort();
    }
    return made;
  }();
  return *all;
}

// The first at these two bytes or behind them.
const Target& target(uint16_t key) {
  const auto found = targets().lower_bound(key);
  return found == targets().end() ? targets().begin()->second : found->second;
}

void expect_sentence(const Status& status) {
  if (!status.ok() && status.to_string().empty()) std::abort();
}

Status wait() {
  Status status = (*device::Runtime::instance().stream(0))->synchronize();
  expect_sentence(status);
  return status;
}

// Again, with the memory of one tensor somewhere else.
void run_again(const NnOperator& op, const NnWork& work, Handle executor, NnArguments& arguments,
               Reader& reader) {
  const auto side = static_cast<NnSide>(reader.byte() % 3);
  const size_t index = reader.byte() % 6, item = reader.byte() % 3;
  void* other = reader.one_in(4) ? nullptr : arguments.memory(fuzz::kMostElements * 16);
  expect_sentence(set_list_address(executor, side, index, item, other));
  expect_sentence(execute_nn(op, work, executor, 0));
  (void)wait();
}

void execute(const Target& chosen, const Prepared& prepared, NnArguments& arguments,
             Reader& reader) {
  const NnOperator& op = chosen.op;
  const uint8_t form = reader.byte();
  if (prepared.work_bytes > fuzz::kMostBytes) {
    expect_sentence(destroy_executor(prepared.executor));
    return;
  }
  const bool repeatable = form % 4 == 3;
  if (repeatable) expect_sentence(make_repeatable(prepared.executor));
  const NnWork work{arguments.memory(prepared.work_bytes), prepared.work_bytes};
  if (form / 4 % 8 == 7) {  // refused, and the executor is still there
    const NnWork small{work.memory, work.bytes / 2};
    if (work.bytes > 0 && execute_nn(op, small, prepared.executor, 0).ok()) std::abort();
    const NnOperator& other = target(static_cast<uint16_t>(form << 8)).op;
    if (&other != &op && execute_nn(other, work, prepared.executor, 0).ok()) std::abort();
  }
  expect_sentence(execute_nn(op, work, prepared.executor, 0));
  chosen.note(2, wait());
  if (!repeatable) return;
  run_again(op, work, prepared.executor, arguments, reader);
  expect_sentence(destroy_executor(prepared.executor));
}

void call(Reader& reader) {
  const uint32_t high = reader.byte();
  const Target& chosen = target(static_cast<uint16_t>(high << 8 | reader.byte()));
  NnArguments arguments(reader);
  std::vector<RawArgument> raw;
  for (const char* kind = chosen.kinds; *kind; ++kind) raw.push_back(arguments.make(*kind));
  const auto prepared = prepare_nn(chosen.op, raw);
  expect_sentence(prepared.status());
  chosen.note(1, prepared.status());
  if (prepared.ok()) execute(chosen, *prepared, arguments, reader);
  if (!arguments.ends_are_intact()) {
    std::fprintf(stderr, "%s wrote behind the end of a buffer\n", chosen.op.signature.name.data());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int limit = setenv("ANYNPU_LOOP_LIMIT", "100", 1);
  static const bool ready = device::Runtime::instance().set_device(0).ok();
  if (limit != 0 || !ready) std::abort();
  Reader reader({data, size});
  for (int i = 0; i < kMostCalls && !reader.done(); ++i) call(reader);
  NnPlanCache::instance().clear();
  return 0;
}
