import itertools

from lopsided.price import peak
from lopsided.price.peak import Peak, peaks


def test_every_library_at_hand_is_measured(monkeypatch):
    monkeypatch.setattr(peak, "SIZES", (64,))
    monkeypatch.setattr(peak, "SECONDS", 0.01)
    found = peaks()
    assert {("JAX", "float32"), ("JAX", "bfloat16"), ("NumPy", "float32")} <= {each[:2] for each in found}
    assert all(isinstance(each, Peak) for each in found)


def test_a_rate_is_operations_by_seconds_of_the_fastest_product(monkeypatch):
    """A clock that goes on by a quarter of a second whenever it is looked at; n^3 products and as many sums."""
    clock = itertools.count(0.0, 0.25)
    monkeypatch.setattr(peak, "SIZES", (32, 64))
    monkeypatch.setattr(peak, "SECONDS", 1.0)
    monkeypatch.setattr(peak.time, "perf_counter", lambda: next(clock))
    assert peak._best(lambda n: (lambda: None, 2.0 * n**3)) == 2 * 64**3 / 0.25
