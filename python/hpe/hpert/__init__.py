# SPDX-License-Identifier: Apache-2.0
"""The host run-time; import hpe.hpert.api."""
