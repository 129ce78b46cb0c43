"""Starts S3 servers on loopback: moto's, and OpenStack Swift with its S3 API, which is independent and checks more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ports import free_port, wait_for

START_SECONDS = 180

# Patience in all of Swift's parts: on a busy machine they would else take each other for dead, and refuse to work for a
# minute, or put off what a listing should show to a daemon that does not run here.
_PATIENCE = """
conn_timeout = 60
node_timeout = 60
recoverable_node_timeout = 60
container_update_timeout = 60
client_timeout = 60
"""
_SWIFT = """[swift-hash]
swift_hash_path_suffix = x
swift_hash_path_prefix = y

[storage-policy:0]
name = only
default = yes
"""
_BACKEND = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = root
swift_dir = {etc}
devices = {devices}
mount_check = false
fallocate_reserve = 0
{patience}
[pipeline:main]
pipeline = {name}-server

[app:{name}-server]
use = egg:swift#{name}
"""
_FILTERS = ("catch_errors", "gatekeeper", "healthcheck", "listing_formats", "s3api", "tempauth", "copy", "slo", "dlo")
_FILTER_SETTINGS = {
    "s3api": "location = us-east-1\nmin_segment_size = 5242880\n",
    "tempauth": "user_test_tester = testing .admin\n",
}
_PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
user = root
swift_dir = {etc}
client_timeout = 60

[pipeline:main]
pipeline = {filters} proxy-server

[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
error_suppression_limit = 1000000000
{patience}"""
# Swift's programs look for swift.conf in a folder of the system; this tells them another, and becomes the program.
_LAUNCH = (
    "import runpy, sys, swift.common.utils; swift.common.utils.SWIFT_CONF_FILE = sys.argv[1]; "
    "sys.argv = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


@dataclass(frozen=True)
class S3:
    """A server, and what a client needs to know of it."""

    endpoint: str
    key: str
    secret: str

    def environment(self) -> dict[str, str]:
        """The variables that any S3 client reads."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self) -> Any:
        """A file system that knows nothing of the one under test."""
        import s3fs

        return s3fs.S3FileSystem(
            key=self.key,
            secret=self.secret,
            endpoint_url=self.endpoint,
            use_listings_cache=False,
            skip_instance_cache=True,
        )


@contextmanager
def moto(folder: Path) -> Iterator[S3]:
    """moto's server."""
    port = free_port()
    log = folder / "moto.log"
    with _running([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], log) as server:
        wait_for(port, server, START_SECONDS, log.read_text)
        yield S3(f"http://127.0.0.1:{port}", "testing", "testing")


@contextmanager
def swift(folder: Path) -> Iterator[S3]:
    """OpenStack Swift of one node, its four servers all up; skips the test where it is not installed."""
    if find_spec("swift") is None:
        pytest.skip("OpenStack Swift is not installed")
    programs = Path(sys.executable).parent
    etc, devices = folder / "etc", folder / "devices"
    (devices / "d1").mkdir(parents=True)
    etc.mkdir()
    (etc / "swift.conf").write_text(_SWIFT)
    ports = {}
    for name in ("account", "container", "object"):
        ports[name] = free_port()
        for step in (["create", "4", "1", "0"], ["add", f"r1z1-127.0.0.1:{ports[name]}/d1", "1"], ["rebalance"]):
            # It ends with 1 when it has a warning, as for a ring of one device.
            subprocess.run([programs / "swift-ring-builder", etc / f"{name}.builder", *step], stdout=subprocess.DEVNULL)
        assert (etc / f"{name}.ring.gz").is_file()
        (etc / f"{name}.conf").write_text(
            _BACKEND.format(name=name, port=ports[name], etc=etc, devices=devices, patience=_PATIENCE)
        )
    ports["proxy"] = free_port()
    proxy = _PROXY.format(port=ports["proxy"], etc=etc, filters=" ".join(_FILTERS), patience=_PATIENCE)
    for name in _FILTERS:
        proxy += f"\n[filter:{name}]\nuse = egg:swift#{name}\n{_FILTER_SETTINGS.get(name, '')}"
    (etc / "proxy.conf").write_text(proxy)
    with ExitStack() as running:
        servers = {}
        for name in ports:
            program = [str(programs / f"swift-{name}-server"), str(etc / f"{name}.conf")]
            command = [sys.executable, "-c", _LAUNCH, str(etc / "swift.conf"), *program]
            servers[name] = running.enter_context(_running(command, folder / f"{name}.log"))
        for name, port in ports.items():
            wait_for(port, servers[name], START_SECONDS, (folder / f"{name}.log").read_text)
        yield S3(f"http://127.0.0.1:{ports['proxy']}", "test:tester", "testing")


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    with log.open("w") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            yield server
        finally:
            server.terminate()
            server.wait(timeout=20)
