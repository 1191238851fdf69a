"""What tests of refused arguments have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from linnet.errors import LinnetError


def refused(kind: type[Exception], call: Callable[[], object], *texts: str) -> LinnetError:
    """The call raises an error of this kind, with these words, at a line of the file that asks."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    assert isinstance(error, LinnetError)
    for text in texts:
        assert text in str(error)
    assert error.at is not None
    assert error.at.file == sys._getframe(1).f_code.co_filename
    return error
