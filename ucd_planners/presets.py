"""Presets: named planners, each with the defaults of its paper.

| preset                | selection                                        |
| --------------------- | ------------------------------------------------ |
| uct, uct0             | UCT in a tree, no table                          |
| uct1                  | (d1, d2, d3) = (0, 0, 0), a shared table         |
| uct2                  | (1, 0, 0)                                        |
| uct3                  | (inf, 0, 0)                                      |
| simple_way            | (1, 0, 1)                                        |
| ucd                   | any (d1, d2, d3)                                 |
| update_all            | every ancestor edge of the leaf, once a playout  |
| stop_and_correct      | stops at edges that lag behind their positions   |
| catch_up              | visits without playouts where edges lag behind   |
| rave                  | RAVE (all moves as first) in a tree              |
| rave_ucd              | RAVE in a graph, depth_rave and depth_mean       |
| grave                 | RAVE values of the nearest well-visited position |
| puct                  | priors and values of a network, any (d1, d2, d3) |
| cmc                   | UCT in a tree, playouts by CMC                   |

c = 0.3 is the constant of [UCD section 4]; uct0 to uct3 have the bias sqrt(2 ln N_s / N_sa) of [Childs section 3]: c is the
root of 2. The default of `revisit` is not of a paper: there it is 0. All take the options of
Planner by name, the budget of a search among them.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, ParamSpec, Unpack

from ucd_envs.settings import integer
from ucd_planners.evaluation import Evaluation
from ucd_planners.options import PlannerOptions, listed, refuse_old_names
from ucd_planners.planner import Planner
from ucd_planners.playouts import CMC
from ucd_planners.references import evaluator_from
from ucd_planners.selection.catch_up import CatchUp
from ucd_planners.selection.gumbel import GumbelPUCT
from ucd_planners.selection.puct import PUCT
from ucd_planners.selection.rave import RAVE
from ucd_planners.selection.stop_and_correct import StopAndCorrect
from ucd_planners.selection.ucd import UCD
from ucd_planners.selection.update_all import UpdateAll

Parameters = ParamSpec("Parameters")
ROOT_2 = math.sqrt(2.0)


def preset(make: Callable[Parameters, Planner]) -> Callable[Parameters, Planner]:
    """Declares a preset: its signature lists every option of Planner, and old names of options raise TypeError."""
    own = [each for each in inspect.signature(make).parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    defaults = inspect.signature(Planner.__init__).parameters
    options = [defaults[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for name in PlannerOptions.__annotations__]

    @functools.wraps(make)
    def made(*arguments: Parameters.args, **options: Parameters.kwargs) -> Planner:
        refuse_old_names(options)
        return make(*arguments, **options)

    made.__signature__ = inspect.Signature([*own, *options], return_annotation=Planner)  # type: ignore[attr-defined]
    return made


@preset
def uct(c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT in a tree [Kocsis and Szepesvari 2006], with the bound of [UCD eq. 2]."""
    return Planner(UCD(c=c, table=False), name="uct", **options)


@preset
def ucd(
    d1: float = 1,
    d2: float = 0,
    d3: float = 1,
    c: float = 0.3,
    backup: str = "descent",
    store: str = "edges",
    graded: bool = True,
    **options: Unpack[PlannerOptions],
) -> Planner:
    """UCD with the depths of the mean, the parent's visits and the child's visits, each 0, 1, 2, ... or math.inf [UCD
    section 3].

    backup, store and graded: as in UCD.
    """
    return Planner(UCD(d1, d2, d3, c, backup=backup, store=store, graded=graded), name="ucd", **options)


