"""Steady entries solved by finite elements: orders of convergence, exactness, known numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy

import pdes
from pdes.exact import kellogg
from pdes.exact.motz import motz_coefficients, motz_residual
from pdes.exact.thermoelastic_mode import warming_rate
from pdes.solvers.finite_element_errors import error_norms
from pdes.solvers.finite_element_space import make_space
from pdes.solvers.thermoelastic_march import ORDER, march_thermoelastic
from sciml.metrics import observed_order
from sciml.theory import Prediction
from sciml.validation import Case, Measurements

_KINDS = {"l2": "values", "h1": "derivatives"}
_WHY = "polynomial interpolation and Aubin-Nitsche duality (Ciarlet 1978, theorem 3.2.5)"
_CORNER = "regularity at a corner: r^a, a = pi/omega (Kondrat'ev 1967)"
_GRADED = "meshes graded toward the corner (Raugel 1978)"


@dataclass(frozen=True)
class Row:
    """An entry with the orders predicted for its values and derivatives in the mean square."""

    entry: str
    degree: int
    l2: float
    h1: float
    resolutions: tuple[int, ...] = (16, 32, 64)
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Entry, parameters and degree in words."""
        words = ", ".join(
            f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}"
            for k, v in self.parameters.items()
        )
        return f"{self.entry}{f' ({words})' if words else ''}, degree {self.degree}"


def _measure(rows: Sequence[Row]) -> Measurements:
    values, table = {}, []
    for row in rows:
        problem = pdes.get(row.entry, **row.parameters)
        solved = [pdes.solve(problem, resolution=n, degree=row.degree) for n in row.resolutions]
        errors = [json.loads(data.attrs["errors"]) for data in solved]
        steps = [1.0 / n for n in row.resolutions]
        for kind, word in _KINDS.items():
            # Of a system, the field that converges worst speaks.
            orders = {f: observed_order(steps, [e[f][kind] for e in errors]) for f in errors[0]}
            worst = min(orders, key=lambda name: orders[name])
            values[f"{row.label}: {word}"] = orders[worst]
            last = errors[-1][worst]
            table.append(
                {
                    "entry": row.label,
                    "solver": "finite_element",
                    "norm": f"{word} of {worst}",
                    "predicted order": getattr(row, kind),
                    "measured order": orders[worst],
                    "error": last[kind] / last[f"{kind}_exact"],
                    "invariant drift": math.nan,
                    "cells": "/".join(str(n) for n in row.resolutions),
                }
            )
    return Measurements(
        values=values, table=table, note="Errors are relative, on the finest of the meshes."
    )


def _orders(
    name: str,
    title: str,
    description: str,
    rows: Sequence[Row],
    source: str,
    *,
    tier: Any = "quick",
    within: float | None = None,
) -> Case:
    """Case of several rows; `within` asks for equality up to this instead of at least the order."""
    predictions = tuple(
        Prediction(
            name=f"{row.label}: {word}",
            value=getattr(row, kind),
            kind="order" if within is None else "equals",
            atol=within,
            source=source,
        )
        for row in rows
        for kind, word in _KINDS.items()
    )
    return Case(
        name=name,
        title=title,
        description=description,
        run=lambda: _measure(rows),
        predictions=predictions,
        tier=tier,
    )


# --- Orders --------------------------------------------------------------------------------------

SMOOTH = _orders(
    "smooth",
    "Smooth solutions converge with the full order",
    "Errors against closed forms on three meshes, by quadrature of a higher degree.",
    [
        Row("poisson_polynomial", 1, 2, 1),
        Row("poisson_polynomial", 2, 3, 2),
        Row("advection_diffusion_layer", 1, 2, 1, (24, 48, 96), {"diffusivity": 0.2}),
        Row("advection_diffusion_layer", 2, 3, 2, (16, 32, 64), {"diffusivity": 0.2}),
        Row("lame_cylinder", 1, 2, 1, (4, 8, 16)),
        Row("lame_cylinder", 2, 3, 2, (4, 8, 16)),
        Row("thermoelastic_cylinder", 1, 2, 1, (4, 8, 16)),
        Row("thermoelastic_cylinder", 2, 3, 2, (4, 8, 16)),
        Row("thermoelastic_mode", 1, 2, 1, (8, 16, 32)),
        Row("thermoelastic_mode", 2, 3, 2, (8, 16, 32)),
    ],
    _WHY,
)

_THIRD = 2.0 / 3.0

