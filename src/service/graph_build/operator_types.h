// SPDX-License-Identifier: Apache-2.0
// Types of operators that programs register while their libraries are loaded. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"

namespace anynpu::service {

// Makes an operator, given its name. Only the front door knows the type of the result.
using OperatorMaker = std::function<std::shared_ptr<void>(const std::string& name)>;

// The first registration of a type is the one that counts, as with the vendor's.
void register_operator_type(const std::string& type, OperatorMaker maker);
// Null for a type that was not registered.
std::shared_ptr<void> make_operator(const std::string& type, const std::string& name);
// Whether a type is registered, or a row of the table of vendor operators.
Status check_operator_type(const std::string& type);

// A zeroed block for the map of error texts whose code programs compile into themselves.
void* status_texts_of_clients();

}  // namespace anynpu::service
