"""Boards as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from ucd_envs.pictures.frame import framed
from ucd_envs.pictures.scene import PAPER, Box, Colour, Disc, Line, Point, Polygon, Words
from ucd_envs.pictures.tilings import describe
from ucd_envs.rules import State

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
WIDTHS = {"ijl.,:;|!'": 0.25, "frtI ()[]-": 0.31, "mwMW": 0.85, "ABCDEGHKNOPQRSUVXY": 0.69}
"""Widths of Helvetica's letters in font sizes, which give an estimate of a text's length."""
OTHER = 0.55


def svg(state: State, width: int = 640) -> str:
    """Returns the board as an SVG document, drawn as in `pixels`: at most `width` wide, unless the caption needs more.

    Equal states give equal documents.
    """
    scene = describe(state)
    frame = framed(scene, width, _length)
    across, down = _number(frame.width), _number(frame.height)
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", width=across, height=down)
    root.attrib.update({"viewBox": f"0 0 {across} {down}", "font-family": FONT, "role": "img"})
    ElementTree.SubElement(root, "title").text = f"{state.rules}, {scene.sentence}"
    _add(root, "rect", width=across, height=down, fill=_hex(PAPER))
    for shape in frame.shapes():
        match shape:
            case Polygon(points, fill):
                _add(root, "polygon", points=_joined(points), fill=_hex(fill))
            case Box((x, y), (right, bottom), fill, edge, thick, _, radius):
                # Pillow draws an edge inside of the rectangle, SVG on both sides of its outline
                inset = thick / 2 if edge else 0.0
                box = _add(root, "rect", x=x + inset, y=y + inset, width=right - x - 2 * inset, height=bottom - y - 2 * inset)
                box.set("fill", _hex(fill) if fill else "none")
                if radius:
                    box.set("rx", _number(radius))
                if edge:
                    box.attrib.update({"stroke": _hex(edge), "stroke-width": _number(thick)})
            case Line(points, colour, thick, round=rounded):
                line = _add(root, "polyline", points=_joined(points), fill="none", stroke=_hex(colour))
                line.set("stroke-width", _number(thick))
                line.set("stroke-linecap", "round" if rounded else "square")
                line.set("stroke-linejoin", "round" if rounded else "miter")
            case Disc((x, y), radius, fill):
                _add(root, "circle", cx=x, cy=y, r=radius, fill=_hex(fill))
            case Words((x, y), words, size, colour, left=left):
                text = _add(root, "text", x=x, y=y + 0.35 * size, fill=_hex(colour))
                text.attrib.update({"font-size": _number(size), "text-anchor": "start" if left else "middle"})
                text.text = words
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(root: ElementTree.Element, tag: str, **attributes: float | str) -> ElementTree.Element:
    """Adds an element with attributes in the given order."""
    values = {name: value if isinstance(value, str) else _number(value) for name, value in attributes.items()}
    return ElementTree.SubElement(root, tag, values)


def _number(value: float) -> str:
    """Writes a length to a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _joined(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _length(words: str, size: float) -> float:
    """Returns the estimated length of a text in pixels."""
    return size * sum(next((width for letters, width in WIDTHS.items() if letter in letters), OTHER) for letter in words)
