from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.search.fuse import reciprocal_rank_fusion

ranking = st.lists(st.integers(0, 9), max_size=8, unique=True)


def test_an_item_that_two_lists_name_comes_before_one_that_one_names() -> None:
    fused = reciprocal_rank_fusion({"a": [1, 2], "b": [3, 2]})
    assert [item for item, _ in fused] == [2, 1, 3]


def test_weights_and_k_enter_the_sum() -> None:
    fused = dict(reciprocal_rank_fusion({"a": [1], "b": [2]}, {"a": 3.0}, k=9))
    assert fused == {1: 0.3, 2: 0.1}


@given(rankings=st.dictionaries(st.sampled_from("abc"), ranking, max_size=3))
@settings(derandomize=True, max_examples=100)
def test_the_order_of_the_lists_does_not_show(rankings: dict[str, list[int]]) -> None:
    turned = dict(reversed(rankings.items()))
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion(turned)


@given(items=ranking)
@settings(derandomize=True, max_examples=50)
def test_one_list_keeps_its_order(items: list[int]) -> None:
    assert [item for item, _ in reciprocal_rank_fusion({"a": items})] == items
