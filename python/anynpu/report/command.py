# SPDX-License-Identifier: Apache-2.0
"""The command `anynpu report`."""
from __future__ import annotations

import os
import sys


def add_arguments(parser):
    parser.add_argument("profile", help="a PROF_* or *_ascend_ms directory, or a trace in JSON")
    parser.add_argument("-o", "--output", metavar="FILE", help="the page, report.html by default")
    parser.add_argument("--diff", metavar="OTHER", help="an earlier profile to compare with")
    parser.add_argument("--perfetto", metavar="FILE", help="a trace for ui.perfetto.dev")
    parser.add_argument("--speedscope", metavar="FILE", help="a profile for speedscope.app")
    parser.add_argument("--csv", metavar="FOLDER", help="the tables of msprof as CSV")
    parser.set_defaults(function=run)


def _write_tables(folder, source):
    from anynpu.msprof.export import csv_text
    from anynpu.msprof.recording import RecordingError
    from anynpu.msprof.tables import TABLES
    from anynpu.whole_file import write_whole
    if source.work is None:
        raise RecordingError("--csv needs a PROF_* or *_ascend_ms directory, not a bare trace")
    os.makedirs(folder, exist_ok=True)
    for name, table in TABLES.items():
        header, rows = table(source.work)
        if rows:
            write_whole(os.path.join(folder, f"{name}.csv"), csv_text(header, rows))


def run(args):
    from anynpu.msprof.recording import RecordingError  # numpy: only when asked for
    from anynpu.report import others
    from anynpu.report.lanes import open_source
    from anynpu.report.page import PARTS, write_page
    from anynpu.terminal import Progress
    from anynpu.whole_file import explained
    has_page = args.output or not (args.perfetto or args.speedscope or args.csv)
    parts = sum(map(bool, (args.profile, args.perfetto, args.speedscope, args.csv)))
    if has_page:
        parts += PARTS + bool(args.diff)
    try:
        with Progress(os.path.basename(os.path.abspath(args.profile)), parts, "parts") as progress:
            source = open_source(args.profile)
            progress.step()
            for path, write in ((args.perfetto, others.write_perfetto),
                                (args.speedscope, others.write_speedscope),
                                (args.csv, _write_tables)):
                if path:
                    write(path, source)
                    progress.step()
            if has_page:
                other = open_source(args.diff) if args.diff else None
                if other:
                    progress.step()
                write_page(args.output or "report.html", source, other, progress.step)
        if has_page:
            print(f"{args.output or 'report.html'}: "
                  f"{sum(len(lane.slices) for lane in source.lanes)} slices")
    except (RecordingError, OSError) as error:
        print(f"anynpu report: {explained(error)}", file=sys.stderr)
        return 1
    return 0