CORNERS = _orders(
    "corners",
    "At a corner the order is that of the singularity, and no more",
    "Uniform meshes: derivatives converge with order a, values with 2 a.",
    [
        Row("laplace_wedge", 1, 2 * _THIRD, _THIRD),
        Row("laplace_l_shape", 1, 2 * _THIRD, _THIRD),
        Row("laplace_slit", 1, 1.0, 0.5),
        Row("laplace_wedge", 1, _THIRD, _THIRD / 2, (16, 32, 64), {"mixed": True}),
        Row("motz", 1, 1.0, 0.5, (8, 16, 32)),
        Row("crack_tip", 1, 1.0, 0.5, (8, 16, 32)),
    ],
    _CORNER,
    within=0.1,
)

GRADED = _orders(
    "graded",
    "Meshes graded toward a corner give the full order back",
    "Rings at (i/n)^(1/m) with m below a/degree; m = a/(twice the degree) for the slit.",
    [
        Row("laplace_wedge", 1, 2, 1, (16, 32, 64), {"grading": 0.5}),
        Row("laplace_wedge", 2, 3, 2, (16, 32, 64), {"grading": 0.3}),
        Row("laplace_l_shape", 1, 2, 1, (16, 32, 64), {"grading": 0.5}),
        Row("laplace_slit", 1, 2, 1, (16, 32, 64), {"mixed": True, "grading": 0.15}),
        Row("elastic_slit", 1, 2, 1, (8, 16, 32), {"grading": 0.35}),
    ],
    _GRADED,
)

SUITE = _orders(
    "poisson-suite",
    "The Poisson suite with its published parameters",
    "Peaks, fronts, layers and lines on meshes that resolve them.",
    [
        Row("poisson_peak", 1, 2, 1, (64, 128, 256)),
        Row("poisson_peak", 2, 3, 2, (32, 64, 128)),
        Row("poisson_wave_front", 1, 2, 1, (64, 128, 256)),
        Row("poisson_wave_front", 2, 3, 2, (64, 128, 256)),
        # The well has a cone at its center: second derivatives like 1/r.
        Row("poisson_wave_front", 2, 2, 1, (64, 128, 256), {"front": "well"}),
        Row("poisson_oscillatory", 1, 2, 1, (64, 128, 256)),
        Row("poisson_oscillatory", 2, 3, 2, (64, 128, 256)),
        Row("advection_diffusion_layer", 1, 2, 1, (64, 128, 256)),
        Row("advection_diffusion_layer", 2, 3, 2, (32, 64, 128)),
        Row("poisson_interior_line", 1, 2, 1, (32, 64, 128)),
        Row("poisson_line_singularity", 1, 2, 0.5, (32, 64, 128), {"grading": 0.2}),
        # Values: the exponent of the solution plus that of the slit in the dual problem, 1/2.
        Row("elastic_slit", 1, 1.0445, 0.5445, (16, 32, 64)),
        Row("elastic_slit", 1, 1.4085, 0.9085, (16, 32, 64), {"mode": 2}),
        Row("kellogg", 1, 1.0, 0.5, (32, 64, 128), {"grading": 0.2}),
        Row("motz", 1, 1.0, 0.5, (16, 32, 64)),
        Row("motz", 2, 3, 2, (16, 32, 64), {"grading": 0.2}),
        Row("crack_tip", 1, 1.0, 0.5, (16, 32, 64)),
        Row(
            "poisson_multiple",
            1,
            2,
            1,
            (64, 128, 256),
            {"sharpness": 100.0, "steepness": 20.0, "layer": 0.1, "grading": 0.5},
        ),
    ],
    "W. F. Mitchell, NISTIR 7668; regularity of each solution",
    tier="full",
)

# --- Exactness and known numbers -----------------------------------------------------------------


def _exactness() -> Measurements:
    rows = []
    for entry, degree, parameters in (
        ("laplace_wedge", 2, {"angle": math.pi / 2}),
        ("elastic_stretch", 1, {}),
        ("elastic_stretch", 1, {"plane": "stress"}),
        ("elastic_stretch", 2, {}),
        ("thermoelastic_free", 1, {}),
    ):
        data = pdes.solve(pdes.get(entry, **parameters), resolution=6, degree=degree)
        errors = [norms["l2"] for norms in json.loads(data.attrs["errors"]).values()]
        rows.append({"entry": entry, "degree": degree, **parameters, "error": max(errors)})
    return Measurements(values={"largest error": max(r["error"] for r in rows)}, table=rows)


EXACT = Case(
    name="patch-tests",
    title="Solutions in the finite element space are reproduced to rounding",
    description="Quadratic at a right angle, uniform strain, free thermal growth; mean square.",
    run=_exactness,
    predictions=(
        Prediction(name="largest error", value=1e-14, kind="at_most", source="Galerkin projection"),
    ),
)

# R.-C. Li, Z.-C. Li and others; leading coefficients to seven decimals.
_MOTZ = (401.1624537, 87.6559202, 17.2379151, -8.0712153, 1.4402727, 0.3310549)


