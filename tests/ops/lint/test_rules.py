"""Rules of lint: each finds what it is for, with place and id, and repeats no secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.errors import ProjectInvalid
from ops.lint.sarif import sarif
from ops.lint.secrets import shape_of
from ops.lint.subject import read_subject
from ops.lint.table import RULES, lint, mend
from tests.ops.projects import project, small_op

if TYPE_CHECKING:
    from pathlib import Path

    from ops.lint.rule import LintFinding

GOOD = small_op("good", more='overview = "Does good"')


def found(folder: Path, files: dict[str, str]) -> list[LintFinding]:
    project(folder, files)
    return lint(read_subject(str(folder)))


def rules(findings: list[LintFinding]) -> list[tuple[str, str, int]]:
    return [(each.rule, each.file, each.line) for each in findings]


def test_a_sound_project_has_no_findings(tmp_path: Path) -> None:
    assert found(tmp_path, {"good.op.toml": GOOD}) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.op.toml": "name = \n"}, ("op-invalid", "a.op.toml", 1)),
        ({"a.op.toml": "\n" + "a." * 3000 + "a = 1\n"}, ("op-invalid", "a.op.toml", 2)),
        ({"r.resource.toml": 'name = "r"\n'}, ("resource-invalid", "r.resource.toml", 1)),
        ({"points/p.toml": "name = \n"}, ("point-invalid", "points/p.toml", 1)),
        (
            {"r.resource.toml": 'name = "r"\nreader = "file"\npath = "x"\nop = "gone"\n'},
            ("resource-invalid", "r.resource.toml", 1),
        ),
        (
            {"b.op.toml": small_op("other", more='overview = "o"')},
            ("name-misleading", "b.op.toml", 1),
        ),
        (
            {"list.op.toml": small_op("list", more='overview = "o"')},
            ("name-misleading", "list.op.toml", 1),
        ),
        ({"b.op.toml": small_op("b")}, ("overview-missing", "b.op.toml", 1)),
        (
            {"b.op.toml": small_op("b", more='overview = "o"\n[params.unused]\n')},
            ("param-unused", "b.op.toml", 3),
        ),
        (
            {
                "b.op.toml": f'{GOOD.replace("good", "b")}[[phases]]\nname = "G"\n'
                '[[phases.steps]]\ngate = "g"\n'
            },
            ("gate-idle", "b.op.toml", 8),
        ),
        ({"good.op.toml": GOOD.rstrip("\n")}, ("final-newline", "good.op.toml", 7)),
        ({"good.op.toml": f"# x \n{GOOD}"}, ("trailing-space", "good.op.toml", 1)),
        (
            {
                "good.op.toml": f'{GOOD}[[onFailure]]\nname = "U"\n[[onFailure.steps]]\n'
                'fn = "sleep"\nargs = { duration = "1s" }\n'
            },
            ("key-spelling", "good.op.toml", 8),
        ),
    ],
)
def test_a_rule_finds_what_it_is_for(
    tmp_path: Path, files: dict[str, str], expected: tuple[str, str, int]
) -> None:
    assert expected in rules(found(tmp_path, files))


def test_a_broken_chant_toml_is_a_finding_and_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.op.toml").write_text("name =\n")
    (tmp_path / "chant.toml").write_text('[project]\nnmae = "x"\n')

    findings = lint(read_subject(str(tmp_path)))

    assert rules(findings) == [
        ("op-invalid", "bad.op.toml", 1),
        ("config-invalid", "chant.toml", 2),
    ]
    assert "did you mean name?" in findings[1].message


def test_stewards_name_what_there_is(tmp_path: Path) -> None:
    text = (
        '[project]\nenvironments = ["local"]\n[[steward]]\nname = "s"\nenvironment = "locl"\n'
        'ops = ["goood"]\nschedule = [{ op = "good", cron = "* * * * *" }]\n'
    )

    messages = [
        each.message for each in found(tmp_path, {"chant.toml": text, "good.op.toml": GOOD})
    ]

    assert any("unknown op 'goood' (did you mean good?)" in each for each in messages)
    assert any("unknown environment 'locl'" in each for each in messages)
    assert any("schedules good, which is not its own" in each for each in messages)


def test_without_declared_environments_there_is_only_local(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "x"\n[[steward]]\nname = "s"\nenvironment = "prod"\n'
        '[[steward]]\nname = "t"\nenvironment = "local"\n'
        '[[resource]]\nname = "r"\nreader = "file"\npath = "x"\nenvironments = ["stage"]\n'
    )
    op = GOOD.replace("[[phases]]", 'environments = ["test", "local"]\n\n[[phases]]', 1)

    messages = [
        each.message
        for each in found(tmp_path, {"chant.toml": text, "good.op.toml": op})
        if "environment" in each.message
    ]

    assert sorted(messages) == [
        "resource r: unknown environment 'stage'; known: local",
        "steward s: unknown environment 'prod'; known: local",
        "unknown environment 'test'; known: local",
    ]


SECRETS = [
    ('args = { cmd = "x", env = { API_TOKEN = "hunter2" } }', "a literal secret"),
    ('args = { cmd = "x", env = { apiKey = "hunter2" } }', "a literal secret"),
    ('args = { cmd = "curl -u me https://me:hunter2@host/" }', "a password in a URL"),
    ('args = { cmd = "login --password hunter2" }', "a password on a command line"),
    ('args = { cmd = "PASSWORD=hunter2 login" }', "a secret given to a variable"),
    ("args = { cmd = \"curl -H 'Authorization: Bearer hunter2'\" }", "a credential in a header"),
    ('args = { cmd = "use ghp_hunter2' + "a" * 30 + '" }', "a GitHub token"),
    ('args = { cmd = "use AKIA' + "A" * 16 + '" }', "an AWS access key"),
]


@pytest.mark.parametrize(("line", "what"), SECRETS)
def test_a_literal_secret_is_an_error_and_is_not_repeated(
    tmp_path: Path, line: str, what: str
) -> None:
    text = GOOD.replace('args = { cmd = "true" }', line)

    findings = [
        each for each in found(tmp_path, {"good.op.toml": text}) if each.rule == "secret-literal"
    ]

    assert [(each.line, each.level) for each in findings] == [(7, "error")]
    assert what in findings[0].message
    assert "hunter2" not in findings[0].message


@pytest.mark.parametrize(
    "line",
    [
        'args = { cmd = "x", env = { API_TOKEN = "$TOKEN" } }',
        'args = { cmd = "x", env = { API_TOKEN = { param = "token" } } }',
        'args = { cmd = "login --password \\"$PASSWORD\\"" }',
        'args = { cmd = "PASSWORD=$(pass show x) login" }',
        'args = { cmd = "curl -H \\"Authorization: Bearer $TOKEN\\" https://host:80/x@y" }',
        'args = { cmd = "echo basic deployment of the secret garden" }',
        'args = { cmd = "psql postgres://me:$PGPASSWORD@db/" }',
    ],
)
def test_what_takes_its_secret_from_elsewhere_is_fine(tmp_path: Path, line: str) -> None:
    text = GOOD.replace('args = { cmd = "true" }', line)

    ids = [each.rule for each in found(tmp_path, {"good.op.toml": text})]

    assert "secret-literal" not in ids


def test_secrets_are_found_in_every_kind_of_declaration(tmp_path: Path) -> None:
    files = {
        "chant.toml": '[params.token]\ndefault = "hunter2"\n',
        "points/p.toml": '[inputs]\npassword = "hunter2"\n',
        "a_op.py": 'KEY = "AKIA' + "B" * 16 + '"\n',
        "r.resource.toml": (
            'name = "r"\nreader = "http"\nurl = "http://h"\n[headers]\nAuthorization = "Basic x"\n'
        ),
        "pyproject.toml": '[tool.x]\ntoken = "not ours"\n',
    }

    places = {
        (each.file, each.line) for each in found(tmp_path, files) if each.rule == "secret-literal"
    }

    assert places == {
        ("chant.toml", 2),
        ("points/p.toml", 2),
        ("a_op.py", 1),
        ("r.resource.toml", 5),
    }


def test_a_private_key_is_seen_for_what_it_is() -> None:
    assert shape_of("-----BEGIN RSA PRIVATE KEY-----\nMII") == "a private key"
    assert shape_of("nothing to see") is None


def test_mending_changes_spelling_and_spaces_and_nothing_else(tmp_path: Path) -> None:
    text = (
        f'# a note \n{GOOD}[[onFailure]]\nname = "Undo"\n  [[onFailure.steps]]\n  fn = "shell"\n'
        '  args = { cmd = "echo onFailure" }'
    )
    project(tmp_path, {"good.op.toml": text})
    subject = read_subject(str(tmp_path))

    mended = mend(subject, lint(subject))

    assert mended == ["good.op.toml"]
    assert (tmp_path / "good.op.toml").read_text() == (
        text.replace("note \n", "note\n")
        .replace("[[onFailure", "[[on_failure")
        .replace('onFailure" }', 'onFailure" }\n')
    )
    assert lint(read_subject(str(tmp_path))) == []


def test_spaces_in_texts_over_several_lines_are_left_alone(tmp_path: Path) -> None:
    text = GOOD.replace('cmd = "true"', 'cmd = """\necho "two  " \n"""')

    assert [each.rule for each in found(tmp_path, {"good.op.toml": text})] == []


def test_a_project_may_ignore_rules_that_there_are(tmp_path: Path) -> None:
    files = {"b.op.toml": small_op("b"), "chant.toml": '[lint]\nignore = ["overview-missing"]\n'}
    assert found(tmp_path, files) == []

    with pytest.raises(ProjectInvalid, match="did you mean overview-missing"):
        found(tmp_path, {"chant.toml": '[lint]\nignore = ["overview-mising"]\n'})


def test_an_unknown_key_of_lint_is_a_finding(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, {"chant.toml": "[lint]\nignroe = []\n"})

    assert (finding.rule, "did you mean ignore?" in finding.message) == ("config-invalid", True)


def test_sarif_has_rules_results_and_places(tmp_path: Path) -> None:
    log = sarif(found(tmp_path, {"sub dir/b.op.toml": small_op("b")}), RULES, "1.2")

    (run,) = log["runs"]
    (result,) = run["results"]
    assert (log["version"], run["tool"]["driver"]["version"]) == ("2.1.0", "1.2")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "overview-missing"
    assert result["level"] == "note"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "sub%20dir/b.op.toml"
    assert place["region"] == {"startLine": 1}


def test_rules_have_ids_of_their_own_and_summaries() -> None:
    assert len({rule.rule_id for rule in RULES}) == len(RULES)
    assert all(rule.summary for rule in RULES)
