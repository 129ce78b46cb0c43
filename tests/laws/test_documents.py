"""The laws a score obeys, on nested documents with ties and duplicates; on small ones brute force is the oracle.

Two laws of `sound/1` do not hold for `omni/1`; the counterexamples stand here and in docs/metric.md.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from brute_force import Omni, Outcome, Sound, leaves, rows, size
from docassay import Score, score
from docassay.extraction.metric import METRICS
from documents import ARRAYS, BOOKS, SCHEMA, documents, library, misread, shuffled, values

every_metric = pytest.mark.parametrize("metric", sorted(METRICS))
seeds = st.integers(0, 2**32 - 1).map(random.Random)


def counts(result: Score) -> tuple[int, ...]:
    six = result.counts
    return (six.matched, six.misread, six.unfound, six.fabricated, six.invented_item, six.invented_field)


@given(documents(), documents(), st.sets(st.sampled_from(ARRAYS), max_size=3))
def test_no_pairing_beats_the_one_taken(prediction: Any, gold: Any, ordered: set[str]) -> None:
    """omni/1: the counts are those of an optimal pairing found by trying all of them, also with ordered arrays."""
    result = score(prediction, gold, SCHEMA, metric="omni/1", order_matters=sorted(ordered))
    outcome = Outcome(*counts(result), matched_rows=result.matched_rows)
    assert outcome in Omni(frozenset(ordered)).outcomes(prediction, gold, SCHEMA)
    assert (result.gt_rows, result.pred_rows) == (rows(gold), rows(prediction))
    assert result.matching_exact


@given(documents(longest=2), documents(longest=2), st.sets(st.sampled_from(ARRAYS), max_size=2))
def test_no_pairing_gives_a_higher_accuracy(prediction: Any, gold: Any, ordered: set[str]) -> None:
    """sound/1: the counts are those of a pairing, of all arrays together, that none of all pairings beats."""
    result = score(prediction, gold, SCHEMA, metric="sound/1", order_matters=sorted(ordered))
    outcome = Outcome(*counts(result), matched_rows=result.matched_rows)
    assert outcome in Sound(frozenset(ordered)).best(prediction, gold, SCHEMA)


@given(documents(longest=4), documents(longest=3), st.integers(1, 6), seeds)
def test_correcting_a_value_never_lowers_accuracy(gold: Any, more: Any, wrong: int, chance: random.Random) -> None:
    """sound/1: of an answer with wrong values and surplus rows, no value put right makes accuracy smaller.

    The wrong values are such as stand nowhere in the ground truth; one that does could be right in another row.
    """
    assume(size(gold))
    answer = copy.deepcopy(gold)
    numbers = [chance.randrange(size(gold)) for _ in range(wrong)]
    for number in numbers:
        replace_one(answer, number, f"wrong {number}")
    right = list(leaf_values(gold))
    reached = [accuracy_of(with_surplus(answer, more), gold)]
    for number in numbers:
        replace_one(answer, number, right[number])
        reached.append(accuracy_of(with_surplus(answer, more), gold))
    assert reached == sorted(reached)


def accuracy_of(prediction: Any, gold: Any) -> float:
    accuracy = score(prediction, gold, SCHEMA, metric="sound/1").accuracy
    assert accuracy is not None
    return accuracy


def with_surplus(answer: Any, more: Any) -> Any:
    """The answer with the rows of another document before its own."""
    return {**answer, "rows": [*more.get("rows", []), *answer.get("rows", [])]}


def leaf_values(node: Any) -> Iterator[str]:
    """The values of a document in reading order."""
    for below in node.values() if isinstance(node, dict) else node:
        if isinstance(below, dict | list):
            yield from leaf_values(below)
        elif size(below):
            yield below


@every_metric
@given(prediction=documents(longest=6), gold=documents(longest=6), chance=seeds)
def test_order_changes_nothing(metric: str, prediction: Any, gold: Any, chance: random.Random) -> None:
    """All six counts are the same whatever the order of keys and elements on either side."""
    plain = score(prediction, gold, SCHEMA, metric=metric)
    mixed = score(shuffled(prediction, chance), shuffled(gold, chance), SCHEMA, metric=metric)
    assert counts(mixed) == counts(plain)
    assert mixed.matched_rows == plain.matched_rows


@every_metric
@given(gold=documents(longest=5), chance=seeds)
def test_a_document_scores_one_against_itself(metric: str, gold: Any, chance: random.Random) -> None:
    assume(size(gold))
    result = score(shuffled(gold, chance), gold, SCHEMA, metric=metric)
    assert result.accuracy == result.precision == result.recall == result.f1 == 1
    assert result.counts.matched == result.counts.total == size(gold)


@every_metric
@given(prediction=documents(), gold=documents())
def test_wrapping_in_a_level_changes_nothing(metric: str, prediction: Any, gold: Any) -> None:
    plain = score(prediction, gold, SCHEMA, metric=metric)
    outer = {"type": "object", "properties": {"outer": SCHEMA}}
    wrapped = score({"outer": prediction}, {"outer": gold}, outer, metric=metric)
    assert counts(wrapped) == counts(plain)
    rows_of = {"type": "object", "properties": {"list": {"type": "array", "items": SCHEMA}}}
    listed = score({"list": [prediction]}, {"list": [gold]}, rows_of, metric=metric)
    if plain.counts.matched:  # without a matching value the two would be no pair
        assert counts(listed) == counts(plain)


@every_metric
@given(prediction=documents(), gold=documents())
def test_verdicts_partition_the_addresses(metric: str, prediction: Any, gold: Any) -> None:
    result = score(prediction, gold, SCHEMA, metric=metric, verdicts=True)
    assert result.verdicts is not None
    addresses = [verdict.address for verdict in result.verdicts]
    assert len(addresses) == len(set(addresses)) == result.counts.total
    assert result.counts.gold == size(gold)
    assert result.counts.asserted == size(prediction)
    listed = [verdict.verdict for verdict in result.verdicts]
    assert tuple(map(listed.count, Outcome._fields[:6])) == counts(result)
    for verdict in result.verdicts:
        assert (verdict.gold_canon is not None) == (verdict.verdict in {"matched", "misread", "unfound"})
        assert (verdict.pred_canon is not None) == (verdict.verdict != "unfound")
        if verdict.verdict in {"matched", "misread"}:
            assert (verdict.gold_canon == verdict.pred_canon) == (verdict.verdict == "matched")


@every_metric
@given(prediction=documents(), gold=documents())
def test_fields_sum_to_the_whole(metric: str, prediction: Any, gold: Any) -> None:
    result = score(prediction, gold, SCHEMA, metric=metric, verdicts=True)
    by_field = result.by_field()
    for name in Outcome._fields[:6]:
        assert sum(getattr(part, name) for part in by_field.values()) == getattr(result.counts, name)


@every_metric
@given(prediction=documents(), gold=documents(), chance=seeds)
def test_null_blank_and_absent_are_alike(metric: str, prediction: Any, gold: Any, chance: random.Random) -> None:
    plain = score(prediction, gold, SCHEMA, metric=metric)
    blank = score(with_blanks(prediction, chance), with_blanks(gold, chance), SCHEMA, metric=metric)
    bare = score(without_blanks(prediction), without_blanks(gold), SCHEMA, metric=metric)
    assert counts(blank) == counts(bare) == counts(plain)


def with_blanks(node: Any, chance: random.Random) -> Any:
    """Every blank as another blank, and declared values spelled out as null."""
    if isinstance(node, dict):
        return {key: with_blanks(value, chance) for key, value in node.items()} | (
            {} if "title" in node else {"title": None}
        )
    if isinstance(node, list):
        return [with_blanks(value, chance) for value in node]
    return node if isinstance(node, str) and node.strip() else chance.choice([None, "", "\t\n"])


def without_blanks(node: Any) -> Any:
    """Fields without a value left out; array elements keep their place."""
    if isinstance(node, dict):
        return {key: without_blanks(value) for key, value in node.items() if size(value)}
    return [without_blanks(value) for value in node] if isinstance(node, list) else node


@every_metric
@given(gold=documents(longest=4), chance=seeds)
def test_omission_is_charged(metric: str, gold: Any, chance: random.Random) -> None:
    """One value left out of a perfect answer costs exactly one address."""
    assume(size(gold) > 1)
    prediction = copy.deepcopy(gold)
    replace_one(prediction, chance.randrange(size(gold)), None)
    result = score(prediction, gold, SCHEMA, metric=metric)
    assert counts(result) == (size(gold) - 1, 0, 1, 0, 0, 0)


def replace_one(node: Any, number: int, by: str | None) -> int:
    """Replace the value with that number, counted in reading order; what is left of the number is returned."""
    for key, below in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(below, dict | list):
            number = replace_one(below, number, by)
        elif size(below):
            if number == 0:
                node[key] = by
            number -= 1
    return number


@every_metric
@given(
    prediction=documents(),
    gold=documents(),
    extra=st.lists(st.sampled_from("XY"), min_size=1, max_size=3),
    chance=seeds,
)
def test_adding_what_matches_nothing_never_pays(
    metric: str, prediction: Any, gold: Any, extra: list[str], chance: random.Random
) -> None:
    """Values that the ground truth does not hold anywhere, put anywhere into a prediction, never raise accuracy."""
    before = score(prediction, gold, SCHEMA, metric=metric).accuracy or 0.0
    fuller = copy.deepcopy(prediction)
    for value in extra:
        add_somewhere(fuller, value, chance)
    assert (score(fuller, gold, SCHEMA, metric=metric).accuracy or 0.0) <= before + 1e-12


def add_somewhere(node: Any, value: str, chance: random.Random) -> None:
    """Put a value under a free key, or at the end of an array, somewhere in the document."""
    below = [child for child in (node.values() if isinstance(node, dict) else node) if isinstance(child, dict | list)]
    if below and chance.random() < 0.7:
        add_somewhere(chance.choice(below), value, chance)
    elif isinstance(node, list):
        node.append(chance.choice([value, {"key": value}]))
    else:
        free = [key for key in ("title", "key", "value", "name", "x", "more") if not size(node.get(key))]
        node[chance.choice(free) if free else f"more {len(node)}"] = value


@every_metric
@given(prediction=documents(), gold=documents())
def test_inputs_are_never_changed(metric: str, prediction: Any, gold: Any) -> None:
    given_before = copy.deepcopy((prediction, gold, SCHEMA))
    score(prediction, gold, SCHEMA, metric=metric, verdicts=True)
    assert (prediction, gold, SCHEMA) == given_before


@every_metric
@given(gold=documents(), prediction=documents())
def test_recall_and_precision_change_places_with_the_sides(metric: str, gold: Any, prediction: Any) -> None:
    """What is matched and shared does not depend on which side is called the prediction."""
    there, back = score(prediction, gold, SCHEMA, metric=metric), score(gold, prediction, SCHEMA, metric=metric)
    assert (there.counts.matched, there.counts.misread) == (back.counts.matched, back.counts.misread)
    assert (there.precision, there.recall) == (back.recall, back.precision)


ROWS = {"type": "object", "properties": {"r": {"type": "array", "items": {"type": "object", "properties": {}}}}}


def test_omni_correcting_a_value_can_lower_accuracy() -> None:
    """The law that omni/1 breaks: its pairing takes most matches, although accuracy also counts shared addresses."""
    row, other = {"a": "A", "b": "B", "c": "C", "d": "x"}, {"a": "q", "b": "r", "c": "s", "d": "D"}
    gold = {"r": [{"a": "A", "b": "B", "c": "C", "d": "D"}, {"a": "A", "b": "B", "c": "y", "d": "z"}]}
    before = score({"r": [row, other]}, gold, ROWS, metric="omni/1")
    after = score({"r": [{**row, "d": "D"}, other]}, gold, ROWS, metric="omni/1")
    assert (before.accuracy, after.accuracy) == (3 / 8, 4 / 12)


def test_omni_another_pairing_can_give_a_higher_accuracy() -> None:
    """The same documents: pairing the corrected row with the second gold row would give 3/8 instead of 4/12."""
    row, other = {"a": "A", "b": "B", "c": "C", "d": "D"}, {"a": "q", "b": "r", "c": "s", "d": "D"}
    gold = {"r": [{"a": "A", "b": "B", "c": "C", "d": "D"}, {"a": "A", "b": "B", "c": "y", "d": "z"}]}
    free = score({"r": [row, other]}, gold, ROWS, metric="omni/1")
    forced = score({"r": [other, row]}, gold, ROWS, metric="omni/1", order_matters=["r"])
    assert free.accuracy is not None
    assert forced.accuracy is not None
    assert forced.accuracy > free.accuracy


@every_metric
@pytest.mark.parametrize("seed", range(6))
def test_large_documents_do_not_depend_on_order(metric: str, seed: int) -> None:
    """Hundreds of rows from few values, where most rows tie with many others."""
    chance = random.Random(seed)
    schema = {"type": "object", "properties": {"r": {"type": "array", "items": {"type": "object"}}}}
    sides = [{"r": [low_cardinality_row(chance) for _ in range(chance.randrange(80, 160))]} for _ in range(2)]
    plain = score(*sides, schema, metric=metric)
    for _ in range(3):
        mixed = score(shuffled(sides[0], chance), shuffled(sides[1], chance), schema, metric=metric)
        assert counts(mixed) == counts(plain)
        assert mixed.matched_rows == plain.matched_rows


def low_cardinality_row(chance: random.Random) -> dict[str, Any]:
    fields = {name: chance.choice("ABCD") for name in "abcde" if chance.random() < 0.8}
    tags = [chance.choice("AB") for _ in range(chance.randrange(3))]
    return {**fields, "tags": tags}


@every_metric
@pytest.mark.parametrize("seed", range(6))
def test_nested_documents_do_not_depend_on_order(metric: str, seed: int) -> None:
    chance = random.Random(seed)
    distinct = chance.choice([2, 3, 8, 50])
    gold = library(chance, chance.randrange(2, 9), distinct)
    prediction = misread(gold, chance, chance.choice([0.05, 0.3]), distinct)
    plain = score(prediction, gold, BOOKS, metric=metric)
    mixed = score(shuffled(prediction, chance), shuffled(gold, chance), BOOKS, metric=metric)
    assert counts(mixed) == counts(plain)
    assert mixed.matched_rows == plain.matched_rows


@given(documents(longest=4), documents(longest=4))
def test_sound_reaches_at_least_the_accuracy_of_omni(prediction: Any, gold: Any) -> None:
    """Where both read values alike: sound/1 may take any pairing that omni/1 may, and looks for the most accurate."""
    sound, omni = (score(prediction, gold, SCHEMA, metric=metric) for metric in ("sound/1", "omni/1"))
    assert (sound.accuracy or 0) >= (omni.accuracy or 0)


@given(st.lists(values, max_size=12), st.lists(values, max_size=12))
def test_arrays_of_values_match_as_multisets(prediction: list[str], gold: list[str]) -> None:
    """In an array of scalars what is matched is the common part of two multisets."""
    schema = {"type": "object", "properties": {"t": {"type": "array", "items": {"type": "string"}}}}
    common = sum(min(prediction.count(value), gold.count(value)) for value in set(gold))
    result = score({"t": prediction}, {"t": gold}, schema)
    assert result.counts.matched == common
    assert result.counts.misread == 0


def test_the_brute_force_knows_a_tie() -> None:
    """The oracle itself: two equal rows for one leave a choice of which is extra, but not of how many."""
    gold, prediction = {"rows": [{"key": "A"}]}, {"rows": [{"key": "A", "value": "B"}, {"key": "A"}]}
    outcomes = Omni().outcomes(prediction, gold, SCHEMA)
    assert outcomes == {
        Outcome(matched=1, fabricated=1, invented_item=1, matched_rows=1),
        Outcome(matched=1, invented_item=2, matched_rows=1),
    }
    assert len(list(leaves(prediction))) == 3
