"""The stand-in toolkit for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.system.cache import BuildCache
from tests.ci.backend.cann.standin.toolkit import install_npu_smi, install_toolkit


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed toolkit."""
    return install_toolkit(tmp_path_factory.mktemp("toolkit") / "cann")


@pytest.fixture
def machine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with that toolkit and an NPU; its programs come first on the PATH."""
    tools = install_npu_smi(tmp_path / "tools")
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(home))
    # Own packages and floors, but the host programs that other tests have built.
    packages = BuildCache(tmp_path / "cache")
    monkeypatch.setattr("ci.backend.cann.package.BuildCache", lambda: packages)
    monkeypatch.setattr("ci.judge.paired.noise_store.default_root", lambda: tmp_path)
    monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)
    return home
