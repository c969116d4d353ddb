import numpy as np

from wherein.embed.arrays import product


def test_a_product_is_numpys_whatever_flags_were_raised_meanwhile() -> None:
    generator = np.random.default_rng(0)
    left = generator.normal(size=(7, 33)).astype(np.float32)
    right = generator.normal(size=(33, 5)).astype(np.float32)
    np.testing.assert_array_equal(product(left, right), left @ right)
    invalid = np.array([[np.inf]], np.float32), np.zeros((1, 1), np.float32)
    with np.errstate(invalid="raise"):
        assert np.isnan(product(*invalid)).all()
