/* SPDX-License-Identifier: Apache-2.0
 * On the device: printf, snprintf, from npurt.h. */
#pragma once
#include <npurt.h>
