// SPDX-License-Identifier: Apache-2.0
// For tests: copies of pictures, counted by their marks in the trace.
#pragma once

#include <functional>
#include <span>

#include "trace/registry.h"
#include "trace/trace.h"

namespace anynpu::pixel {

// Counts the intermediate pictures of a call.
class Copies : public trace::DrainVisitor {
 public:
  static int of(const std::function<void()>& call) {
    Copies counted;
    trace::set_mask(trace::bit(trace::Category::media));
    trace::discard();
    call();
    trace::set_mask(0);
    trace::drain(counted);
    return counted.count_;
  }
  void on_events(const trace::ThreadInfo&, std::span<const trace::Event> events) override {
    for (const trace::Event& event : events)
      count_ += trace::name_of(event.name) == "picture in between";
  }

 private:
  int count_ = 0;
};

}  // namespace anynpu::pixel
