"""`packaging/unpack.py` makes a store in which a run goes on from published rows."""

import sys
from pathlib import Path

import pytest

from lopsided.core.registry import registered
from lopsided.store.parts import Store
from lopsided.study.checking import claims_of
from lopsided.study.manifest import recorded

sys.path.insert(0, str(Path(__file__).parents[2] / "packaging"))
from unpack import main


def test_recipes_share_a_store_in_which_their_members_are_complete(tmp_path):
    names = ["auto-schedule", "parameter-ablation"]
    main(tmp_path, names)
    store = Store(tmp_path)
    for name in names:
        run = claims_of(registered("recipe")[name], recorded(store), store).run
        assert run is not None
        assert {(spec.content_hash(), 0) for spec in run.arms.values()} <= set(store.complete())


def test_recipes_whose_members_stay_to_the_end_are_refused(tmp_path):
    with pytest.raises(SystemExit, match="deflation: members stay to the end"):
        main(tmp_path, ["deflation"])
