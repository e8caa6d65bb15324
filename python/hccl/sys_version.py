# SPDX-License-Identifier: Apache-2.0
"""The version that MindSpore reads; that of the whole tree."""
__sys_version__ = "8.0.RC2.alpha001"
