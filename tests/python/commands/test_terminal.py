# SPDX-License-Identifier: Apache-2.0
"""Colour and progress: on a terminal, quiet at first, and told how long the rest will take."""
import io

import pytest


class Screen(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def terminal():
    from anynpu import terminal
    return terminal


def test_colour_is_for_terminals_and_obeys_no_color(terminal, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.painted("x", "red", Screen(True)) == "\033[31mx\033[0m"
    assert terminal.painted("x", "red", Screen(False)) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.painted("x", "red", Screen(True)) == "x"
    monkeypatch.setenv("NO_COLOR", "")  # no value: as if it were not set
    assert terminal.painted("x", "red", Screen(True)) != "x"
    monkeypatch.setenv("TERM", "dumb")
    assert terminal.painted("x", "red", Screen(True)) == "x"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_begins_after_two_seconds_and_says_what_is_left(terminal, is_terminal):
    now, screen = [0.0], Screen(is_terminal)
    progress = terminal.Progress("work", 100, "files", screen, clock=lambda: now[0])
    for _ in range(19):
        now[0] += 0.1
        progress.step()
    assert screen.getvalue() == ""
    now[0] = 2.0
    progress.step()
    line = "work: 20 of 100 files, 10 a second, 8 s left"
    assert screen.getvalue() == (f"\r\033[K{line}" if is_terminal else line + "\n")
    now[0] = 2.1
    progress.step()
    assert screen.getvalue().count("work") == 1  # not more often than it can be read
    progress.close()
    assert screen.getvalue().endswith("\r\033[K" if is_terminal else "left\n")


def test_times_are_short(terminal):
    assert [terminal.duration(s) for s in (0, 59, 61, 3720)] == [
        "0 s", "59 s", "1 min 01 s", "1 h 02 min"]
