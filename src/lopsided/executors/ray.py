"""Actors of a Ray cluster. They are detached: they go on when the process that started them ends.

Where actors see the folder, they are workers like all others. Where they do not (a cluster without a shared disk), each
trains into a folder of its own machine, job by job, and sends the parts back.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lopsided.core.errors import InputError
from lopsided.executors.actor import Actor
from lopsided.executors.base import Executor, missing_library

IDLE_SECONDS = 30.0
"""Patience of a worker, as of local ones."""
NAMESPACE = "lopsided"


def library(name: str = "ray") -> Any:
    """Ray, or a module of it: an optional library."""
    return importlib.import_module(name)


class Ray(Executor):
    """One actor for each worker, named after the folder."""

    name: ClassVar[str] = "ray"
    takes: ClassVar[tuple[str, ...]] = ("address", "num_cpus", "num_gpus", "memory", "shared")

    def __init__(self, root: Path, workers: int, options: Mapping[str, str]):
        try:
            ray = library()
        except ImportError:
            raise missing_library("ray") from None
        super().__init__(root, workers, options)
        address = self.options.pop("address", os.environ.get("RAY_ADDRESS", "auto"))
        self._shared = self.options.pop("shared", None)
        self.resources: dict[str, Any] = {"num_cpus": 1.0}
        """What an actor asks of Ray: `--on-set num_cpus=4 num_gpus=1`."""
        for key, value in self.options.items():
            try:
                self.resources[key] = float(value)
            except ValueError:
                raise InputError(f"--on-set {key}={value}: a number") from None
        if not ray.is_initialized():
            try:
                ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
            except ConnectionError:
                raise InputError(
                    f"--on ray: no Ray cluster at {address!r}; `ray start --head` makes one of this machine, "
                    "--on-set address=… names another"
                ) from None
        self._prefix = hashlib.sha256(str(root).encode()).hexdigest()[:10]
        self.handles: dict[str, Any] = {}

    @property
    def shares_folder(self) -> bool:
        """Whether actors see the store's folder: tried once, with a file that one of them looks for."""
        if self._shared is None:
            ray = library()
            probe = self.root / "workers" / f".seen-{uuid.uuid4().hex}"
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.touch()
            sees = ray.remote(num_cpus=0, scheduling_strategy="SPREAD")(os.path.exists)
            asked = [sees.remote(str(probe)) for _ in range(max(2, len(ray.nodes())))]
            self._shared = str(all(ray.get(asked)))
            probe.unlink()
        return self._shared.lower() not in ("false", "0", "no")

    def start(self, count: int) -> None:
        ray = library()
        for _ in range(count):
            name = f"{self._prefix}-{uuid.uuid4().hex[:6]}"
            options = {**self.resources, "name": name, "lifetime": "detached", "namespace": NAMESPACE}
            options |= {"max_restarts": 0, "max_concurrency": 1}
            handle = ray.remote(Actor).options(**options).remote(f"ray-{name}")
            self.handles[name] = handle
            if self.shares_folder:
                handle.work.remote(str(self.root), IDLE_SECONDS)

    def names(self) -> list[str]:
        """Actors of this folder that live or wait."""
        return [name for name in library("ray.util").list_named_actors() if name.startswith(self._prefix)]

    def count(self) -> int:
        return len(self.names())

    def end_actors(self) -> None:
        """End the actors, which train what they are sent: no work is left."""
        ray, handles = library(), list(self.actors().values())
        ray.wait([handle.close.remote() for handle in handles], num_returns=len(handles), timeout=5.0)
        for handle in handles:
            ray.kill(handle)

    def actors(self) -> dict[str, Any]:
        """Handles of this folder's living actors, by name; actors that an earlier head started are among them."""
        ray = library()
        known = self.handles
        self.handles = {name: known.get(name) or ray.get_actor(name, NAMESPACE) for name in self.names()}
        return self.handles
