// SPDX-License-Identifier: Apache-2.0
// The options of a conversion as strings, with the names of atc's options (tools/atc/options.def):
// from its command line, or from a program that compiles a model in process. All documented checks
// are made; the message names the option.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "compile/compile.h"

namespace anynpu::compile {

struct OptionTexts {
  std::function<std::string(std::string_view name)> get;  // the value, or the default
  std::function<bool(std::string_view name)> has;         // whether it was given
};

// Precision, formats, shapes, gears, AIPP, outputs and switched-off passes.
Status read_model_options(const OptionTexts& texts, bool caffe, Options& options);
Result<Precision> read_precision(const OptionTexts& texts);
// An option that is 0 or 1.
Result<bool> read_switch(const OptionTexts& texts, std::string_view option);
// The text of the file that an option names.
Result<std::string> read_option_file(const OptionTexts& texts, std::string_view option);

}  // namespace anynpu::compile
