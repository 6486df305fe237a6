"""The four views in a real browser: nothing fails, nothing is loaded from elsewhere, small screens and keys work."""

import shutil
import threading
import urllib.error
import urllib.request

import pytest

from lopsided.store.parts import Store
from lopsided.study.recipe_run import prepare

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.slow,
]
PATIENCE = 60_000
"""Milliseconds that a view may take on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    from lopsided.explore.server import Explorer

    root = tmp_path_factory.mktemp("explored") / "store"
    prepare("set-size", "smoke", None, ()).train(Store(root))
    found = Explorer(root)
    thread = threading.Thread(target=found.serve, daemon=True)
    thread.start()
    yield found
    found.close()
    thread.join()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as browsers:
        found = browsers.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def view(browser, page):
    """A tab that remembers what went wrong in it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = context.new_page()
    found.set_default_timeout(PATIENCE)
    found.wrong = []
    found.on("console", lambda said: found.wrong.append(said.text) if said.type == "error" else None)
    found.on("pageerror", lambda error: found.wrong.append(str(error)))
    found.on("response", lambda got: found.wrong.append(f"{got.status} {got.url}") if got.status >= 400 else None)
    found.on("request", lambda asked: found.wrong.append(asked.url) if _elsewhere(asked.url) else None)
    found.goto(page.address)
    found.wait_for_selector("#claims-count:not(:empty)")
    yield found
    context.close()


def _elsewhere(url):
    return not url.startswith(("http://127.0.0.1:", "data:", "blob:"))


def test_a_click_through_the_four_views(view):
    view.get_by_label("not run").check()
    view.wait_for_selector(".square")
    view.fill("#claims-words", "set-size")
    view.keyboard.press("Enter")
    view.wait_for_function("() => document.querySelectorAll('h3').length == 1")
    view.click("#to-run")
    view.wait_for_selector("#run-picture .scatterlayer .trace")
    view.click("#run-chart >> text=times to learn")
    view.wait_for_selector("#run-picture :text('steps to learn')")
    view.click("#run-chart >> text=heat map")
    view.wait_for_selector("#run-picture .heatmaplayer image, #run-picture .heatmaplayer .hm")
    with view.expect_download() as saved:
        view.click("#run-csv")
    assert saved.value.suggested_filename == "set-size-smoke-test-accuracy.csv"
    with view.expect_download() as saved:
        view.click("#run-svg")
    assert saved.value.suggested_filename.endswith(".svg")
    assert view.text_content("#run-query").startswith("lopsided query")
    view.click("#to-live")
    view.wait_for_selector("#live-tables table")
    assert "set-size-smoke" in view.text_content("#live-tables")
    view.click("#to-try")
    view.wait_for_selector(".form input")
    assert view.wrong == []


def test_a_small_run_is_started_and_cancelled(view, page):
    view.click("#to-try")
    view.wait_for_selector(".form input")
    steps = view.locator("input[id*='\"steps\"']")
    steps.fill("0")
    view.click("#try-start")
    view.wait_for_selector(".wrong:has-text('steps')")
    steps.fill("900000")
    view.click("#try-start")
    view.wait_for_selector(".try:has-text('running')")
    view.click(".try button")
    view.wait_for_selector(".try:has-text('cancelled')")
    assert page.tries.all[0].process.poll() is not None
    assert view.wrong == []


def test_a_screen_of_420_pixels(view):
    view.set_viewport_size({"width": 420, "height": 800})
    for name, ready in {"claims": "#claims-count", "run": "#run-picture .trace", "live": "#live-tables table"}.items():
        view.click(f"#to-{name}")
        view.wait_for_selector(ready)
        assert view.evaluate("() => document.documentElement.scrollWidth") <= 420, name
    assert view.wrong == []


def test_by_keyboard(view):
    for _ in range(40):
        view.keyboard.press("Tab")
        if view.evaluate("() => document.activeElement.id") == "to-run":
            break
    view.keyboard.press("Enter")
    view.wait_for_selector("#run-picture .scatterlayer .trace")
    reached = set()
    for _ in range(40):
        view.keyboard.press("Tab")
        reached.add(view.evaluate("() => (document.activeElement.closest('[id]') || {}).id || ''"))
    assert {"run-label", "run-metric", "run-png", "run-csv"} <= reached, reached
    assert view.wrong == []


def test_a_reload_keeps_the_filters(view):
    view.fill("#claims-words", "set-size")
    view.keyboard.press("Enter")
    view.wait_for_function("() => document.querySelectorAll('h3').length <= 1")
    view.reload()
    view.wait_for_selector("#claims-count:not(:empty)")
    view.wait_for_function("() => document.querySelector('#claims-words').value == 'set-size'")
    assert view.wrong == []


def test_a_page_whose_explorer_has_ended_says_so(browser, tmp_path):
    from lopsided.explore.server import Explorer

    found = Explorer(tmp_path)
    thread = threading.Thread(target=found.serve, daemon=True)
    thread.start()
    context = browser.new_context()
    view = context.new_page()
    view.goto(found.address)
    view.wait_for_selector("header .folder")
    assert view.query_selector(".ended") is None
    found.close()
    thread.join()
    view.wait_for_selector(f".ended:has-text('lopsided explore {tmp_path}')", timeout=PATIENCE)
    context.close()


def test_another_host_s_page_gets_nothing(page):
    asked = urllib.request.Request(page.address, headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(asked)
    with refused.value as answer:
        assert answer.code == 404


@pytest.mark.parametrize("path", ["", "run", "wrong-token/", "_dash-layout", "wrong-token/_dash-layout"])
def test_nothing_without_the_word_in_the_address(page, path):
    base = page.address.rstrip("/").rpartition("/")[0]
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{base}/{path}")
    with refused.value as answer:
        assert answer.code == 404
