"""March an equation through output times: fields in, fields out, in any array namespace."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from pdes.equation import Equation
from pdes.grid import Grid
from pdes.initial_arrays import refuse_mask, to_host
from pdes.solvers.adaptive_march import AdaptiveMarch
from pdes.solvers.errors import ResolutionWarning
from pdes.solvers.kernels import kernel_class
from pdes.solvers.march import March
from pdes.time.integrator import INTEGRATORS, Integrator
from pdes.tokens import closest

Array = Any
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """Fields at the output times, and how the run went.

    Parameters
    ----------
    times : ndarray, shape (n,)
        Output times reached.
    fields : mapping of str to array, each of shape (*batch, n, *stored grid)
        Arrays of the namespace that came in; not finite after a divergence.
    status : {"ok", "under_resolved", "step_too_large", "diverged"}
        Worst of the batch.
    message : str
        Explanation, empty if all is well.
    time_step : float
        Largest step taken.
    steps : int
        Number of steps taken.
    dealias : tuple of int
        Highest mode kept along each axis.
    tail : float
        Largest spectral tail seen.
    rejected : int, default 0
        Number of steps that an adaptive run tried and took back.
    """

    times: np.ndarray
    fields: Mapping[str, Array]
    status: str
    message: str
    time_step: float
    steps: int
    dealias: tuple[int, ...]
    tail: float
    rejected: int = 0


def rollout(
    equation: Equation,
    grid: Grid,
    initial: Mapping[str, Array],
    times: np.ndarray,
    *,
    initial_time: float = 0.0,
    discard: float = 0.0,
    integrator: str | Integrator = "etdrk4",
    time_step: float | None = None,
    suggested_step: float | None = None,
    rtol: float | None = None,
    parameters: Mapping[str, Any] | None = None,
    dtype: str = "float64",
    dealias: bool = True,
    strides: tuple[int, ...] | None = None,
    strict: bool | None = None,
    progress: Progress | None = None,
) -> Rollout:
    """Solve an equation on a periodic box by the Fourier pseudo-spectral method.

    This is `pdes.simulate` without files and names: arrays come back in the namespace in which
    they came in, with gradients with respect to the initial fields and to `parameters`. Where
    ETDRK4 has nothing but its linear part to solve it is exact, and takes one step from each output
    time to the next.

    Parameters
    ----------
    equation : Equation
        What is solved.
    grid : Grid
        Periodic axes.
    initial : mapping of str to array, each of shape (*batch, *grid)
        Numpy arrays or torch tensors.
    times : array, shape (n,)
        Increasing output times; steps land on them exactly.
    initial_time : float, default 0
        Time of the initial fields.
    discard : float, default 0
        Time integrated before the clock starts.
    integrator : str or Integrator, default "etdrk4"
        Name (``"etdrk4"``, ``"rk4"``, ``"ssprk3"``) or object.
    time_step : float, optional
        Largest step. Chosen from the initial fields when absent: Courant number 0.5, and fast
        enough for the other nonlinear terms.
    suggested_step : float, optional
        Taken where `time_step` is absent, but lowered to Courant number 0.5 and to half of the
        limit of explicit stiff terms.
    rtol : float, optional
        Choose steps such that the estimated error of each, relative to the norm of each field,
        stays below this number; `time_step` bounds them. Without it all steps are equal.
    parameters : mapping, optional
        Values that replace the equation's, floats or scalars of the namespace.
    dtype : {"float64", "float32"}
        Precision of the run.
    dealias : bool, default True
        See `PseudoSpectral`.
    strides : tuple of int, optional
        Keep every so many points along each axis.
    strict : bool, optional
        Without it divergence raises, and a spectrum that is not resolved warns. True raises for
        both; False returns what there is and says so in the status.
    progress : callable, optional
        Called as ``progress(done, total)`` after each output time.

    Returns
    -------
    Rollout

    Raises
    ------
    ValueError
        If a parameter is unknown or no finite number; if the initial fields are not resolved, and
        `strict` is True.
    StabilityError
        If `time_step` is beyond a stability limit; or if none was given, and the chosen one makes
        more than two million steps.
    SolverDivergence
        If values stop being finite or the Courant number passes 1.3 on the way, unless `strict`
        is False; if the spectrum stops being resolved, and it is True.

    Examples
    --------
    >>> import numpy as np
    >>> from pdes import Equation, Grid
    >>> grid = Grid.periodic(x=(0.0, 2 * np.pi, 32))
    >>> u = np.sin(grid.coordinates()["x"])
    >>> heat = Equation.from_text("u_t = 0.5*u_xx", name="heat")
    >>> run = rollout(heat, grid, {"u": u}, np.array([0.0, 2.0]))
    >>> bool(np.allclose(run.fields["u"][1], np.exp(-1.0) * u, rtol=0, atol=1e-15))
    True
    """
    method = _method(integrator)
    check_values(equation, parameters)
    keep_heap()
    for name, values in initial.items():
        refuse_mask(name, values)
    first = next(iter(initial.values()))
    kernel = kernel_class(equation)(
        equation,
        grid,
        xp=array_namespace(first),
        dtype=dtype,
        device=device_of(first),
        parameters=parameters,
        dealias=dealias,
    )
    if parameters:
        _check_growth(kernel, parameters, (float(times[-1]) if len(times) else 0.0) - initial_time)
    state = kernel.forward({n: kernel.basis.asarray(initial[n]) for n in kernel.fields})
    start = initial_time - discard
    end = float(times[-1]) if len(times) else initial_time
    asked = (kernel, method, start, time_step, suggested_step, state, strict, end)
    march = March(*asked) if rtol is None else AdaptiveMarch(*asked, rtol=rtol)
    march.to(initial_time)
    keep = (..., *(slice(None, None, stride) for stride in strides or (1,) * len(grid.shape)))
    frames: list[dict[str, Array]] = []
    for done, target in enumerate(times, start=1):
        march.to(float(target))
        frames.append({name: values[keep] for name, values in kernel.backward(march.state).items()})
        march.last_good = (
            (frames[-1], march.time) if march.status != "diverged" else march.last_good
        )
        if progress is not None:
            progress(done, len(times))
    axis = kernel.basis.field_axis
    stacked = {
        name: kernel.xp.stack([frame[name] for frame in frames], axis=axis) for name in frames[0]
    }
    if march.status == "under_resolved":
        warnings.warn(march.message, ResolutionWarning, stacklevel=3)
    return Rollout(
        times=np.asarray(times),
        fields=stacked,
        status=march.status,
        message=march.message,
        time_step=march.largest,
        steps=march.steps,
        dealias=kernel.basis.cutoffs,
        tail=march.tail,
        rejected=march.rejected,
    )


def keep_heap() -> None:
    """Have the C library keep freed blocks instead of handing their pages back.

    Each step makes and drops a dozen arrays of the size of the state. By default glibc maps blocks
    above 128 KiB anew each time, and touching fresh pages made a batched step three times slower.
    Freeing one larger block raises that limit for the process; its pages are never touched.
    """
    np.empty(30 * 2**20, dtype=np.uint8)


def check_values(equation: Equation, parameters: Mapping[str, Any] | None) -> None:
    """Refuse values that no parameter of the equation can have, by its name.

    Parameters
    ----------
    equation : Equation
        Says which parameters there are.
    parameters : mapping, optional
        Floats or scalars of an array namespace.

    Raises
    ------
    ValueError
        For an unknown name, and for what is not a finite real number.
    """
    if parameters is None:
        return
    known = sorted(equation.parameters)
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters: got {parameters!r}, wanted a mapping of {known} to numbers")
    for name, value in parameters.items():
        if name not in equation.parameters:
            raise ValueError(
                f"parameters: {equation.name!r} has no {name!r}.{closest(str(name), known)} Its "
                f"parameters are {known}"
            )
        _check_value(name, value)


def _check_value(name: str, value: Any) -> None:
    shape = tuple(getattr(value, "shape", ()))
    if shape:
        raise ValueError(
            f"parameter {name}: got shape {shape}, wanted one number; one value for each member of "
            "a batch takes one rollout each"
        )
    # A scalar that carries a gradient converts as well, without losing it: only a copy is read.
    plain = value.detach() if hasattr(value, "detach") else value
    try:
        if isinstance(plain, str | bytes | bool):
            raise TypeError
        finite = math.isfinite(float(plain))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"parameter {name}: got {value!r}, wanted a real number") from None
    if not finite:
        raise ValueError(f"parameter {name}: got {float(plain)}, wanted a finite number")


_LARGEST_GROWTH = 100.0
"""Logarithm of a growth that leaves nothing of a solution."""


def _check_growth(kernel: Any, parameters: Mapping[str, Any], duration: float) -> None:
    """Refuse parameters with which the shortest waves grow fastest: that cannot be solved."""
    rate = np.real(to_host(kernel.linear)).reshape(len(kernel.fields), -1).max(axis=0)
    kept = np.flatnonzero(np.asarray(kernel.basis.mask).reshape(-1))
    waves = np.asarray(sum(np.square(n) for n in kernel.basis.mode_numbers), dtype=float)
    waves = np.broadcast_to(waves, kernel.basis.modes).reshape(-1)
    fastest = kept[np.argmax(rate[kept])]
    shortest = waves[fastest] >= 0.8 * waves[kept].max()
    if shortest and rate[fastest] * duration > _LARGEST_GROWTH:
        given = ", ".join(f"{name}={float(to_host(v)):g}" for name, v in parameters.items())
        raise ValueError(
            f"parameters: with {given} the shortest waves grow fastest, at the rate "
            f"{rate[fastest]:.3g}: a diffusivity or viscosity has the wrong sign"
        )


def _method(integrator: str | Integrator) -> Integrator:
    if not isinstance(integrator, str):
        return integrator
    if integrator not in INTEGRATORS:
        raise ValueError(f"unknown solver {integrator!r}; known: {sorted(INTEGRATORS)}")
    return INTEGRATORS[integrator]
