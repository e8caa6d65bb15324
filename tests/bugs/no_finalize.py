# SPDX-License-Identifier: Apache-2.0
"""The program ends without acl.finalize."""
import acl

assert acl.init() == 0  # found: not-finalized
