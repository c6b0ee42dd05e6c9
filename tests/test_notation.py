"""Planners and settings written as text: what the grammar takes, what it refuses, and that nothing is evaluated."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import pytest

from ucd_planners.notation import LONGEST, parameters, parse, planner_from, setting_from
from ucd_planners.planner import Planner
from ucd_planners.presets import PRESETS, uct
from ucd_planners.selection.ucd import UCD

UNPARSABLE = [
    "",
    " ",
    "()",
    "(c=1)",
    "uct(",
    "uct)",
    "uct(c",
    "uct(c=",
    "uct(c=)",
    "uct(=1)",
    "uct(c)",
    "uct(0.3)",
    "uct('c')",
    "uct(0.3, c=1)",
    "uct(c=1,)",
    "uct(,c=1)",
    "uct(c=1,,d=2)",
    "uct(c=1 d=2)",
    "uct(c=1;d=2)",
    "uct(c==1)",
    "uct(c:=1)",
    "uct c=1",
    "uct[c=1]",
    "uct{c=1}",
    "uct(c=1)(d=2)",
    "uct(c=1).search",
    "uct()()",
    "uct(c=1) # fast",
    "uct(c=1); ucd()",
    "uct, ucd",
    "(uct)(c=1)",
    "uct(*c)",
    "uct(**c)",
    "uct(**{'c': 1})",
    "uct(c=f())",
    "uct(c=uct(c=1))",
    "uct(c=math.inf)",
    "math.inf",
    "uct.__call__",
    "uct(c=(1))",
    "uct(c=[1])",
    "uct(c={})",
    "uct(c=1+1)",
    "uct(c=2**9)",
    "uct(c=1j)",
    "uct(c=0x10)",
    "uct(c=1_000)",
    "uct(c=1x)",
    "uct(c=1e)",
    "uct(c=1.2.3)",
    "uct(c=.)",
    "uct(c=--1)",
    "uct(c=+1)",
    "uct(c=- 1)",
    "uct(c=-inf)",
    "uct(c=-true)",
    "uct(c=1 if 1 else 2)",
    "uct(c=...)",
    "uct(c=b'x')",
    "uct(c=f'{1}')",
    "uct(c='a' 'b')",
    "uct(c='a)",
    "uct(c='a\")",
    "lambda: uct",
    "lambda: uct()",
    "import os",
    "1",
    "'uct'",
    "uct\0",
    "uct(c=1\0)",
    "uct(c=\u0661)",
    "\uff55ct",
    "uct(c=1)\udcff",
    "uct(c=" + "(" * 400 + "1" + ")" * 400 + ")",
    "uct(c=" + "-" * 900 + "1)",
    "uct(c=" + "9" * 400 + ")",
    "uct(" * 200 + ")" * 200,
]


@pytest.mark.parametrize(
    ("text", "name", "written"),
    [
        ("uct", "uct", {}),
        ("uct()", "uct", {}),
        (" uct ( ) ", "uct", {}),
        ("uct(c=0.3)", "uct", {"c": 0.3}),
        ("uct(c=2)", "uct", {"c": 2}),
        ("uct(c=-1)", "uct", {"c": -1}),
        ("uct(c=.5)", "uct", {"c": 0.5}),
        ("uct(c=5.)", "uct", {"c": 5.0}),
        ("uct(c=-2.5e-3)", "uct", {"c": -0.0025}),
        ("uct(c=1E3)", "uct", {"c": 1000.0}),
        ("ucd(d1=inf)", "ucd", {"d1": math.inf}),
        ("x(a=true, b=false, c=True, d=False)", "x", {"a": True, "b": False, "c": True, "d": False}),
        ("x(a=none, b=None)", "x", {"a": None, "b": None}),
        ("uct(final_move=mean)", "uct", {"final_move": "mean"}),
        ("uct(final_move='lower_bound')", "uct", {"final_move": "lower_bound"}),
        ('uct(final_move="mean")', "uct", {"final_move": "mean"}),
        ("x(a='', b='inf', c='1', d='a, b=2)')", "x", {"a": "", "b": "inf", "c": "1", "d": "a, b=2)"}),
        ("\tucd\n( d1 = 0 ,d2=1,\n  d3= 2 , c =0.3 )\n", "ucd", {"d1": 0, "d2": 1, "d3": 2, "c": 0.3}),
        ("x(a=" + "9" * 39 + ")", "x", {"a": 10**39 - 1}),
    ],
)
def test_the_grammar_reads(text: str, name: str, written: dict[str, Any]) -> None:
    assert parse(text) == (name, written)


def test_a_whole_number_is_read_as_one() -> None:
    assert isinstance(parse("uct(playouts=5)")[1]["playouts"], int)


def test_a_number_with_a_point_is_not_a_whole_number() -> None:
    with pytest.raises(TypeError, match="playouts must be a whole number"):
        planner_from("uct(playouts=5.0)")


@pytest.mark.parametrize("text", UNPARSABLE)
def test_other_text_does_not_parse(text: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"\Aplanner .* does not parse: expected name\(key=value, \.\.\.\), such as ucd\(.*\) or uct\(policies='.*'\)\Z",
    ):
        parse(text)


def test_a_text_of_the_greatest_length_is_read() -> None:
    assert parse("uct(c=1)".ljust(LONGEST)) == ("uct", {"c": 1})


@pytest.mark.parametrize("text", ["uct(c=1)".ljust(LONGEST + 1), "uct(c=" + "-" * 100_000 + "1)", "(" * 10**7])
def test_a_longer_text_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match=rf"\Aa planner's text must have at most {LONGEST} characters, not {len(text)}\Z"):
        parse(text)


@pytest.mark.parametrize("unit", [" ", "c=1,", "c=1 ,", "c = 1 , ", "a", "1", "'", "''", "=", "\n", "c='1',"])
def test_a_hostile_text_is_answered_at_once(unit: str) -> None:
    """The grammar's pattern has no backtracking that multiplies: a text that fails at its end takes milliseconds."""
    text = ("uct(" + unit * LONGEST)[: LONGEST - 1] + "!"
    began = time.process_time()
    with pytest.raises(ValueError, match="does not parse"):
        parse(text)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("form", ["uct(c={})", "{}", "uct({})", "uct(final_move='{}')", 'uct(final_move="{}")'])
