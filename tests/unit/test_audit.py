import numpy as np
import pytest
from tests.coded import raises

from mixsearch import Audit


def plant(seed, n=4000, *, share=0.05, slope=1.0):
    """Scores, and members whose log odds fall by `slope` for each doubling of the rank; 0: a worthless score."""
    rng = np.random.default_rng(seed)
    logits = -slope * np.log2(np.arange(1, n + 1) / (share * n)) + (np.log(share / (1 - share)) if not slope else 0)
    is_member = rng.random(n) < 1 / (1 + np.exp(-logits))
    row = rng.permutation(n)  # the row of each rank
    scores, members = np.empty(n), np.empty(n, dtype=bool)
    scores[row], members[row] = -np.arange(n), is_member
    return scores, members


def judge(audit, members, n):
    return audit.judge({int(row): bool(members[row]) for row in audit.draw(n)})


def truths(scores, members, n_listed):
    hits = members[np.argsort(-scores)[:n_listed]].sum()
    return hits / n_listed, hits / members.sum(), members.sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "slope"), [(0.05, 1.0), (0.3, 3.0), (0.005, 1.0), (0.1, 0.0)], ids=["usual", "good", "rare", "worthless"]
)
@pytest.mark.parametrize("batches", [(40,), (20, 20, 20)])
def test_intervals_hold_the_truth_whatever_the_score_is_worth(share, slope, batches):
    covered = []
    for seed in range(30):
        scores, members = plant(seed, share=share, slope=slope)
        audit = Audit(scores, 200, random_state=seed)
        for n in batches:
            result = judge(audit, members, n)
        intervals = (result.precision, result.recall, result.n_members)
        pairs = zip(truths(scores, members, 200), intervals, strict=True)
        covered += [each.low - 1e-9 <= truth <= each.high + 1e-9 for truth, each in pairs]
    # With a coverage of .95, fewer than this happen once in ten thousand tries even where the three go together.
    assert np.mean(covered) > 0.78


def test_judging_all_rows_is_exact():
    scores, members = plant(0, 300, share=0.2)
    result = judge(Audit(scores, 70), members, 300)
    for truth, estimate in zip(
        truths(scores, members, 70), (result.precision, result.recall, result.n_members), strict=True
    ):
        np.testing.assert_allclose(estimate, truth)
    group = np.arange(300) % 3
    for name, part in result.by(group).items():
        assert part.n_members == (members[group == name].sum(),) * 3
        assert part.n_rows == part.n_judged == 100


def test_more_judgements_narrow_the_intervals():
    widths = []
    for seed in range(12):
        scores, members = plant(seed)
        audit = Audit(scores, 200, random_state=seed)
        results = [judge(audit, members, n) for n in (20, 60, 240)]
        widths.append(
            [[np.log(r.n_members.high / r.n_members.low), r.precision.high - r.precision.low] for r in results]
        )
    typical = np.median(widths, axis=0)
    assert (np.diff(typical, axis=0) < 0).all()
    assert np.exp(typical[-1, 0]) < 2.5


def test_draws_new_rows_that_are_not_known_the_same_in_every_run():
    scores, members = plant(1, 500)
    known = {int(row): True for row in np.flatnonzero(members)[:5]}
    first, again = (Audit(scores, 50, known=known) for _ in range(2))
    drawn = np.concatenate([first.draw(20), first.draw(30)])
    assert len({*drawn.tolist(), *known}) == 55
    np.testing.assert_array_equal(again.draw(20), drawn[:20])
    with raises("too_many_to_judge", n_left=445):
        first.draw(446)
    assert len(first.draw(445)) == 445


def test_draws_within_a_stratum_whatever_the_score():
    # Rows of equal score are one stratum: their row numbers say nothing about whether they are drawn.
    scores = np.repeat([2.0, 1.0], [100, 900])
    drawn = np.concatenate([Audit(scores, 100, random_state=seed).draw(40) for seed in range(40)])
    listed, others = drawn[drawn < 100], drawn[drawn >= 100]
    for rows, low, high in ((listed, 0, 100), (others, 100, 1000)):
        z = (rows.mean() - (low + high - 1) / 2) / ((high - low) / np.sqrt(12 * len(rows)))
        assert abs(z) < 4.5


