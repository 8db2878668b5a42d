from __future__ import annotations

import pytest

from ops.toml_lines import KeyPath, LineIndex

TEXT = '''\
name = "x"
overview = """
[[phases]]
fn = "not a key"
"""

[[phases]]   # one
name = "A"
  [[phases.steps]]
  fn = "shell"
  args = { cmd = "echo ]] #" }
  [[phases.steps]]
  fn = "exec"
  args.argv = [
    "a",
    "fn = 1",
  ]
  profile = "x"

[[phases]]
name = "B"
"quoted.key" = 1
steps = [
  { fn = "shell" },
]

[params.version]
type = "string"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 1),
        (("overview",), 2),
        (("phases", 0), 7),
        (("phases", 0, "name"), 8),
        (("phases", 0, "steps", 0, "fn"), 10),
        (("phases", 0, "steps", 0, "args", "cmd"), 11),
        (("phases", 0, "steps", 1), 12),
        (("phases", 0, "steps", 1, "fn"), 13),
        (("phases", 0, "steps", 1, "args", "argv"), 14),
        (("phases", 0, "steps", 1, "profile"), 18),
        (("phases", 1, "name"), 21),
        (("phases", 1, "quoted.key"), 22),
        (("phases", 1, "steps", 0, "fn"), 23),
        (("params", "version", "type"), 28),
        (("nothing", "here"), 1),
    ],
)
def test_a_key_is_found_where_it_stands_or_near_it(path: KeyPath, line: int) -> None:
    assert LineIndex(TEXT).line(path) == line


def test_quoted_keys_are_placed_whatever_ends_the_lines() -> None:
    text = "# one\n" * 30 + '["a b"]\n"c d" = 1\n"e f" = "g"\n'

    index = LineIndex(text.replace("\n", "\r\n"))

    keys: list[KeyPath] = [("a b",), ("a b", "c d"), ("a b", "e f")]
    assert [index.line(key) for key in keys] == [31, 32, 33]
