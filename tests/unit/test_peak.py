from lopsided.price import peak
from lopsided.price.peak import Peak, peaks


def test_every_library_at_hand_is_measured(monkeypatch):
    monkeypatch.setattr(peak, "SIZES", (64,))
    monkeypatch.setattr(peak, "SECONDS", 0.01)
    found = peaks()
    assert {("JAX", "float32"), ("JAX", "bfloat16"), ("NumPy", "float32")} <= {each[:2] for each in found}
    assert all(isinstance(each, Peak) and 1e6 < each.rate < 1e16 for each in found)
