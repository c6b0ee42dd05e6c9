"""Planners and settings written as text: what the grammar takes, what it refuses, and that nothing is evaluated."""

from __future__ import annotations

import inspect
import math
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ucd_envs.registry import make_rules
from ucd_planners.grammar import LONGEST, parse, setting_from
from ucd_planners.notation import OPTIONS, canonical, parameters, planner_from
from ucd_planners.options import OLD_NAMES, PlannerOptions
from ucd_planners.planner import Planner
from ucd_planners.playouts import CMC
from ucd_planners.presets import PRESETS, WITH_NET, uct
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
    "math:",
    ":inf",
    "math::inf",
    "uct(c=math:)",
    "uct(policies=math:inf())",
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
        ("my.own_module:wide(c=1)", "my.own_module:wide", {"c": 1}),
        ("uct(policies=my_module:near, c=1)", "uct", {"policies": "my_module:near", "c": 1}),
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
    with pytest.raises(ValueError, match=rf"\Aa planner must be written with at most {LONGEST} characters, not {len(text)}\Z"):
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
    name, known = text.partition("(")[0], ", ".join([*PRESETS, *WITH_NET])
    with pytest.raises(ValueError, match=rf"\Aunknown planner '{name}': expected one of {known}, or a reference"):
        planner_from(text, playouts=1)


@pytest.mark.parametrize("key", ["d", "C", "self", "name", "selection", "options", "progress", "table", "__class__", "d1"])
def test_an_unknown_parameter_is_answered_by_those_there_are(key: str) -> None:
    known = f"c, {', '.join(OPTIONS)}"
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
        ("uct(playouts=5, seconds=1)", "a budget is either playouts or seconds: give one of them"),
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


def test_a_text_without_a_budget_leaves_it_to_the_call() -> None:
    planner = planner_from("uct(seed=1)")
    assert (budget(planner), planner.search(make_rules("tic_tac_toe").initial_state(), playouts=7).playouts) == (
        (None, None),
        7,
    )


# Canonical texts (F2-21).


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "uct(c=0.3)",
            ["uct", " uct ( ) ", "uct(c=0.30)", "uct(c=3e-1)", "uct(final_move=visits)", "uct(playouts=none, workers=1)"],
        ),
        ("uct(c=1)", ["uct(c=1.0)", "uct(c=1)"]),
        ("ucd(d1=inf,d2=0,d3=1,c=0.3,backup=descent,store=edges,graded=true)", ["ucd(d1=inf)", "ucd(c=0.3, d3=1, d1=inf)"]),
        ("uct(c=0.3,playouts=5,reuse_graph=true)", ["uct(reuse_graph=true, playouts=5)", "uct(playouts=5, reuse_graph=True)"]),
        ("uct(c=0.3,first_play_urgency=1)", ["uct(first_play_urgency=1.0)"]),
        (
            "uct(c=0.3,policies='cmc(prob=0.5,threshold=0,tiles=own,pairs=later,context=descent)')",
            ["uct(policies='cmc(prob=.5)')", 'uct(policies=" cmc ( prob=0.5 ) ")'],
        ),
        ("uct(c=0.3)", ["uct(policies='')", "uct(initial=none)"]),
        ("gtp('gnugo --mode gtp',timeout=60)", ["gtp('gnugo --mode gtp')", 'gtp( "gnugo --mode gtp", timeout=60.0)']),
    ],
)
def test_texts_of_the_same_planner_have_one_canonical_text(text: str, same: list[str]) -> None:
    """F2-21."""
    assert {canonical(each) for each in (text, *same)} == {text}


@pytest.mark.parametrize("name", PRESETS)
def test_the_canonical_text_of_a_preset_names_its_defaults(name: str) -> None:
    """F2-21: it makes the same planner, and none of its own parameters is left out."""
    text = canonical(name)
    planner, other = planner_from(text, playouts=7), planner_from(name, playouts=7)
    assert (planner.selection, planner.policies) == (other.selection, other.policies)
    assert set(parse(text)[1]) == set(parameters(name)) - set(OPTIONS)


def test_a_budget_by_default_is_part_of_the_canonical_text() -> None:
    assert canonical("uct", playouts=9) == canonical("uct(playouts=9)", seconds=1) == "uct(c=0.3,playouts=9)"


