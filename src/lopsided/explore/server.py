"""The page's server: on this machine only, under an address that nobody can guess."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, dcc, html
from dash.exceptions import DependencyException
from flask import abort, request
from werkzeug.serving import BaseWSGIServer, make_server

from lopsided.core.errors import InputError
from lopsided.explore.folder import Folder
from lopsided.explore.pages import claims, live, run, trial
from lopsided.explore.trying import Tries
from lopsided.explore.verdicts import Verdicts

HOST = "127.0.0.1"
VIEWS = {"": "claims", "run": "run", "live": "live", "try": "try"}
"""Title of each view by the last word of its address."""


class Served:
    """A page that this machine alone may open: a Dash app under an address with a random word in it."""

    def __init__(self, make: Callable[[str], Dash], port: int = 0):
        """`make` gets the address; `port` 0: any that is free. Raises `InputError` for one that is not."""
        self._serving = False
        token = secrets.token_urlsafe(16)
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # an access log would hold the token
        app = make(f"/{token}/")
        app.server.logger.addFilter(_WithoutToken(token))
        app.server.before_request(_from_here)
        app.server.after_request(_with_policy)
        # Dash 4.4 raises for a file of its own that is not there, and lists all that are: 500, and a page of log.
        app.server.register_error_handler(DependencyException, lambda _: ("", 404))
        try:
            with socket.create_server((HOST, port)) as bound:
                self._server: BaseWSGIServer = make_server(HOST, port, app.server, threaded=True, fd=bound.fileno())
                self.address = f"http://{HOST}:{bound.getsockname()[1]}/{token}/"
        except OSError as error:
            raise InputError(f"--port {port}: cannot be used ({os.strerror(error.errno or 0)})") from None

    def serve(self) -> None:
        """Answer until `close` is called, or Ctrl-C."""
        self._serving = True
        self._server.serve_forever()

    def close(self) -> None:
        """Stop the server."""
        if self._serving:  # else `shutdown` waits for ever for an end of what never began
            self._server.shutdown()
        self._server.server_close()


class Explorer:
    """A folder, what is known of it, and the server that shows it."""

    def __init__(self, root: Path, port: int = 0):
        """`port` 0: any that is free. Raises `InputError` for one that is not."""
        self.folder = Folder(root)
        self.verdicts = Verdicts(self.folder)
        self.tries = Tries(root)
        try:
            self._page = Served(lambda address: make_app(self.folder, self.verdicts, self.tries, address), port)
        except InputError:
            self.folder.close()
            raise
        self.address = self._page.address

    def serve(self) -> None:
        """Answer until `close` is called, or Ctrl-C."""
        self.folder.start()
        self.verdicts.start()
        self._page.serve()

    def close(self) -> None:
        """Stop the server, the runs that the page started, and everything that looks at the folder."""
        self._page.close()
        self.tries.close()
        self.verdicts.close()
        self.folder.close()


def _from_here() -> None:
    """Refuse a page of another host that was led to this server's address, and what a page of another origin sends."""
    if request.host.partition(":")[0] not in (HOST, "localhost"):
        abort(404)
    origin = request.headers.get("Origin")
    if origin is not None and origin != f"http://{request.host}":
        abort(404)


def _with_policy(response: Any) -> Any:
    """The answer with a policy: only this server's own files are loaded, nobody frames the page, no type is guessed.
    (Dash writes its settings as scripts and styles into the page; Plotly makes functions of text.)"""
    response.headers["Content-Security-Policy"] = (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"
    )
    response.headers["X-Frame-Options"] = "DENY"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


class _WithoutToken(logging.Filter):
    """Leaves the address out of what a server error says: it holds the token."""

    def __init__(self, token: str):
        super().__init__()
        self._token = token

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = record.getMessage().replace(self._token, "…"), None
        return True


def empty_app(address: str) -> Dash:
    """A page under `address` without anything on it; everything that it loads comes from this server."""
    return Dash(
        __name__,
        url_base_pathname=address,
        title="lopsided",
        update_title="",
        serve_locally=True,
        suppress_callback_exceptions=True,
        meta_tags=[{"name": "viewport", "content": "width=device-width, initial-scale=1"},
                   {"name": "referrer", "content": "no-referrer"}],
    )  # fmt: skip


def make_app(folder: Folder, verdicts: Verdicts, tries: Tries, address: str) -> Dash:
    """The pages of a folder under `address`."""
    app = empty_app(address)
    links = [dcc.Link(title, href=f"{address}{view}", id=f"to-{title}") for view, title in VIEWS.items()]
    app.layout = html.Div(
        [
            dcc.Location(id="where"),
            html.Header([html.Strong("lopsided"), html.Nav(links), html.Span(str(folder.root), className="folder")]),
            html.Main(id="view"),
        ]
    )

    @app.callback(
        Output("view", "children"),
        *[Output(f"to-{title}", "className") for title in VIEWS.values()],
        Input("where", "pathname"),
        Input("where", "search"),
    )
    def show(path: str | None, search: str | None) -> Any:
        view = (path or address).removeprefix(address).strip("/")
        marks = ["here" if view == each else "" for each in VIEWS]
        made = {
            "": lambda: claims.layout(verdicts),
            "run": lambda: run.layout(folder, search or ""),
            "live": live.layout,
            "try": lambda: trial.layout(folder),
        }
        return made[view]() if view in made else html.P("There is no such view."), *marks

    claims.register(app, verdicts, folder, address)
    run.register(app, folder)
    live.register(app, folder)
    trial.register(app, folder, tries, address)
    return app
