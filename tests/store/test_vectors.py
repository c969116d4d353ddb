import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from wherein.store.vectors import quantize, similarities


def _unit_rows(n: int, dim: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_int8_cosines_are_near_the_float_ones() -> None:
    rows = _unit_rows(500, 256, 1)
    query = _unit_rows(1, 256, 2)[0]
    stored, scales = quantize(rows)
    assert np.allclose(np.linalg.norm(stored * scales[:, None], axis=1), 1, atol=1e-5)
    assert np.abs(similarities(quantize(query[None]), stored, scales) - rows @ query).max() < 0.01


def test_the_int8_products_are_exact() -> None:
    rows, scales = quantize(_unit_rows(300, 64, 3))
    query, query_scale = quantize(_unit_rows(1, 64, 4))
    exact = rows.astype(np.int64) @ query[0].astype(np.int64)
    found = similarities(quantize((query[0] * query_scale[0])[None]), rows, scales)
    expected = exact.astype(np.float32) * scales * query_scale[0]
    assert np.array_equal(found, expected)


def test_zero_and_strange_rows_give_zero_and_never_nan() -> None:
    rows = np.array([[0, 0], [np.nan, 1], [np.inf, 0], [0, -1]], np.float32)
    stored, scales = quantize(rows)
    for query in ([0.0, 1.0], [0.0, 0.0], [np.nan, 0.0]):
        found = similarities(quantize(np.array([query], np.float32)), stored, scales)
        assert np.isfinite(found).all()
        assert found[:3].tolist() == [0, 0, 0]
    assert similarities(quantize(np.ones((1, 2), np.float32)), stored[:0], scales[:0]).shape == (0,)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(0, 4), st.integers(1, 8)),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    )
)
def test_int8_rows_are_near_unit_rows_and_never_nan(vectors: np.ndarray) -> None:
    rows, scales = quantize(vectors)
    assert np.isfinite(scales).all()
    sound = np.isfinite(vectors).all(axis=1) & (np.abs(vectors).max(axis=1, initial=0) > 1e-20)
    directions = vectors[sound].astype(np.float64)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert np.abs(rows[sound] * scales[sound, None] - directions).max(initial=0) < 0.02
    assert not rows[~np.isfinite(vectors).all(axis=1)].any()
