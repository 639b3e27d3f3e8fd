"""Threads of a run open the session and tell it of names in one order, and an error's text holds nothing that a database refuses."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from ivm_core.engine.log import TableLog
from ivm_core.engine.log_by_spark import only_spark_reaches
from ivm_core.errors import BaseTableError, QueryFails
from ivm_core.maintain import session as module
from ivm_core.maintain.session import Session
from ivm_core.settings import Settings


def test_two_threads_open_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(module, "prepare_session", lambda *_: time.sleep(0.1))
    monkeypatch.setattr(module, "register_table", lambda *_: told.append(1))
    table = SimpleNamespace(name="s.t", location="/nowhere")
    catalog: Any = SimpleNamespace(tables=lambda: [table], views=list)
    given: Any = object()
    session = Session(Settings(), catalog, given)
    found: list[object] = []
    asks = (lambda: found.append(session.spark), lambda: found.append(session.spark_with_names))
    threads = [threading.Thread(target=ask, daemon=True) for ask in asks]
    for thread in threads:
        thread.start()
        time.sleep(0.03)
    for thread in threads:
        thread.join(timeout=10)
    assert found == [given, given] and told == [1]


def test_a_place_that_only_spark_reaches_opens_it() -> None:
    assert only_spark_reaches("hdfs://nowhere/lake/t") and not only_spark_reaches("/nowhere")
    opened: list[int] = []
    failing = SimpleNamespace(sql=lambda *_: (_ for _ in ()).throw(RuntimeError("Service Unavailable 503")))

    def open_spark() -> Any:
        opened.append(1)
        return failing

    catalog: Any = SimpleNamespace(tables=list, views=list)
    session = Session(Settings(), catalog, open_spark)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "prepare_session", lambda *_: None)
        with pytest.raises(BaseTableError, match="cannot be read"):
            session.has_table("hdfs://nowhere/lake/t")
    assert opened == [1]
    with pytest.raises(BaseTableError, match="cannot be read"):  # not: there is none
        TableLog.exists("hdfs://nowhere/lake/t")


def test_a_message_has_no_zero_byte() -> None:
    assert QueryFails("The value '1\0' cannot be cast").message == "The value '1\ufffd' cannot be cast"
