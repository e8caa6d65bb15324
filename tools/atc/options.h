// SPDX-License-Identifier: Apache-2.0
// The options of atc (options.def) and what they ask for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/cmdline.h"
#include "compile/convert.h"
#include "compile/option_texts.h"

namespace anynpu::atc {

std::span<const OptionSpec> options();
std::string help();

// The options of `line` that change nothing here, for the log.
std::vector<std::string> without_effect(const CommandLine& line);
// Fails for unsupported options that would change the result.
Status check_refused(const CommandLine& line);
// Checks the values of options without effect too, so that typos are reported.
Status check_values(const CommandLine& line);
// Fails for options of models that have no meaning for a single operator.
Status check_with_single_op(const CommandLine& line);

// plan.cpp: the work of mode 0, with every documented check; the message names the option.
Result<compile::Conversion> plan_conversion(const CommandLine& line, const std::string& command);
// The options as the compiler reads them; `line` must outlive the result.
compile::OptionTexts texts_of(const CommandLine& line);
// single_op.cpp: the work of --singleop.
Status convert_single_ops(const CommandLine& line, const std::string& command);
// What the .om keeps about the command line.
void record(const CommandLine& line, const std::string& command, compile::Options& options);

}  // namespace anynpu::atc
