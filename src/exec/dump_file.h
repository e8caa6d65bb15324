// SPDX-License-Identifier: Apache-2.0
// The dump file of one operator: eight bytes with the length of the header, the header (protobuf
// message DumpData), then the bytes of all inputs and outputs. docs/dump.md has the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::exec {

struct DumpTensor {
  DType dtype = DType::undefined;
  Format format = Format::nd;
  Shape shape;
  std::vector<std::byte> bytes;
  uint64_t address = 0;
};

struct OperatorDump {
  std::string op_type, op_name;
  std::vector<DumpTensor> inputs, outputs;
};

// Replaces characters that are not allowed in dump file names by underscores.
std::string dump_word(std::string text);
// "{op_type}.{op_name}.{task}.{stream}.{timestamp}"
std::string dump_file_name(const std::string& type, const std::string& name, uint32_t task,
                           uint32_t stream, uint64_t timestamp_us);
uint64_t dump_timestamp();  // microseconds since 1970, never twice the same in a process

std::string to_bytes(const OperatorDump& dump, uint64_t timestamp_us);
// Statistics of each tensor as CSV lines, with the columns that `words` (of `dump_stats`) name; all
// if it is empty.
std::string statistics(const OperatorDump& dump, const std::vector<std::string>& words);
std::vector<std::string_view> statistics_words();
// Receives dumps instead of the file system. Called by the dumping threads, possibly concurrently.
using DumpSink = Status (*)(const std::string& path, std::string_view bytes);
void set_dump_sink(DumpSink sink);  // null: files
// Makes the folder and writes the file whole.
Status write_file(const std::string& folder, const std::string& name, const std::string& bytes);
// Gives the bytes to the sink, else to write_file.
Status write_dump(const std::string& folder, const std::string& name, const std::string& bytes);

}  // namespace anynpu::exec
