"""The house: which module imports which, read from the sources, and its picture: python tests/house.py [picture.svg].

A module is named as in an import ("ucd_envs.rules"; a package by its folder). A room is a folder below one of the two packages;
the modules that lie directly in a package are the room of the package's name, but for its `__init__`, which is the front door:
a room for itself, that offers what lies in others.
"""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ucd_envs", "ucd_planners")
PICTURE = ROOT / "docs" / "pictures" / "house.svg"
LAYERS = (
    ("ucd_planners.cli",),
    ("ucd_planners.experiments", "ucd_planners.ratings", "ucd_planners.benchmarks"),
    ("ucd_planners.arena", ""),
    ("ucd_planners.__init__", "ucd_planners.gtp", ""),
    ("ucd_planners",),
    ("ucd_planners.graph_view", "ucd_planners.selection", "ucd_planners.playouts", "ucd_planners.evaluators"),
    ("", "", "ucd_planners.go"),
    ("ucd_envs.__init__", "ucd_planners.search", "", ""),
    ("ucd_envs.envs", "ucd_envs.foreign", "ucd_envs.formats", "ucd_envs.games"),
    ("ucd_envs.pictures", "", "", ""),
    ("", "", "ucd_envs.boards"),
    ("ucd_envs",),
)
"""Rooms from the roof to the ground: a room may import from lower layers only. An empty name is a gap in the picture."""

PAPER, INK, LINE, RED = "#faf7f0", "#3c3834", "#a8a094", "#ce3c33"
COLOURS = {"ucd_envs": "#e2d9c8", "ucd_planners": "#cfe0f3"}
LETTER, LETTERS = 6.3, 30
"""Pixels of a letter, and letters of a line."""
GAP, BETWEEN, BLANK, LINE_HEIGHT, MARGIN = 28, 44, 150, 15, 30
"""Pixels between boxes of a layer, between layers, of an empty place, of a line of text, and around everything."""


def module_of(path: Path, root: Path = ROOT) -> str:
    """The module of a file."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


@cache
def files(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the packages and its file, in the order of names."""
    paths = [path for package in PACKAGES for path in root.glob(f"{package}/**/*.py")]
    return dict(sorted((module_of(path, root), path) for path in paths))


@cache
def imports_of(path: Path, root: Path = ROOT, inside: bool = False) -> frozenset[str]:
    """The modules of the packages that a file imports at its top or, with `inside`, within functions only.

    `from a.b import c` imports a.b.c where that is a module, else a.b. Imports for a type checker count.
    """
    tree = ast.parse(path.read_text())
    top = set(_top(tree))
    found = set()
    for node in set(ast.walk(tree)) - top if inside else top:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in files(root) else str(node.module) for name in names}
    return frozenset(found & files(root).keys()) - {module_of(path, root)}


