// SPDX-License-Identifier: Apache-2.0
// Findings: one line of text per finding and one per frame, written at once to a file of the
// process, so that a crash loses nothing; `anynpu check` reads it (python/anynpu/check). A finding
// that is repeated from the same call sites is counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/site.h"

namespace anynpu::check {

class Call;

struct LabeledSite {
  const char* label;  // "created", "freed", "used"
  Site site;
};

struct Finding {
  std::string kind;                 // "double-free"; stands in suppressions
  std::string message;              // one sentence, with the values of the first time
  std::vector<LabeledSite> places;  // the first is where the program has to look
  uint64_t bytes = 0;               // of leaks: summed up
};

// Thread-safe; no lock of the checker may be held by the caller.
void report(Finding finding);
// The number of findings that this thread has reported.
uint64_t reported_by_thread();
// "a stream", "an event".
std::string with_article(const char* name);
// When the program ends: how often each finding came.
void write_counts();

// A call failed: checks whether the program looks at its code.
void note_failure(Call& call);
// V1 and V2 media in one program (guide 5.2).
void note_media(Call& call);

}  // namespace anynpu::check
