# SPDX-License-Identifier: Apache-2.0
"""The version that MindSpore reads: the release whose operators (aclnn) these are."""
__sys_version__ = "8.5.0"
