"""A pygame window for pictures. Pygame is imported for the first window."""

from __future__ import annotations

from typing import Any

import numpy as np


class Screen:
    """A window that shows pictures. Raises ImportError where pygame is not installed."""

    def __init__(self, title: str, shape: tuple[int, ...]) -> None:
        try:
            import pygame
        except ImportError:
            raise ImportError("a window needs pygame: pip install 'ucd-planners[render]'") from None
        self._pygame: Any = pygame
        pygame.display.init()
        pygame.display.set_caption(title)
        self._size = (shape[1], shape[0])
        self._clock = pygame.time.Clock()

    def show(self, pixels: np.ndarray, per_second: int) -> None:
        """Shows a picture, [height, width, 3] uint8, and waits, so that at most `per_second` are shown in a second."""
        window = self._pygame.display.get_surface()  # pygame has one for the process: another Screen may have changed it
        if window is None or window.get_size() != self._size:
            window = self._pygame.display.set_mode(self._size)
        window.blit(self._pygame.surfarray.make_surface(pixels.swapaxes(0, 1)), (0, 0))
        self._pygame.event.pump()
        self._pygame.display.flip()
        self._clock.tick(per_second)

    def close(self) -> None:
        """Closes the window."""
        self._pygame.display.quit()