# Old names.


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_an_old_name_of_an_option_is_answered_by_the_new_one(old: str, new: str) -> None:
    for refused in (lambda: planner_from(f"uct({old}=1)", playouts=1), lambda: uct(playouts=1, **{old: 1})):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=rf"\Athe option {old} is now called {new}\Z"):
            refused()


def test_the_old_name_of_initial_statistics_is_answered_by_the_new_one() -> None:
    with pytest.raises(ValueError, match=r"\Ago_priors is now called go_initial\Z"):
        planner_from("uct(initial=go_priors)", playouts=1)


# Options that an editor shows (F2-51).


def test_options_are_those_of_planner() -> None:
    there = [name for name, each in inspect.signature(Planner).parameters.items() if each.kind is each.KEYWORD_ONLY]
    assert sorted(PlannerOptions.__annotations__) == sorted(set(there) - {"name", "evaluation"})


@pytest.mark.parametrize("name", PRESETS)
def test_the_signature_of_a_preset_lists_every_option_with_its_default(name: str) -> None:
    """F2-51."""
    shown, usual = inspect.signature(PRESETS[name]).parameters, inspect.signature(Planner).parameters
    assert {option: shown[option].default for option in PlannerOptions.__annotations__} == {
        option: usual[option].default for option in PlannerOptions.__annotations__
    }


# References.

MODULE = """
from ucd_planners import uct
from ucd_planners.playouts import CMC
from ucd_planners.selection.ucd import UCD

def wide(c=1.5, final=2):
    return UCD(c=c, table=False)

def preset(c=0.7, **options):
    return uct(c=c, **options)

def near(prob=0.25):
    return CMC(prob)

made = UCD(0, 1, 2)
number = 7
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of a user's."""
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("mine", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("text", "selection"),
    [
        ("mine:wide", UCD(c=1.5, table=False)),
        ("mine:wide(c=0.5, seed=3)", UCD(c=0.5, table=False)),
        ("mine:wide(final=3)", UCD(c=1.5, table=False)),
        ("mine:preset(seed=3)", UCD(c=0.7, table=False)),
        ("mine:made(seed=3)", UCD(0, 1, 2)),
        ("ucd_planners.selection.ucd:UCD(d1=2)", UCD(2)),
    ],
)
def test_a_reference_stands_for_a_planner(text: str, selection: UCD) -> None:
    planner = planner_from(text, playouts=9)
    assert (planner.selection, planner.playouts, "seed=3" not in text or planner.seed == 3) == (selection, 9, True)


@pytest.mark.usefixtures("mine")
def test_a_reference_stands_for_a_policy() -> None:
    for text in ("uct(policies=mine:near)", "uct(policies='mine:near(prob=0.25) mast')"):
        assert planner_from(text, playouts=9).policies[0] == CMC(0.25)


@pytest.mark.usefixtures("mine")
def test_the_canonical_text_of_a_reference_names_its_defaults() -> None:
    """F2-21."""
    assert canonical("mine:wide(seed=3)") == "mine:wide(c=1.5,final=2,seed=3)"
    assert canonical("uct(policies=mine:near)") == "uct(c=0.3,policies='mine:near(prob=0.25)')"


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no_such_module:x", "no_such_module:x cannot be imported"),
        ("broken:x", "broken:x cannot be imported"),
        ("mine:x", "mine:x cannot be imported"),
        ("mine:number", "mine:number makes no selection and no planner, but 7"),
        ("mine:number(c=1)", "mine:number has no parameter 'c'"),
        ("mine:near", r"mine:near makes no selection and no planner, but CMC\("),
        ("mine:wide(d=1)", "mine:wide has no parameter 'd': expected one of c, final, playouts, "),
        ("mine:wide(keep=true)", "the option keep is now called reuse_graph"),
        ("uct(policies=mine:number)", "mine:number makes no policy, but 7"),
        ("uct(policies=mine:wide)", r"mine:wide makes no policy, but UCD\("),
        ("uct(initial=mine:number)", "mine:number makes no initial statistics, but 7"),
        ("uct(policies=mine:x)", "mine:x cannot be imported"),
    ],
)
def test_a_reference_to_something_else_is_refused_in_one_sentence(text: str, reason: str) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"\A{reason}"):
        planner_from(text, playouts=1)


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
