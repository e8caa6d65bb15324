// SPDX-License-Identifier: Apache-2.0
// The options of atc: which work, which are accepted without effect off the card, and which are
// documented but come with a later release. docs/atc.md shows the same table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/cmdline.h"
#include "compile/convert.h"

namespace anynpu::atc {

std::span<const OptionSpec> options();

// Turns a command line into work, with every documented check; the message names the option.
Result<compile::Conversion> plan_conversion(const CommandLine& line, const std::string& command);

// The options of `line` that change nothing here, for the log.
std::vector<std::string> without_effect(const CommandLine& line);

std::string help();

}  // namespace anynpu::atc