def _top(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that run when a module is imported: none within a function."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from _top(node)


def modules(root: Path = ROOT) -> Any:
    """A networkx.DiGraph of the modules; an edge leads from a module to one that it imports at its top."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(files(root))
    graph.add_edges_from((module, other) for module, path in files(root).items() for other in sorted(imports_of(path, root)))
    return graph


def closure(paths: Iterable[Path], root: Path = ROOT) -> set[Path]:
    """Some files, and all that they import at their tops, directly or through others."""
    graph = modules(root)
    reached = {module_of(path, root) for path in paths}
    return {files(root)[module] for start in reached for module in networkx.descendants(graph, start) | {start}}


def circles(root: Path = ROOT) -> list[list[str]]:
    """Groups of modules that import each other at their tops, directly or through others."""
    return sorted(sorted(group) for group in networkx.strongly_connected_components(modules(root)) if len(group) > 1)


def room_of(module: str, root: Path = ROOT) -> str:
    """The room of a module; a folder within a room belongs to that room."""
    if module in PACKAGES:
        return f"{module}.__init__"
    path = files(root)[module].relative_to(root)
    return ".".join(path.parts[: min(2, len(path.parts) - 1)])


def folders(root: Path = ROOT) -> list[str]:
    """All folders with modules below the packages, those within a room too."""
    return sorted({".".join(path.relative_to(root).parts[:-1]) for path in files(root).values()} - set(PACKAGES))


def rooms(root: Path = ROOT) -> dict[str, list[str]]:
    """Every room and its modules."""
    found: dict[str, list[str]] = {}
    for module in files(root):
        found.setdefault(room_of(module, root), []).append(module)
    return found


def arrows(root: Path = ROOT) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Pairs of different rooms, the first of which imports from the second, and the modules that do so."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for module, other in modules(root).edges:
        pair = room_of(module, root), room_of(other, root)
        if pair[0] != pair[1]:
            found.setdefault(pair, []).append((module, other))
    return found


def layer_of(room: str) -> int:
    """The layer of a room, 0 for the highest. Raises ValueError for a room that LAYERS lacks."""
    for place, layer in enumerate(LAYERS):
        if room in layer:
            return place
    raise ValueError(f"the room {room} has no place in LAYERS of tests/house.py")


def upward(root: Path = ROOT) -> list[tuple[str, str]]:
    """Imports of one module by another that do not lead to a lower layer."""
    pairs = [pairs for (room, other), pairs in arrows(root).items() if layer_of(room) >= layer_of(other)]
    return sorted(pair for group in pairs for pair in group)


Place = tuple[int, int, int, int]
"""The left and upper edge of a box, its width and its height."""


def svg() -> str:
    """The rooms as boxes in their layers, with arrows to what they import; arrows that follow from others are left out."""
    contents = {room: _lines(room, names) for room, names in rooms().items()}
    boxes, width, height = _boxes(contents)
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", role="img")
    root.attrib.update({"font-family": "Helvetica, Arial, 'Liberation Sans', sans-serif", "font-size": "12"})
    ElementTree.SubElement(root, "title").text = "The rooms of ucd_envs and ucd_planners, and what they import"
    ElementTree.SubElement(root, "rect", width=str(width), height=str(height), fill=PAPER)
    wrong = {pair for pair in arrows() if layer_of(pair[0]) >= layer_of(pair[1])}
    downward = networkx.DiGraph(sorted(set(arrows()) - wrong))
    shown = sorted({*networkx.transitive_reduction(downward).edges, *wrong})
    for room, other in shown:
        begin = _port(boxes, room, [target for source, target in shown if source == room], other)
        end = _port(boxes, other, [source for source, target in shown if target == other], room)
        way = (begin, boxes[room][1] + boxes[room][3]), (end, boxes[other][1])
        _arrow(root, *way, RED if (room, other) in wrong else INK)
    for room, box in boxes.items():
        _box(root, box, contents[room], COLOURS[room.partition(".")[0]])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _lines(room: str, names: list[str]) -> list[str]:
    """The words in a box: the room's folder and its modules, or how a front door is opened."""
    if room.endswith(".__init__"):
        return [f"import {room.removesuffix('.__init__')}"]
    inner = [name.removeprefix(f"{room}.") for name in names if name != room]
    return [f"{room.replace('.', '/')}/", *textwrap.wrap(", ".join(inner), LETTERS)]


def _boxes(contents: dict[str, list[str]]) -> tuple[dict[str, Place], int, int]:
    """The place of each box, and the width and height of the picture."""
    widths = {room: 20 + int(LETTER * max(map(len, lines))) for room, lines in contents.items()} | {"": BLANK}
    heights = {room: 10 + LINE_HEIGHT * len(lines) for room, lines in contents.items()} | {"": 0}
    total = [sum(widths[room] + GAP for room in layer) - GAP for layer in LAYERS]
    width = max(total) + 2 * MARGIN
    boxes, y = {}, MARGIN
    for layer, across in zip(LAYERS, total, strict=True):
        x = (width - across) // 2
        for room in layer:
            if room:
                boxes[room] = (x, y, widths[room], heights[room])
            x += widths[room] + GAP
        y += max(heights[room] for room in layer) + BETWEEN
    return boxes, width, y - BETWEEN + MARGIN


def _port(boxes: dict[str, Place], room: str, others: list[str], other: str) -> float:
    """Where the arrow between a room and another meets its box: arrows are spread in the order of their other ends."""
    x, _, across, _ = boxes[room]
    ordered = sorted(others, key=lambda name: (boxes[name][0] + boxes[name][2] / 2, name))
    return x + across * (ordered.index(other) + 1) / (len(ordered) + 1)


def _arrow(root: ElementTree.Element, begin: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """A curve down from one place to another, with a tip."""
    (x, y), (to_x, to_y) = begin, end
    bend = max((to_y - y) / 2, 20)
    way = f"M {x:.1f} {y} C {x:.1f} {y + bend:.1f} {to_x:.1f} {to_y - 6 - bend:.1f} {to_x:.1f} {to_y - 6}"
    ElementTree.SubElement(root, "path", {"d": way, "fill": "none", "stroke": colour, "stroke-opacity": "0.7"})
    tip = f"{to_x - 3.5:.1f},{to_y - 7} {to_x + 3.5:.1f},{to_y - 7} {to_x:.1f},{to_y}"
    ElementTree.SubElement(root, "polygon", points=tip, fill=colour)


def _box(root: ElementTree.Element, box: Place, lines: list[str], colour: str) -> None:
    """A box with its words, the first line in bold."""
    x, y, across, down = map(str, box)
    place = {"x": x, "y": y, "width": across, "height": down, "rx": "5", "fill": colour, "stroke": LINE}
    ElementTree.SubElement(root, "rect", place)
    for number, line in enumerate(lines):
        middle = {"x": f"{box[0] + box[2] / 2:g}", "y": str(box[1] + LINE_HEIGHT * (number + 1) + 1), "text-anchor": "middle"}
        weight = {"font-size": "11"} if number else {"font-weight": "bold"}
        ElementTree.SubElement(root, "text", {**middle, **weight, "fill": INK}).text = line


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg())
