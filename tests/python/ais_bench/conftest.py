# SPDX-License-Identifier: Apache-2.0
"""Models for the tests, made by atc; sessions and the command over them."""

import pytest


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """models("batch"): the path of a .om, compiled when it is first asked for."""
    from om_models import Models
    return Models(tmp_path_factory.mktemp("models"))


@pytest.fixture
def make(models):
    """make("batch", loop=2): an InferSession on device 0, freed after the test."""
    from ais_bench.infer.interface import InferSession
    made = []

    def session(name, device_id=0, **options):
        made.append(InferSession(device_id, models(name), **options))
        return made[-1]

    yield session
    for one in made:
        one.free_resource()


@pytest.fixture
def run(capfd):
    """run("--model", path, ...): what the command printed; it has to end with `code`."""

    from ais_bench.infer.command import main

    def call(*arguments, code=0):
        capfd.readouterr()
        try:
            ended = main([str(argument) for argument in arguments])
        except SystemExit as error:  # argparse
            ended = error.code
        captured = capfd.readouterr()
        assert ended == code, captured.out + captured.err
        return captured.out + captured.err

    return call


@pytest.fixture
def out(tmp_path):
    return str(tmp_path / "out")
