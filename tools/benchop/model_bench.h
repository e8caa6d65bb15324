// SPDX-License-Identifier: Apache-2.0
// Times a compiled model, whole and step by step.
#pragma once

struct ModelBenchOptions {
  const char* path = nullptr;
  int times = 20;
  bool steps = false;
  const char* input = nullptr;   // files of raw bytes, one per input; null = drawn values
  const char* output = nullptr;  // where to write the bytes of output 0
};
// Prints best and median of `times` runs, and with `steps` the time of each step. Returns the exit
// status.
int bench_model(const ModelBenchOptions& options);