def _motz() -> Measurements:
    found = motz_coefficients()[: len(_MOTZ)]
    rows = [
        {"i": i + 1, "known": k, "found": f}
        for i, (k, f) in enumerate(zip(_MOTZ, found, strict=True))
    ]
    gap = max(abs(row["known"] - row["found"]) for row in rows)
    return Measurements(
        values={"largest deviation": gap, "residual of the sides": motz_residual()}, table=rows
    )


MOTZ = Case(
    name="motz-series",
    title="Coefficients of the series of Motz's problem",
    description="Least squares with 36 terms on the three sides away from the singular point.",
    run=_motz,
    predictions=(
        Prediction(
            name="largest deviation",
            value=6e-8,
            kind="at_most",
            source="coefficients published to seven decimals",
        ),
        Prediction(
            name="residual of the sides",
            value=3e-9,
            kind="at_most",
            source="exponential convergence of the series",
        ),
    ),
)


def _kellogg() -> Measurements:
    theta = sympy.Symbol("theta", real=True)
    parts = kellogg.angular_parts(theta)
    contrast = sympy.Rational(repr(kellogg.CONTRAST))
    jumps, fluxes = [], []
    for i, part in enumerate(parts):
        angle, after = (i + 1) * sympy.pi / 2, parts[(i + 1) % 4]
        start = angle if i < 3 else sympy.S.Zero
        inside, outside = (contrast, 1) if i % 2 == 0 else (1, contrast)
        jump = part.subs(theta, angle) - after.subs(theta, start)
        flux = inside * part.diff(theta).subs(theta, angle)
        flux -= outside * after.diff(theta).subs(theta, start)
        jumps.append(float(abs(sympy.N(jump, 30))))
        fluxes.append(float(abs(sympy.N(flux, 30))))
    return Measurements(values={"jump of the value": max(jumps), "jump of the flux": max(fluxes)})


KELLOGG = Case(
    name="kellogg-interfaces",
    title="Value and flux of Kellogg's solution across the interfaces",
    description="Both sides of each half axis, in 30 digits; the parameters have 16.",
    run=_kellogg,
    predictions=(
        Prediction(name="jump of the value", value=1e-15, kind="at_most", source="continuity"),
        Prediction(name="jump of the flux", value=1e-15, kind="at_most", source="conservation"),
    ),
)


def _battery() -> Measurements:
    problem = pdes.get("battery")
    rows = []
    for n in (4, 8, 16, 32):
        data = pdes.solve(problem, resolution=n, degree=2)
        rows.append(
            {"cells in a block": n, "largest": float(data.u.max()), "least": float(data.u.min())}
        )
    gaps = np.abs(np.diff([row["largest"] for row in rows]))
    return Measurements(
        values={"change of the maximum": float(gaps[-1] / rows[-1]["largest"])}, table=rows
    )


BATTERY = Case(
    name="battery",
    title="Heat of a battery settles under refinement",
    description="Relative change of the highest temperature between the two finest meshes.",
    run=_battery,
    predictions=(
        Prediction(
            name="change of the maximum", value=1e-3, kind="at_most", source="self-convergence"
        ),
    ),
    tier="full",
)

# --- Coupled thermoelasticity in time ------------------------------------------------------------

_BODY: dict[str, Any] = {"heat_capacity": 0.5, "reference_temperature": 2.0}
_EXPANSION, _END = 0.5, 0.1


def _warmed(degree: int, resolution: int, steps: int) -> tuple[float, float]:
    """Largest relative error of a field in the mean square, and what the energy law misses."""
    problem = pdes.get("thermoelastic_mode", expansion=_EXPANSION)
    data = march_thermoelastic(
        problem, resolution=resolution, degree=degree, time_step=_END / steps, end=_END, **_BODY
    )
    # The closed form is the steady one with another temperature at the center.
    reached = -math.expm1(-_END * warming_rate(_EXPANSION, 1.0, 0.3, **_BODY))
    warm = pdes.get("thermoelastic_mode", expansion=_EXPANSION, temperature=reached)
    space = make_space(warm, resolution, degree)
    norms = error_norms(warm, space.basis, {name: data[name].values for name in problem.fields})
    missed = np.diff(data.energy) + (data.dissipation - data.supply).values[1:]
    gap = float(np.max(np.abs(missed)) / data.energy.max())
    return max(norm["l2"] / norm["l2_exact"] for norm in norms.values()), gap


