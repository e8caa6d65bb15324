# SPDX-License-Identifier: Apache-2.0
"""MemorySummary: how long the copies of this process took."""
import aclruntime


class MemorySummary:
    """Copies between host and device of all sessions, in milliseconds and in time order."""

    @staticmethod
    def get_h2d_time_list():
        return aclruntime.MemorySummary().H2D_time_list

    @staticmethod
    def get_d2h_time_list():
        return aclruntime.MemorySummary().D2H_time_list

    @staticmethod
    def reset():
        aclruntime.MemorySummary.reset()

    # names of earlier versions
    get_H2D_time_list = get_h2d_time_list  # noqa: N815
    get_D2H_time_list = get_d2h_time_list  # noqa: N815