def test_nothing_is_evaluated(form: str, tmp_path: Path) -> None:
    trap = tmp_path / "evaluated"
    with pytest.raises((ValueError, TypeError)):
        planner_from(form.format(f"__import__('pathlib').Path('{trap}').touch()"), playouts=1)
    assert not trap.exists()


def test_a_parameter_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\Aplanner 'uct\(c=1, c=1\)' has the parameter 'c' twice\Z"):
        planner_from("uct(c=1, c=1)", playouts=1)


@pytest.mark.parametrize("text", ["foo", "UCT", "uct4", "Planner", "__class__", "import", "foo(c=1)"])
def test_an_unknown_planner_is_answered_by_those_there_are(text: str) -> None:
    name = text.partition("(")[0]
    with pytest.raises(ValueError, match=rf"\Aunknown planner '{name}': expected one of {', '.join(PRESETS)}\Z"):
        planner_from(text, playouts=1)


@pytest.mark.parametrize("key", ["d", "C", "self", "name", "selection", "options", "progress", "table", "__class__", "d1"])
def test_an_unknown_parameter_is_answered_by_those_there_are(key: str) -> None:
    known = "c, playouts, seconds, seed, workers, final, max_nodes, add, urgency, keep, early, policies, priors"
    with pytest.raises(ValueError, match=rf"\Auct has no parameter '{key}': expected one of {known}\Z"):
        planner_from(f"uct({key}=1)", playouts=1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("uct(c=-1)", "c must be a finite number, 0 or more, not -1"),
        ("uct(c=inf)", "c must be a finite number, 0 or more, not inf"),
        ("uct(c=1e999)", "c must be a finite number, 0 or more, not inf"),
        ("uct(c=nan)", "c must be a number, not 'nan'"),
        ("uct(c='0.3')", "c must be a number, not '0.3'"),
        ("uct(c=true)", "c must be a number, not True"),
        ("uct(c=none)", "c must be a number, not None"),
        ("ucd(d1=0.5)", r"d1 must be 0, 1, 2, \.\.\. or inf, not 0\.5"),
        ("ucd(d2=-1)", r"d2 must be 0, 1, 2, \.\.\. or inf, not -1"),
        ("ucd(backup=none)", "backup must be one of descent, section_3_4, not None"),
        ("uct(final_move=best)", "final_move must be one of visits, mean, lower_bound, not 'best'"),
        ("uct(playouts=0)", r"playouts must be from 1 to \d+, not 0"),
        ("uct(seconds=0)", "seconds must be a finite number above 0, not 0"),
        ("uct(seconds=inf)", "seconds must be a finite number above 0, not inf"),
        ("uct(playouts=5, seconds=1)", "a budget is either playouts or seconds: give exactly one of them"),
        ("uct(playouts=none)", "a budget is either playouts or seconds: give exactly one of them"),
        ("uct(seed=-1)", r"seed must be from 0 to \d+, not -1"),
        ("uct(workers=0)", "workers must be from 1 to 1024, not 0"),
        ("uct(max_nodes=1)", r"max_nodes must be from 2 to \d+, not 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"\A{reason}\Z"):
        planner_from(text, playouts=10)


@pytest.mark.parametrize("thing", [None, 5, b"uct", uct, uct(playouts=1)])
def test_what_is_not_text_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"\Aa planner must be written as text, such as 'uct\(c=0\.3\)', not "):
        planner_from(thing, playouts=1)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_written_by_its_name(name: str) -> None:
    assert planner_from(name, playouts=7).selection == PRESETS[name](playouts=7).selection


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_lists_the_budgets_among_its_parameters(name: str) -> None:
    assert {"playouts", "seconds"} <= set(parameters(name))


def test_parameters_reach_the_selection() -> None:
    planner = planner_from("ucd(d1=0, d2=inf, d3=2, c=0.7, backup=section_3_4)", playouts=7)
    assert planner.selection == UCD(0, math.inf, 2, 0.7, backup="section_3_4")


def test_parameters_reach_the_planner() -> None:
    planner = planner_from("uct(seed=5, workers=2, final_move=mean, max_nodes=99)", playouts=7)
    assert (planner.seed, planner.workers, planner.final_move, planner.max_nodes) == (5, 2, "mean", 99)


def budget(planner: Planner) -> tuple[int | None, float | None]:
    return planner.playouts, planner.seconds


def test_the_default_budget_serves_a_text_without_one() -> None:
    assert budget(planner_from("uct", seconds=0.5)) == (None, 0.5)


@pytest.mark.parametrize("default", [{"playouts": 9}, {"seconds": 0.5}])
def test_playouts_in_the_text_replace_any_budget(default: dict[str, Any]) -> None:
    assert budget(planner_from("uct(playouts=7)", **default)) == (7, None)


@pytest.mark.parametrize("default", [{"playouts": 9}, {"seconds": 0.5}])
def test_seconds_in_the_text_replace_any_budget(default: dict[str, Any]) -> None:
    assert budget(planner_from("uct(seconds=2)", **default)) == (None, 2.0)


def test_a_budget_in_the_text_leaves_the_other_defaults() -> None:
    assert planner_from("uct(playouts=7)", seconds=1, seed=3).seed == 3


def test_the_text_goes_before_a_default() -> None:
    assert planner_from("uct(seed=4)", playouts=7, seed=3).seed == 4


def test_a_planner_without_any_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="a budget is either playouts or seconds"):
        planner_from("uct")


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("5", 11, 5),
        ("-5", 11, -5),
        ("5", None, 5),
        ("true", None, True),
        ("five", None, "five"),
        ("5.5", 11, "5.5"),
        ("--5", 11, "--5"),
        ("", 11, ""),
        ("\u0665", 11, "\u0665"),
        ("9" * 5000, 11, "9" * 5000),
        ("b2 c3", "", "b2 c3"),
        ("5", "", "5"),
        ("true", "", "true"),
        ("true", False, True),
        ("False", True, False),
        (None, False, True),
    ],
)
def test_a_setting_is_read_by_the_kind_of_its_default(text: str | None, default: Any, value: Any) -> None:
    read = setting_from("setting", text, default)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("default", [11, None, ""])
def test_only_a_setting_that_is_true_or_false_goes_without_a_value(default: Any) -> None:
    with pytest.raises(ValueError, match=r"\Asize needs a value\Z"):
        setting_from("size", None, default)


@pytest.mark.parametrize("text", ["1", "0", "yes", "", "5"])
def test_a_setting_that_is_true_or_false_takes_no_other_value(text: str) -> None:
    with pytest.raises(ValueError, match=rf"\Aswap must be true or false, not '{text}'\Z"):
        setting_from("swap", text, False)
