// SPDX-License-Identifier: Apache-2.0
// The first thing every call does: from the number that the program holds to the object, pinned.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "../harness.h"
#include "base/handle_table.h"

namespace anynpu {
namespace bench {
struct Thing {
  uint64_t value = 1;
};
}  // namespace bench
ANYNPU_HANDLE_TYPE(bench::Thing, notify);

namespace bench {

// The same binary reads 4.4 ns in most short runs and 5 to 6 in some, beside a busy neighbour above
// all: the row has to last longer than such a spell.
constexpr size_t kPairsOfTwoSeconds = 10'001;

// Over an empty walk of the same list, so that the row is the lookup and not the loop.
ANYNPU_BENCH(handle_lookup) {
  HandleTable& table = HandleTable::instance();
  std::vector<Handle> handles;
  for (int i = 0; i < 1024; ++i) handles.push_back(table.insert(std::make_shared<Thing>()));
  std::shuffle(handles.begin(), handles.end(), std::mt19937(1));
  size_t next = 0;
  auto lookup = [&] {
    return ns_per_call(20'000, [&] {
      auto pin = table.find<Thing>(handles[next++ & 1023]);
      keep(pin->value);
    });
  };
  auto walk = [&] { return ns_per_call(20'000, [&] { keep(handles[next++ & 1023]); }); };
  // Half of a lookup is one locked instruction on a line of the thread's own.
  std::atomic<uint64_t> word{0};
  const Estimate locked =
      value_of([&] { return ns_per_call(20'000, [&] { word.exchange(next); }); }, kPairs);
  char note[64];
  std::snprintf(note, sizeof note, "one locked exchange: %.1f ns", locked.median);
  report.add({"handle lookup (1,024 live handles)", 5, "ns",
              difference_of(lookup, walk, kPairsOfTwoSeconds), note});
  for (Handle handle : handles) table.remove<Thing>(handle);
}

}  // namespace bench
}  // namespace anynpu
