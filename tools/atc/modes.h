// SPDX-License-Identifier: Apache-2.0
// What atc does besides converting: the modes 1, 3, 5 and 6, and the text about a .om.
#pragma once

#include <string>

#include "base/cmdline.h"
#include "base/json.h"
#include "base/result.h"

namespace anynpu::atc {

Status write_model_json(const CommandLine& line);  // mode 1
Status check_model(const CommandLine& line);       // mode 3
Status write_stage_json(const CommandLine& line);  // mode 5
Status display_model(const std::string& path);     // mode 6, and --display_model_info

// vendor_model.cpp: .om files of the vendor's atc.
bool is_vendor_model(const std::string& path);
Result<json::Value> vendor_json(const std::string& path);
Status display_vendor_model(const std::string& path);

// The report of mode 3, also written for --check_report when a conversion fails.
Status write_report(const CommandLine& line, bool& all_good);

}  // namespace anynpu::atc
