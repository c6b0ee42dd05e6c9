"""Plain English in docstrings and documents: how a sentence begins, and the words that no sentence has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for folder in ("ucd_envs", "ucd_planners", "examples") for path in (ROOT / folder).rglob("*.py"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]

OPENINGS = re.compile(r"(What|How|Where|That|Who|Which|When|Why|So|As|If|For|To|In|Of|With|By|It|There|Answers|Tells)\b")
"""First words of a docstring that are neither a verb in the third person nor a noun phrase. "Whether ..." says what a predicate
returns and is left alone."""
WORDS = re.compile(
    r"\b(as (?:it is|they are) there|so (?:many|much)(?! \w+ (?:as|that)\b)|(?:of )?one's own|(?:that )?others wrote"
    r"|(?:is|are|was|were|be|been) told|of whom|whatever|whoever(?:'s)?)\b",
    re.IGNORECASE,
)
"""Turns of phrase that a reader has to take apart; each has a plain form, such as "n playouts", "user-defined", "third-party",
"receives" and "by default"."""


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings of a file, and the texts below its constants and fields, with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    text = statement.value.value
                    if isinstance(text, str):
                        yield statement.lineno, text


def first_sentence(text: str) -> str:
    """Text up to its first full stop that ends a sentence, or a blank line."""
    return re.split(r"(?<=[.:])\s|\n\n", text.strip(), maxsplit=1)[0]


def faults(path: Path) -> list[str]:
    """Docstrings of a file that do not keep the rules, as lines."""
    found = []
    for line, text in docstrings(path):
        if OPENINGS.match(text.strip()):
            found.append(f"{path.relative_to(ROOT)}:{line}: begins with {text.split()[0]!r}: {first_sentence(text)[:90]}")
        for word in WORDS.finditer(text):
            found.append(f"{path.relative_to(ROOT)}:{line}: has {' '.join(word[0].split())!r}: {first_sentence(text)[:90]}")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_are_plain(path: Path) -> None:
    found = faults(path)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_are_plain(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    assert not [word[0] for word in WORDS.finditer(text)]
