"""What is said of near copies of rows, which :mod:`amiss.scoring.near_groups` finds."""

from __future__ import annotations

from amiss.data.remark import Code, Remark
from amiss.wording import count

MANY_NEAR = 0.02  # of the rows, before near copies are reported


def look_like_copies(n_rows: int) -> Remark:
    return Remark(
        Code.NEAR_COPIES,
        f"{count(n_rows, 'row')} have the same outputs as another row, and nearly the same inputs. If these are "
        "copies, they vouch for each other's errors: name the groups of rows (groups, --group), or pass auto to "
        "keep near copies together.",
    )


def kept_together(n_rows: int) -> Remark:
    return Remark(
        Code.NEAR_COPIES, f"{count(n_rows, 'row')} are near copies of others; copies were kept together."
    )
