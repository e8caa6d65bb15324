/* SPDX-License-Identifier: Apache-2.0
 * On the device: assert, from npurt.h. */
#pragma once
#include <npurt.h>
