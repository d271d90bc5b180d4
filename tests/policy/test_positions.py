import json
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from onnxsim_ci.policy.positions import leaves, positions

DOCUMENT = '''version = 1
skip = [
  "a",   # a comment with "quotes" = [
  "b",
]
fold.max-bytes = 5
text = """
rtol = not a key
"""
inline = { x = 1, "y z" = [1, 2] }

[[overrides]]
files = ["a/**"]
fold = { enabled = "yes" }

[[overrides]]
skip = ["dedupe"]
[overrides.fold]
bytes = -1
'''


def test_every_key_and_item_has_its_line_and_column() -> None:
    where = positions(DOCUMENT, tomllib.loads(DOCUMENT))
    assert where["skip", 1] == (4, 3)
    assert where["fold", "max-bytes"] == (6, 6)
    assert where["text",] == (7, 1)
    assert where["inline", "y z", 1] == (10, 31)
    assert where["overrides", 0, "fold", "enabled"] == (14, 10)
    assert where["overrides", 1, "skip", 0] == (17, 9)
    assert where["overrides", 1, "fold", "bytes"] == (19, 1)


def test_line_endings_of_windows_count_once() -> None:
    text = "a = 1\r\nb = 2\r\n"
    assert positions(text, tomllib.loads(text))["b",] == (2, 1)


def test_a_document_that_does_not_fit_has_no_positions() -> None:
    assert positions("a = 1", {"b": 1}) == {}
    assert positions('a = "', {"a": 1}) == {}


KEYS = st.sampled_from(["a", "b-c", "d_e", "with space", "dots.in", "ü", 'q"q', "1", "true", ""])
SCALARS = st.one_of(
    st.integers(-9, 9), st.booleans(), st.sampled_from([1.5, "s # ] } = \" '", "line\nline", "é\t", "\\", ""])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[ " + ",\n  ".join(toml(inner) for inner in value) + " ]"
    return json.dumps(value)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(KEYS, VALUES, max_size=5), st.dictionaries(KEYS, VALUES, max_size=3), st.integers(0, 3)
)
def test_random_documents_have_a_position_for_every_leaf(
    top: dict[str, object], table: dict[str, object], count: int
) -> None:
    lines = [f"{json.dumps(key)} = {toml(value)}  # = [ {{" for key, value in top.items()]
    for number in range(count):
        lines += ["", '[["an array".inner]]' if number % 2 else "[[ array ]]"]
        lines += [f"{json.dumps(key)}={toml(value)}" for key, value in table.items()]
    text = "\n".join(lines) + "\n"
    data = tomllib.loads(text)
    where = positions(text, data)
    assert set(leaves(data)) <= set(where)
    rows = text.split("\n")
    for path, (line, column) in where.items():
        if path and isinstance(path[-1], str) and path[-1].isalnum() and path[-1].isascii():
            assert rows[line - 1][column - 1 :].lstrip('"').startswith(path[-1])