def _thermoelastic() -> Measurements:
    runs = {
        # On a mesh so fine that the steps make the error.
        "order in time": (ORDER, 2, [(24, 4), (24, 8), (24, 16)]),
        # Steps like the spacing, or its power 3/2: time and space have the same order.
        "order, degree 1": (2, 1, [(8, 8), (16, 16), (32, 32)]),
        "order, degree 2": (3, 2, [(4, 8), (8, 23), (16, 64)]),
    }
    values, table, gaps = {}, [], []
    for name, (predicted, degree, ladder) in runs.items():
        found = [_warmed(degree, n, steps) for n, steps in ladder]
        sizes = [1.0 / (steps if degree == 2 and predicted == ORDER else n) for n, steps in ladder]
        values[name] = observed_order(sizes, [error for error, _ in found])
        gaps.append(max(gap for _, gap in found))
        table.append(
            {
                "entry": f"thermoelastic_mode, {name}",
                "solver": "thermoelastic_march",
                "norm": "values, worst field",
                "predicted order": predicted,
                "measured order": values[name],
                "error": found[-1][0],
                "invariant drift": gaps[-1],
                "cells": "/".join(str(n) for n, _ in ladder),
            }
        )
    values["energy law"] = max(gaps)
    return Measurements(values=values, table=table)


THERMOELASTIC = Case(
    name="thermoelastic-march",
    title="Coupled thermoelasticity in time keeps its law of energy to rounding",
    description="A square warms at the rate 2 pi^2/(c + T0 m^2/(lambda + 2 mu)); midpoint rule.",
    run=_thermoelastic,
    predictions=(
        Prediction(name="order in time", value=2, kind="order", source="midpoint rule"),
        Prediction(name="order, degree 1", value=2, kind="order", source=_WHY),
        Prediction(name="order, degree 2", value=3, kind="order", source=_WHY),
        Prediction(
            name="energy law",
            value=1e-13,
            kind="at_most",
            source="quadratic forms at the midpoint telescope (Simo and Tarnow 1992)",
        ),
    ),
)

# --- Scattering ----------------------------------------------------------------------------------

SCATTERING = _orders(
    "scattering",
    "A plane wave scattered by a soft and by a hard disc, against the series of Mie",
    "Complex fields on half a ring; the outer circle absorbs, with the data of the closed form.",
    [
        Row("helmholtz_disc", degree, degree + 1.0, float(degree), sizes, {"surface": surface})
        for surface in ("soft", "hard")
        for degree, sizes in ((1, (8, 16, 32)), (2, (4, 8, 16)))
    ],
    _WHY + "; the phase is resolved",
    tier="full",
    within=0.15,
)


def _mie() -> Measurements:
    """Conditions on the circle, and the energy that the scattered wave carries away."""
    from pdes.exact.mie_series import mie_coefficients, mie_series

    values: dict[str, float] = {"value on a soft disc": 0.0, "slope on a hard disc": 0.0}
    angles, table, worst = np.linspace(0.1, 3.0, 29), [], 0.0
    x, y = np.cos(angles), np.sin(angles)
    for k in (0.5, 3.0, 12.0):
        soft = np.abs(mie_series(k).evaluate(x=x, y=y)["u"]).max()
        along = mie_series(k, surface="hard").gradient(x=x, y=y)["u"]
        hard = np.abs(along[0] * x + along[1] * y).max() / k
        values["value on a soft disc"] = max(values["value on a soft disc"], float(soft))
        values["slope on a hard disc"] = max(values["slope on a hard disc"], float(hard))
        for surface in ("soft", "hard"):
            b = mie_coefficients(k, surface)
            n = np.arange(len(b))
            # What a lossless disc takes out of the incident wave is what it scatters.
            weight = np.where(n == 0, 1.0, 0.5)
            scattered = float(np.sum(weight * np.abs(b) ** 2))
            forward = -float(np.real(np.sum(b * (-1j) ** (n % 4))))
            worst = max(worst, abs(scattered - forward) / scattered)
            table.append(
                {
                    "surface": surface,
                    "k a": k,
                    "terms": len(b),
                    "cross section over the diameter": 2.0 / k * scattered,
                }
            )
    return Measurements(values={**values, "balance of energy": worst}, table=table)


MIE = Case(
    name="mie-series",
    title="The series of Mie keeps its conditions and its energy",
    description=(
        "Largest value or slope (over k) on the circle at k a = 1/2, 3 and 12, and the optical "
        "theorem in the plane."
    ),
    run=_mie,
    predictions=tuple(
        Prediction(name=name, value=bound, kind="at_most", source=source)
        for name, bound, source in (
            ("value on a soft disc", 1e-12, "terms fall faster than exponentially beyond k a"),
            ("slope on a hard disc", 1e-12, "terms fall faster than exponentially beyond k a"),
            ("balance of energy", 1e-13, "optical theorem (Morse and Feshbach 1953)"),
        )
    ),
)

CASES = [
    SMOOTH,
    CORNERS,
    GRADED,
    EXACT,
    MOTZ,
    KELLOGG,
    SUITE,
    BATTERY,
    THERMOELASTIC,
    SCATTERING,
    MIE,
]