@preset
def uct0(c: float = ROOT_2, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT0 of [Childs section 3]: no transpositions."""
    return uct(c, **options)


@preset
def uct1(c: float = ROOT_2, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT1 of [Childs section 3]: positions are shared, statistics stay with their edges."""
    return Planner(UCD(0, 0, 0, c), name="uct1", **options)


@preset
def uct2(c: float = ROOT_2, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT2 of [Childs section 3]: the mean of a move is that of its target position."""
    return Planner(UCD(1, 0, 0, c), name="uct2", **options)


@preset
def uct3(c: float = ROOT_2, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT3 of [Childs section 3]: means are recomputed from the means below, all the way down."""
    return Planner(UCD(math.inf, 0, 0, c), name="uct3", **options)


@preset
def simple_way(c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """The simple way: mean and visits of a move are those of its target position."""
    return Planner(UCD(1, 0, 1, c), name="simple_way", **options)


@preset
def update_all(c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """Update-all [UCD section 3.2]: a playout is added to every edge that leads to its leaf."""
    return Planner(UpdateAll(c), name="update_all", **options)


@preset
def stop_and_correct(eps: float = 0.01, c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """Stop and correct [Czech, Korus, Kersting 2020]: edges keep their means, and are moved to those of shared positions.

    eps: as in StopAndCorrect. The paper has 0.01 for values from -1 to 1.
    """
    return Planner(StopAndCorrect(eps, c), name="stop_and_correct", **options)


@preset
def catch_up(c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """Catch up [KataGo, docs/GraphSearch.md]: an edge with fewer visits than its position gets one without a playout."""
    return Planner(CatchUp(c), name="catch_up", **options)


@preset
def rave(bias: float = 0.001, c: float = 0.0, revisit: int = 512, **options: Unpack[PlannerOptions]) -> Planner:
    """RAVE [Gelly and Silver 2011, with bias = 4 b^2]. Untried moves are chosen by the playouts that played them later.

    revisit: every how many playouts of a position its least tried move is played; the papers have none, which is 0.
    """
    return Planner(RAVE(bias, c, revisit=revisit), name="rave", **options)


@preset
def rave_ucd(
    bias: float = 0.001,
    depth_rave: int = 1,
    depth_mean: float = 0,
    c: float = 0.0,
    revisit: int = 512,
    **options: Unpack[PlannerOptions],
) -> Planner:
    """RAVE on a graph [UCD section 4, Table 2]: depth_rave 0 or 1, depth_mean 0, 1, 2, ... or math.inf."""
    return Planner(RAVE(bias, c, True, depth_mean, depth_rave, revisit=revisit), name="rave_ucd", **options)


@preset
def grave(ref: int = 50, bias: float = 1e-10, c: float = 0.0, revisit: int = 512, **options: Unpack[PlannerOptions]) -> Planner:
    """GRAVE [Cazenave 2015]: RAVE values of the nearest position of the descent with at least `ref` playouts."""
    return Planner(RAVE(bias, c, ref=ref, revisit=revisit), name="grave", **options)


@preset
def puct(
    net: Any,
    c: float = 1.5,
    d1: float = 1,
    d2: float = 0,
    d3: float = 1,
    table: bool = True,
    reduction: float = 0.0,
    gumbel: int = 0,
    batch: int = 64,
    leaves: int = 1,
    mix: float = 0.0,
    noise: tuple[float, float] | str | None = None,
    remember: int = 2**16,
    layout: str = "chw",
    logits: bool = True,
    signed: bool = False,
    **options: Unpack[PlannerOptions],
) -> Planner:
    """PUCT [Rosin 2011; Silver et al. 2018] in a graph with the depths of UCD, or in a tree with table=False.

    net: a function `(planes, masks, players) -> (logits, values)`, a module of PyTorch, a model of Stable-Baselines3, the path
    of a file of either or of ONNX, a reference such as my_module:my_net, or an evaluator; layout, logits, signed: as in
    `evaluator_of`; c, reduction: as in PUCT; gumbel: moves that Gumbel root selection considers, 0 for PUCT at the root too;
    batch, leaves, mix, noise, remember: as in Evaluation, noise also as text such as "0.25 0.3". Without a table all depths
    are 0.
    """
    d1, d2, d3 = (d1, d2, d3) if table else (0, 0, 0)
    evaluation = Evaluation(evaluator_from(net, layout, logits, signed), batch, leaves, mix, noise_from(noise), remember)
    depths: dict[str, Any] = {"d1": d1, "d2": d2, "d3": d3, "table": table, "reduction": reduction}
    selection = GumbelPUCT(c, **depths, considered=gumbel) if integer("gumbel", gumbel, 0, 2**16) else PUCT(c, **depths)
    return Planner(selection, name="puct", evaluation=evaluation, **options)


def noise_from(noise: Any) -> Any:
    """Returns the two numbers of a text such as "0.25 0.3"; anything else unchanged. Raises ValueError for other texts."""
    if not isinstance(noise, str):
        return tuple(noise) if isinstance(noise, list) else noise
    try:
        share, alpha = map(float, noise.split())
    except ValueError:
        raise ValueError(
            f"noise must be two numbers, the share of noise and alpha, such as '0.25 0.3', not {noise!r}"
        ) from None
    return share, alpha


@preset
def cmc(prob: float = 0.35, threshold: float = 0.0, c: float = 0.3, **options: Unpack[PlannerOptions]) -> Planner:
    """UCT in a tree with contextual Monte Carlo [CMC], by default as in the best point of its Figure 3. Other policies
    follow it. CMC's other options are those of the policy, as in uct(policies="cmc(tiles=shared)")."""
    options["policies"] = (CMC(prob, threshold), *listed(options.get("policies", ())))
    return Planner(UCD(c=c, table=False), name="cmc", **options)


PRESETS: dict[str, Callable[..., Planner]] = {
    preset.__name__: preset
    for preset in (
        *(uct, ucd, uct0, uct1, uct2, uct3, simple_way, update_all, stop_and_correct, catch_up),
        *(rave, rave_ucd, grave, cmc),
    )
}
"""Presets by name, which need no arguments."""
WITH_NET: dict[str, Callable[..., Planner]] = {"puct": puct}
"""Presets by name that need a network."""
