# SPDX-License-Identifier: Apache-2.0
"""HPE: programs for Stream Computing NPUs. See hpe.hpert.api and hpe.profiler.api."""
