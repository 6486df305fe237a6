"""Who is answered: this machine, under the address with the random word, and pages of that address alone."""

import logging

import pytest

pytest.importorskip("dash")

from dash import Dash, html

from lopsided.explore.server import Served, empty_app


@pytest.fixture
def page():
    """`ask(path, **headers)` answers as the server does, and the address."""
    made: list[Dash] = []

    def make(address):
        made.append(empty_app(address))
        made[0].layout = html.Div("hello")
        return made[0]

    served = Served(make)
    host = served.address.split("/")[2]
    client = made[0].server.test_client()
    yield lambda path, **headers: client.get(path, headers={"Host": host, **headers}), served.address, made[0]
    served._server.server_close()


def test_only_its_own_address_is_answered(page):
    ask, address, _ = page
    word = address.split("/")[3]
    host = address.split("/")[2]
    assert ask(f"/{word}/").status_code == 200
    for path in ("/", "/run", "/wrong/", "/_dash-layout", "/wrong/_dash-layout"):
        assert ask(path).status_code == 404, path
    assert ask(f"/{word}/", Host="evil.example").status_code == 404  # a name that was made to lead here
    assert ask(f"/{word}/", Origin=f"http://{host}").status_code == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert ask(f"/{word}/", Origin=origin).status_code == 404, origin


def test_an_answer_says_what_may_be_loaded(page):
    ask, address, _ = page
    headers = ask(f"/{address.split('/')[3]}/").headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_word_is_in_no_log(page, caplog):
    _, address, app = page
    word = address.split("/")[3]
    with caplog.at_level(logging.ERROR):
        app.server.logger.error("Exception on /%s/x", word)
    assert word not in caplog.text
    assert "…" in caplog.text


def test_a_file_that_is_not_there_is_not_found(page):
    """Dash's own files under a name that it does not have ended in an error 500 and a list of paths."""
    ask, address, _ = page
    word = address.split("/")[3]
    assert ask(f"/{word}/_dash-component-suites/dash/x.js").status_code == 404
