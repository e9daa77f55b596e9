"""Places for connections: addresses share them."""

from mixsearch.web import Limits
from mixsearch.web.middleware.places import Places


def make_places(**limits):
    return Places(Limits(**limits))


def test_an_address_has_its_own_limit():
    places = make_places(max_connections=10, max_per_address=2)
    assert [places.take("a", i) for i in range(3)] == [None, None, 2]
    assert places.take("b", 3) is None


def test_a_place_that_is_given_back_is_taken_again():
    places = make_places(max_connections=10, max_per_address=1)
    places.take("a", 0)
    places.give_back(0)
    assert places.take("a", 1) is None


def test_if_all_places_are_taken_the_oldest_of_the_largest_address_ends():
    places = make_places(max_connections=5, max_per_address=5)
    for i, address in enumerate("abbba"):
        assert places.take(address, i) is None
    assert places.take("c", 5) == 1
    places.give_back(1)  # as when it is lost: it has no place any more
    assert places.take("c", 6) == 6, "no other address has more than the two of this one"


def test_the_largest_address_takes_no_place_of_others():
    places = make_places(max_connections=3, max_per_address=5)
    for i, address in enumerate("aab"):
        places.take(address, i)
    assert places.take("a", 3) == 3


def test_however_many_come_each_address_keeps_its_share():
    places = make_places(max_connections=12, max_per_address=6)
    held = {}
    for i in range(300):
        address = "aaabbbccd"[i % 9]
        held[i] = address
        held.pop(places.take(address, i), None)
    assert sorted(held.values()) == sorted("abcd" * 3)
