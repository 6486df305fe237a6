"""Writes the pages of examples, and their claims to docs/examples.json: `python packaging/example_pages.py [NAME ...]`.

From stored runs; nothing is trained. Without a name all of them are written.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CLAIMS = ROOT / "docs/examples.json"
NAMES = sorted(file.stem for file in (ROOT / "examples").glob("*.py") if "ABOUT = " in file.read_text())


def report(name: str) -> tuple[str, list[dict[str, Any]]]:
    """An example's page, and its claims."""
    with tempfile.TemporaryDirectory() as folder:
        claims = Path(folder) / "claims.json"
        command = [sys.executable, f"examples/{name}.py", "report", "--claims", str(claims)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout, json.loads(claims.read_text())


def main(names: Sequence[str]) -> None:
    """The pages and claims of these examples."""
    known = json.loads(CLAIMS.read_text()) if CLAIMS.exists() else []
    for name in names:
        page = name.replace("_", "-")
        text, claims = report(name)
        (ROOT / f"docs/{page}.md").write_text(text)
        known = [each for each in known if each["recipe"] != page] + claims
    known.sort(key=lambda each: each["recipe"])
    CLAIMS.write_text("[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in known) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
