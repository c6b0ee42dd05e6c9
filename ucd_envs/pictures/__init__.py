"""Pictures of positions as text, SVG and pixels, all from one description, and a window."""

from ucd_envs.pictures.characters import text
from ucd_envs.pictures.observation import stones
from ucd_envs.pictures.raster import pixels
from ucd_envs.pictures.screen import Screen
from ucd_envs.pictures.vectors import svg

__all__ = ["Screen", "pixels", "stones", "svg", "text"]
