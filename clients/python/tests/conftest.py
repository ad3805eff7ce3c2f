from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator

import pytest
from support import API_KEY, BASE_URL, Proxy, proxy

from pms_client import Pms


@pytest.fixture
def pms() -> Iterator[Pms]:
    with Pms(BASE_URL, API_KEY) as client:
        yield client


@pytest.fixture
def name() -> str:
    """The name of a prompt that no other test uses."""
    return f"python/{uuid.uuid4().hex}"


@pytest.fixture
def through_proxy() -> Iterator[Proxy]:
    with proxy() as made:
        yield made


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Writes a line of JSON for each test, if a file for them is named."""
    file = os.environ.get("PMS_TEST_REPORT")
    if file is None or (report.when != "call" and report.outcome == "passed"):
        return
    line = {"test": report.nodeid, "outcome": report.outcome, "text": report.longreprtext}
    with open(file, "a") as lines:
        lines.write(json.dumps(line) + "\n")
