# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and channels in use for the length of a test or of a file."""
import pytest


@pytest.fixture
def initialised():
    """Initialised, with no device in use."""
    import acl
    assert acl.init() == 0
    yield
    assert acl.finalize() == 0


@pytest.fixture
def device_0():
    """Initialised, with device 0 in use; afterwards nothing of it may be left."""
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.set_device(0) == 0
    assert acl.rt.reset_device_force(0) == 0
    assert acl.finalize() == 0


@pytest.fixture(scope="module")
def runtime():
    """The same for all tests of a file: `pytestmark = pytest.mark.usefixtures("runtime")`."""
    import acl
    assert acl.init() == 0
    assert acl.rt.set_device(0) == 0
    yield
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0


@pytest.fixture
def stream(device_0):
    """A stream of device 0."""
    import acl
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    yield handle
    acl.rt.synchronize_stream(handle)  # whatever the last task returned
    assert acl.rt.destroy_stream(handle) == 0


@pytest.fixture
def channel(stream):
    """A channel of acl.media for pictures, gone before the stream that it works on."""
    import acl
    desc = acl.media.dvpp_create_channel_desc()
    assert acl.media.dvpp_create_channel(desc) == 0
    yield desc
    assert acl.media.dvpp_destroy_channel(desc) == 0
    assert acl.media.dvpp_destroy_channel_desc(desc) == 0


@pytest.fixture
def system(device_0):
    """acl.himpi of device 0 in use."""
    import acl
    assert acl.himpi.sys_init() == 0
    yield
    assert acl.himpi.sys_exit() == 0
