# SPDX-License-Identifier: Apache-2.0
"""PROF_* directories: reading what a session recorded, and the files made from it.

recording.py reads, timeline.py, tables.py and database.py write, export.py puts them together,
command.py is the program msprof.
"""
