"""Claims and rows as an RO-Crate: a folder whose ro-crate-metadata.json says what each file is, by schema.org."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lopsided.core.errors import InputError
from lopsided.core.provenance import software
from lopsided.export.logbook import identifier, word
from lopsided.report.as_json import as_text
from lopsided.report.schema import claims_schema
from lopsided.report.words import effect_text
from lopsided.stats.verdict import Claim
from lopsided.store.files import replace_text

LICENCE = "https://creativecommons.org/licenses/by/4.0/"


def write_crate(folder: Path, document: Mapping[str, Any], rows: Path | None = None) -> Path:
    """Write the claims, their schema and (a copy of) published rows into an empty folder. Raises `InputError` if it is
    not empty, or if nothing is decided."""
    if all(each["verdict"] == "not run" for each in document["claims"]):
        raise InputError("export: none of these claims is decided; nothing to write")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"export: {str(folder)!r} is not empty; a crate is a folder of its own")
    folder.mkdir(parents=True, exist_ok=True)
    replace_text(folder / "claims.json", as_text(dict(document)) + "\n")
    replace_text(folder / "claims.schema.json", json.dumps(claims_schema(), indent=1, ensure_ascii=False) + "\n")
    files = [
        _file("claims.json", "Claims, what was measured, and how each was decided", "application/json"),
        _file("claims.schema.json", "JSON Schema of claims.json", "application/schema+json"),
    ]
    asked = {each["recipe"] for each in document["claims"]}
    for source in sorted(rows.glob("*.parquet")) if rows else ():
        if source.stem not in asked:
            continue
        shutil.copyfile(source, folder / source.name)
        said = f"Rows that decide the claims of {source.stem}"
        files.append(_file(source.name, said, "application/vnd.apache.parquet"))
    claims = [_claim(Claim.of_json(each)) for each in document["claims"] if each["verdict"] != "not run"]
    parts = [{"@id": each["@id"]} for each in files]
    about = {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"},
             "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}}  # fmt: skip
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "Claims about the shape of training data, decided by lopsided",
        "description": "What three papers say of the shape of training data, measured anew, with tests and intervals.",
        "license": {"@id": LICENCE},
        "hasPart": parts,
        "mentions": [{"@id": each["@id"]} for each in claims],
    }
    program = {
        "@id": "#lopsided",
        "@type": "SoftwareApplication",
        "name": "lopsided",
        "version": software()["lopsided"],
    }
    graph = [about, root, program, *files, *claims]
    found = folder / "ro-crate-metadata.json"
    replace_text(
        found, json.dumps({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}, indent=1) + "\n"
    )
    return found


def _file(name: str, said: str, form: str) -> dict[str, Any]:
    return {"@id": name, "@type": "File", "name": said, "encodingFormat": form}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "@id": f"#{identifier(claim)}",
        "@type": "Claim",
        "name": claim.claim,
        "text": f"{word(claim)}: {effect_text(claim)}",
        "isBasedOn": {"@id": "claims.json"},
    }
