"""x"""


def add(commands): ...
