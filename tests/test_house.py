"""What is read from the imports: modules, rooms, arrows, circles, and the picture in the documents."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import house
import pytest

SOURCES = {
    "ucd_envs/__init__.py": "from ucd_envs.rules import State",
    "ucd_envs/rules.py": "import numpy\ndef make():\n    from ucd_envs.games import hex\n",
    "ucd_envs/games/__init__.py": "",
    "ucd_envs/games/hex.py": "from ucd_envs.rules import State\nfrom ucd_envs.games.go import rules\n",
    "ucd_envs/games/go/__init__.py": "from ucd_envs.games.go import rules",
    "ucd_envs/games/go/rules.py": "if True:\n    import ucd_envs.rules\n",
    "ucd_planners/__init__.py": "from ucd_planners import search",
    "ucd_planners/search/__init__.py": "",
    "ucd_planners/search/loop.py": "from ucd_envs.rules import State\nfrom ucd_planners.search import graph\n",
    "ucd_planners/search/graph.py": "import ucd_planners.search.storage as storage\n",
    "ucd_planners/search/storage.py": "class Graph:\n    from ucd_planners.search.loop import simulate\n",
}
"""Of a small house: a package that a class imports closes a circle, one that a function imports does not."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The folder of the small house."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_module_is_named_as_in_an_import(small: Path) -> None:
    assert set(house.files(small)) >= {"ucd_envs", "ucd_envs.rules", "ucd_envs.games.go", "ucd_envs.games.go.rules"}
    assert len(house.files(small)) == len(SOURCES)


@pytest.mark.parametrize(
    ("file", "top", "inside"),
    [
        ("ucd_envs/rules.py", set(), {"ucd_envs.games.hex"}),
        ("ucd_envs/games/go/rules.py", {"ucd_envs.rules"}, set()),
        ("ucd_envs/games/go/__init__.py", {"ucd_envs.games.go.rules"}, set()),
        ("ucd_envs/games/hex.py", {"ucd_envs.rules", "ucd_envs.games.go.rules"}, set()),
        ("ucd_planners/__init__.py", {"ucd_planners.search"}, set()),
        ("ucd_planners/search/graph.py", {"ucd_planners.search.storage"}, set()),
        ("ucd_planners/search/storage.py", {"ucd_planners.search.loop"}, set()),
    ],
)
def test_imports_at_the_top_and_within_functions_are_told_apart(
    small: Path, file: str, top: set[str], inside: set[str]
) -> None:
    assert house.imports_of(small / file, small) == top
    assert house.imports_of(small / file, small, inside=True) == inside


def test_modules_that_import_each_other_are_a_circle(small: Path) -> None:
    assert house.circles(small) == [["ucd_planners.search.graph", "ucd_planners.search.loop", "ucd_planners.search.storage"]]


def test_a_closure_has_all_that_some_files_import_through_others(small: Path) -> None:
    found = house.closure([small / "ucd_envs/games/hex.py"], small)
    assert {str(path.relative_to(small)) for path in found} == {
        "ucd_envs/games/hex.py",
        "ucd_envs/games/go/rules.py",
        "ucd_envs/rules.py",
    }


def test_rooms_are_folders_below_a_package_the_package_itself_and_its_front_door(small: Path) -> None:
    assert {room: len(modules) for room, modules in house.rooms(small).items()} == {
        "ucd_envs": 1,
        "ucd_envs.__init__": 1,
        "ucd_envs.games": 4,
        "ucd_planners.__init__": 1,
        "ucd_planners.search": 4,
    }
    assert house.folders(small) == ["ucd_envs.games", "ucd_envs.games.go", "ucd_planners.search"]


def test_arrows_lead_between_different_rooms(small: Path) -> None:
    assert sorted(house.arrows(small)) == [
        ("ucd_envs.__init__", "ucd_envs"),
        ("ucd_envs.games", "ucd_envs"),
        ("ucd_planners.__init__", "ucd_planners.search"),
        ("ucd_planners.search", "ucd_envs"),
    ]
    assert house.arrows(small)["ucd_planners.search", "ucd_envs"] == [("ucd_planners.search.loop", "ucd_envs.rules")]


def test_an_arrow_to_a_higher_layer_is_upward(small: Path) -> None:
    assert house.upward(small) == []
    (small / "ucd_envs/games/hex.py").write_text("from ucd_planners.search import loop")
    house.imports_of.cache_clear()
    assert house.upward(small) == [("ucd_envs.games.hex", "ucd_planners.search.loop")]


def test_a_room_without_a_layer_is_named(small: Path) -> None:
    with pytest.raises(ValueError, match=r"the room ucd_envs\.cellar has no place in LAYERS of tests/house\.py"):
        house.layer_of("ucd_envs.cellar")


def test_every_layer_has_rooms_that_exist() -> None:
    placed = [room for layer in house.LAYERS for room in layer if room]
    assert sorted(placed) == sorted(house.rooms())


def test_the_picture_names_every_room_and_module() -> None:
    texts = ElementTree.fromstring(house.svg()).iter("{http://www.w3.org/2000/svg}text")
    words = [element.text or "" for element in texts]
    rooms = {room: modules for room, modules in house.rooms().items() if not room.endswith("__init__")}
    assert {f"{room.replace('.', '/')}/" for room in rooms} | {"import ucd_envs", "import ucd_planners"} <= set(words)
    shown = {name for line in words for name in line.rstrip(",").split(", ")}
    assert {module.removeprefix(f"{room}.") for room, modules in rooms.items() for module in modules} - shown <= set(rooms)


def test_the_picture_in_the_documents_is_that_of_the_imports() -> None:
    """`python tests/house.py` draws it again."""
    assert house.PICTURE.read_text() == house.svg()
