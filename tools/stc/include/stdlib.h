/* SPDX-License-Identifier: Apache-2.0
 * On the device: exit, abort, from npurt.h. */
#pragma once
#include <npurt.h>
