# SPDX-License-Identifier: Apache-2.0
"""The cases, one file for each family of operators; ../specs.py says how they are written."""
