import numpy as np
import pytest

from mixsearch.errors import HintError, RepeatedIdsWarning
from mixsearch.table._rows import find_rows


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (["a", "b", "c"], ["c", "a"]),
        ([10, 20, 30], [30, 10]),
        ([10, 20, 30], ["30", " 10"]),
        (np.array([10.0, 20.0, 30.5]), ["30.5", "10"]),
        (["10", "20", "30"], [30, 10.0]),
    ],
)
def test_rows_come_in_the_order_of_their_ids(values, wanted):
    assert find_rows(values, wanted).tolist() == [2, 0]


def test_an_id_of_several_rows_gives_all_and_a_repeated_id_counts_once():
    with pytest.warns(RepeatedIdsWarning, match="The id a names 2 rows, and all of them are taken") as caught:
        assert find_rows(["a", "b", "a"], ["a", "a"]).tolist() == [0, 2]
    assert (caught[0].message.code, caught[0].message.fields["ids"]) == ("repeated_ids", ["a"])
    with pytest.warns(RepeatedIdsWarning, match="2 of the ids given name 5 rows, and all of these are taken: b, a"):
        assert find_rows(["a", "b", "a", "c", "b", "b"], ["b", "c", "a"]).tolist() == [1, 4, 5, 3, 0, 2]


def test_ids_of_one_row_each_are_no_warning():
    """Warnings are errors: other ids of the table may be repeated."""
    assert find_rows(["a", "b", "a"], ["b"]).tolist() == [1]


def test_ids_that_are_in_no_row_are_listed():
    with pytest.raises(
        HintError, match=r"2 of 3 ids are in none of the 4 rows: z, 9. The ids begin with a, b, c, d"
    ) as e:
        find_rows(["a", "b", "c", "d"], ["z", "b", 9])
    assert e.value.code == "unknown_rows"
    assert e.value.fields["missing_ids"] == ["z", "9"]


def test_one_id_that_is_in_no_row_is_spoken_of_as_one():
    with pytest.raises(HintError, match="^The id z is in none of the 2 rows. The ids begin with a, b.$"):
        find_rows(["a", "b"], ["z"])
    with pytest.raises(HintError, match="^1 of 2 ids is in none of the 2 rows: z. The ids begin with a, b.$"):
        find_rows(["a", "b"], ["z", "a"])


def test_a_long_list_is_cut_in_the_sentence_only():
    with pytest.raises(HintError, match=r"100, 101, .*107, \.\.\.\.") as raised:
        find_rows(range(50), range(100, 120))
    assert len(raised.value.fields["missing_ids"]) == 20


def test_one_id_needs_no_list():
    assert find_rows(["ab", "a", "b"], "ab").tolist() == [0]
    assert find_rows([11, 12], 12).tolist() == [1]