def test_later_judgements_keep_earlier_ones_valid_also_in_another_process():
    scores, members = plant(2)
    audit = Audit(scores, 200)
    rows = np.concatenate([audit.draw(20), audit.draw(20)])
    judgements = {int(row): bool(members[row]) for row in rows}
    result = audit.judge(judgements)
    # Judgements of rows alone, as from a file, say the same.
    assert Audit(scores, 200).judge(judgements) == result
    more = judge(audit, members, 40)
    assert more.n_judged == 80
    assert more.by(members) != result.by(members)  # and a result does not change


def test_rows_that_were_not_drawn_count_as_what_they_are_and_say_nothing_about_others():
    scores, members = plant(3)
    audit = Audit(scores, 200)
    before = judge(audit, members, 60)
    waiting = np.setdiff1d(np.flatnonzero(members), list(audit.draw(1)))
    chosen = {int(row): True for row in waiting[scores[waiting] < -1000][-15:]}  # far down, and members all
    after = audit.judge(chosen)
    assert after.n_judged == before.n_judged + len(chosen)
    assert after.n_members.estimate < before.n_members.estimate + 2 * len(chosen) + 10


def test_examples_are_members_and_are_not_judged():
    scores, members = plant(4, 400, share=0.2)
    rows = np.flatnonzero(members)[:10]
    audit = Audit(scores, 80, known={int(row): True for row in rows})
    result = audit.judge({int(row): False for row in audit.draw(390)})
    assert result.n_members == (10, 10, 10)
    assert result.n_judged == 390
    with raises("contradictory_judgement", row=int(rows[0])):
        audit.judge({int(rows[0]): False})


def test_groups_add_up_and_hold_the_truth():
    held, n_groups = 0, 0
    for seed in range(15):
        scores, members = plant(seed, share=0.15)
        group = np.where(
            np.random.default_rng(seed).random(4000) < 0.3 + 0.4 * members, "a", "b"
        )  # "a" has more members
        audit = Audit(scores, 600, get_column={"shop": group}.get, random_state=seed)
        result = judge(audit, members, 80)
        parts = result.by("shop")
        assert sum(part.n_rows for part in parts.values()) == 4000
        total = sum(part.n_members.estimate for part in parts.values())
        assert result.n_members.low <= total <= result.n_members.high
        held += sum(p.n_members.low <= members[group == name].sum() <= p.n_members.high for name, p in parts.items())
        n_groups += len(parts)
    assert held / n_groups > 0.75


def test_skipped_and_withdrawn_judgements_are_not_counted():
    scores, members = plant(6)
    audit = Audit(scores, 200)
    rows = audit.draw(40).tolist()
    with raises("nothing_judged"):
        audit.judge(dict.fromkeys(rows))
    assert audit.judge({row: bool(members[row]) for row in rows[:30]}).n_judged == 30
    with raises("contradictory_judgement", row=rows[0]):
        audit.judge({rows[0]: not members[rows[0]]})
    assert audit.judge({rows[0]: None}).n_judged == 29
    assert audit.judge({rows[0]: not members[rows[0]]}).n_judged == 30


@pytest.mark.parametrize(
    ("scores", "n_listed", "code"),
    [
        (np.ones(10), 3, "constant_scores"),
        ([1.0, np.nan, 2.0], 1, "bad_argument"),
        ([1.0], 1, "bad_argument"),
        (np.ones((3, 2)), 1, "bad_argument"),
        (np.arange(10.0), 11, "bad_argument"),
        (np.arange(10.0), 0, "bad_argument"),
    ],
)
def test_rejects_scores_that_rank_nothing(scores, n_listed, code):
    with raises(code):
        Audit(scores, n_listed)


@pytest.mark.parametrize(
    ("judgements", "code"),
    [
        ({10: True}, "unknown_row"),
        ({-1: True}, "unknown_row"),
        ({"a": True}, "unknown_row"),
        ({3: "no"}, "bad_judgement"),
    ],
)
def test_rejects_judgements_that_say_nothing(judgements, code):
    with raises(code):
        Audit(np.arange(10.0), 3).judge(judgements)


def test_rejects_columns_that_are_not_groups():
    result = Audit(np.arange(300.0), 10).judge({3: True})
    with raises("too_many_groups", n_groups=300):
        result.by(np.arange(300))
    for column in (np.arange(3), "shop"):
        with raises("bad_argument"):
            result.by(column)


def test_a_huge_ranking_of_few_levels():
    scores = np.r_[np.full(30, 2.0), np.ones(70), np.zeros(199_900)]
    audit = Audit(scores, 30)
    result = audit.judge({int(row): row < 30 for row in audit.draw(60)})
    assert result.precision.high == 1
    assert result.n_members.low <= 30 <= result.n_members.high
