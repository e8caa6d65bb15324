# SPDX-License-Identifier: Apache-2.0
"""Networks written as programs of TensorFlow 1 are: variables, name scopes, slim's batch normalisation."""
