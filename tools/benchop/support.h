// SPDX-License-Identifier: Apache-2.0
// The table of operators, types and kernels, from the registry itself.
#pragma once

// Prints docs/ops.md, or CSV. Returns the exit status.
int print_support(bool csv);

// Prints docs/operator_names.md: the vendor's names and what they become.
int print_names();
