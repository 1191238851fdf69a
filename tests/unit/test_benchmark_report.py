"""What a run of benchmarks says of its sides."""

from __future__ import annotations

from benchmarks import report
from benchmarks.harness import Case, Outcome, Timing


def outcome(**seconds: float) -> Outcome:
    case = Case("spmv", "made", 10, (), {})
    return Outcome(case, {side: Timing([t]) for side, t in seconds.items()}, {})


def test_means():
    found = report.means([outcome(linnet=1.0, c=2.0), outcome(linnet=2.0, c=1.0, scipy=6.0)])
    assert found == ["c: 1.00 in 2 cases, below 1 in 1", "scipy: 3.00 in 1 cases, below 1 in 0"]


def test_a_side_that_took_no_time():
    """The clock of a thread stands still while another one works for it."""
    timed = [outcome(linnet=1.0, c=0.0), outcome(linnet=0.0, c=1.0), outcome(linnet=2.0, c=3.0)]
    assert [o.ratio("c") for o in timed] == [None, None, 1.5]
    assert report.means(timed) == ["c: 1.50 in 1 cases, below 1 in 0"]
    assert [report.cells(o)[5] for o in timed] == ["-", "-", "1.50 "]
