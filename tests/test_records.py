"""Flat vectors of bytes as records."""

from __future__ import annotations

import numpy as np
import pytest

from ucd_envs.structs import fields, record


def test_a_record_is_a_multiple_of_eight_bytes() -> None:
    assert record(("small", np.uint8)).itemsize == 8
    assert record(("word", np.uint64), ("small", np.uint8)).itemsize == 16


@pytest.mark.parametrize("name", ["size", "trace", "data", "round"])
def test_a_field_cannot_be_named_as_what_every_record_has(name: str) -> None:
    """Plain Python would read NumPy's own attribute, compiled kernels the field."""
    with pytest.raises(ValueError, match=f"\\Aa field cannot be named {name}: NumPy's records have something of that name\\Z"):
        record((name, np.int32))


def test_fields_lie_in_the_vector_itself() -> None:
    layout = record(("first", np.int32), ("second", np.int32))
    vector = np.zeros(layout.itemsize, np.uint8)
    fields(vector, layout).second = 258
    assert vector.tolist() == [0, 0, 0, 0, 2, 1, 0, 0]


def test_a_vector_may_be_longer_than_its_record() -> None:
    layout = record(("first", np.int64))
    vector = np.full(24, 7, np.uint8)
    fields(vector, layout).first = -1
    assert vector.tolist() == [255] * 8 + [7] * 16
