"""What a fitted discoverer shows, and rows for it: one for each term, grouped by equation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from matplotlib.axes import Axes

from sciml.plotting.style import INK, TARGETS
from sciml.plotting.typeset import term_label


class Evidence(Protocol):
    """What a fitted discoverer shows; mappings go from the field to its equation's entry."""

    @property
    def targets_(self) -> Sequence[str]:
        """Fields whose equation was sought."""
        ...

    @property
    def support_(self) -> Mapping[str, Sequence[str]]:
        """Field -> library terms that were chosen."""
        ...

    @property
    def path_(self) -> Mapping[str, Sequence[Any]]:
        """Field -> best equation of every size."""
        ...

    @property
    def inclusion_(self) -> Mapping[str, Mapping[str, float]]:
        """Field -> library term -> share of subsamples in which it was chosen."""
        ...

    @property
    def terms_(self) -> Mapping[str, Mapping[str, float]]:
        """Field -> term -> coefficient."""
        ...

    @property
    def standard_errors_(self) -> Mapping[str, Mapping[str, float]]:
        """Field -> term -> standard error."""
        ...

    @property
    def rivals_(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Field -> best equations that do without one of its terms."""
        ...


def rows_of(labels: Mapping[str, Sequence[str]]) -> list[tuple[str, str, float]]:
    """Target, label and height of every row, from the top; systems get a gap between equations."""
    rows, height = [], 0.0
    for target, entries in labels.items():
        for entry in entries:
            rows.append((target, entry, height))
            height -= 1.0
        height -= 0.4 if entries else 0.0
    return rows


def label_rows(axes: Axes, rows: Sequence[tuple[str, str, float]], model: Evidence) -> None:
    """Write the terms beside their rows, in the color of their equation if there are several."""
    heights = [height for _, _, height in rows]
    axes.set_yticks(heights, [term_label(term) for _, term, _ in rows])
    axes.tick_params(axis="y", length=0, pad=8)
    for label, (target, _, _) in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontsize(12 if len(rows) <= 10 else 9)
        label.set_color(color_of(model, target) if len(model.targets_) > 1 else INK)
    axes.set_ylim(min(heights) - 0.9, max(heights) + 0.7)


def color_of(model: Evidence, target: str) -> str:
    """Color of one equation of a system."""
    return TARGETS[list(model.targets_).index(target) % len(TARGETS)]
