"""What counts as the one JSON value of a text, and what is never guessed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docassay.models.parsing import UnreadableAnswerError, parse_json_answer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff  {"a": 1}\n', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('Here it is:\n\n```JSON\n{"a": 1}\n```\nAnything else?', {"a": 1}),
        ('The answer is {"a": [1, 2]}, as asked.', {"a": [1, 2]}),
        ('By the template {name} the answer is {"a": 1}.', {"a": 1}),
        ('As [1] shows, {"a": 1}', {"a": 1}),
        ('<think>maybe {"a": 0}?</think>{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": "1,}", }', {"a": "1,}"}),
        ('{"a": "brace } and quote \\" inside"} done', {"a": 'brace } and quote " inside'}),
        ('{"a": 1} and once more {"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```\nwhich has the shape {"b": 2}', {"a": 1}),
    ],
)
def test_objects_are_found(text: str, value: object) -> None:
    assert parse_json_answer(text, root="object") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "no JSON here",
        '{"a": {"b": 1}, "c": ',
        '{"a": {"b": 1}, "c": nope}',
        "{'a': {\"b\": 1}}",
        '{"a": NaN}',
        '{"a": 1} or {"a": 2}',
        '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```',
        '{"a": "cut off',
        "[1, 2]",
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        parse_json_answer(text, root="object")


def test_any_type_is_taken_where_the_root_is_not_known() -> None:
    assert parse_json_answer("[1]") == [1]
    assert parse_json_answer("12") == 12
    with pytest.raises(UnreadableAnswerError, match="complete JSON array"):
        parse_json_answer('{"a": 1}', root="array")


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4), st.sampled_from(["{}", "```json\n{}\n```", "Yes: {}."]))
def test_whatever_was_written_is_read_back(value: dict[str, object], wrapping: str) -> None:
    written = json.dumps(value, ensure_ascii=False)
    if "```" not in written:
        assert parse_json_answer(wrapping.replace("{}", written), root="object") == value


@given(st.text(alphabet='{}[]",:\\ab1 `\n', max_size=60))
def test_any_text_ends_in_a_value_or_a_reason(text: str) -> None:
    try:
        value = parse_json_answer(text, root="object")
    except UnreadableAnswerError:
        return
    assert isinstance(value, dict)
