"""Periodic incompressible flow: its cheap form, its balances, its instability, its gradients."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
import sympy

import pdes
from pdes.constrained import ConstrainedEquation
from pdes.equation import coordinate
from pdes.incompressible import VelocityEquation, VorticityEquation
from pdes.initial import RandomFourier
from pdes.invariant import drift
from pdes.library.kolmogorov_flow import kolmogorov_flow_equation
from pdes.solvers import SolverDivergence, StabilityError, rollout
from pdes.solvers.incompressible import VelocityKernel, VorticityKernel
from pdes.time import RK4, SSPRK3

N = 48
GRID = pdes.Grid.periodic(x=(0.0, 2.0 * np.pi, N), y=(0.0, 2.0 * np.pi, N))
WAVES = np.fft.fftfreq(N, 1.0 / N)
KX, KY = WAVES[:, None], WAVES[None, :]
K2 = KX**2 + KY**2
INVERSE = np.divide(1.0, K2, out=np.zeros_like(K2), where=K2 > 0)
KEPT = (np.abs(KX) <= (N - 1) // 3) & (np.abs(KY) <= (N - 1) // 3)


def _vorticity(seed: int = 0, modes: int = 6, grid: pdes.Grid = GRID) -> np.ndarray:
    return RandomFourier(modes=modes, fields=("w",))(grid, np.random.default_rng(seed))["w"]


def _velocity(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of a vorticity, by full complex transforms."""
    psi = INVERSE * np.fft.fft2(w)
    return np.real(np.fft.ifft2(1j * KY * psi)), np.real(np.fft.ifft2(-1j * KX * psi))


def _kernel(viscosity: float = 0.01, **options: float) -> VorticityKernel:
    return VorticityKernel(VorticityEquation.of(viscosity=viscosity, **options), GRID)


def test_cheap_form_equals_advection_of_vorticity() -> None:
    w, kernel = _vorticity(modes=15), _kernel()
    u, v = _velocity(w)
    spectrum = np.fft.fft2(w)
    w_x, w_y = (np.real(np.fft.ifft2(1j * k * spectrum)) for k in (KX, KY))
    wanted = np.real(np.fft.ifft2(np.fft.fft2(-(u * w_x + v * w_y)) * KEPT))
    rate = kernel.backward(kernel.nonlinear(kernel.forward({"w": w}), 0.0))["w"]
    assert np.abs(rate - wanted).max() < 1e-13 * np.abs(wanted).max() * 10


def test_signs_of_vorticity_and_streamfunction() -> None:
    x, y = GRID.mesh()["x"], GRID.mesh()["y"]
    kernel = _kernel()
    # psi = sin(2x + y): u = psi_y, v = -psi_x, w = v_x - u_y = 5 psi.
    speeds = kernel.nonlinear.jets(kernel.forward({"w": 5.0 * np.sin(2 * x + y)}))
    assert np.abs(speeds["u"] - np.cos(2 * x + y)).max() < 1e-14
    assert np.abs(speeds["v"] + 2.0 * np.cos(2 * x + y)).max() < 1e-14


def test_transport_conserves_energy_and_enstrophy() -> None:
    w, kernel = _vorticity(modes=15), _kernel()
    state = kernel.forward({"w": w})
    rate = kernel.backward(kernel.nonlinear(state, 0.0))["w"]
    psi = np.real(np.fft.ifft2(INVERSE * np.fft.fft2(w)))
    scale = np.sqrt(np.mean(rate**2) * np.mean(w**2))
    assert abs(np.mean(rate * w)) < 1e-13 * scale
    assert abs(np.mean(rate * psi)) < 1e-13 * scale
    assert scale > 0.1


@pytest.mark.parametrize("name", ["taylor_green", "taylor_green_velocity"])
@pytest.mark.parametrize("wavenumber", [1.0, 3.0])
def test_taylor_green_is_exact(name: str, wavenumber: float) -> None:
    from pdes.exact import taylor_green

    problem = pdes.get(name, viscosity=0.03)
    solution = taylor_green(problem.equation, wavenumber=wavenumber)
    run = pdes.simulate(problem, [0.0, 0.7, 1.4], initial=solution.initial)
    wanted = solution.evaluate(problem.grid, [0.0, 0.7, 1.4])
    for field in run.data_vars:
        assert np.abs(run[field].values - wanted[field]).max() < 1e-13 * wavenumber**2


def test_mean_flow_carries_the_vortices_along() -> None:
    """Velocity form: the flow seen from a moving frame is the same flow."""
    equation = VelocityEquation.of(viscosity=0.02)
    u, v = _velocity(_vorticity(3))
    times = np.array([np.pi / 8])
    still = rollout(equation, GRID, {"u": u, "v": v}, times, time_step=0.0025)
    moving = rollout(equation, GRID, {"u": u + 2.0, "v": v - 1.0}, times, time_step=0.0025)
    shift = (2 * N // 16, -(N // 16))  # the mean flow times the duration, in grid steps
    for name, mean in (("u", 2.0), ("v", -1.0)):
        carried = np.roll(still.fields[name][-1], shift, axis=(0, 1)) + mean
        assert np.abs(moving.fields[name][-1] - carried).max() < 1e-7


def test_velocity_and_vorticity_forms_agree() -> None:
    w = _vorticity(1)
    u, v = _velocity(w)
    times = np.array([0.5])
    drag = 0.3
    first = rollout(
        VorticityEquation.of(viscosity=0.02, drag=drag), GRID, {"w": w}, times, time_step=0.01
    )
    second = rollout(
        VelocityEquation.of(viscosity=0.02, drag=drag),
        GRID,
        {"u": u, "v": v},
        times,
        time_step=0.01,
    )
    found = second.fields["u"][-1], second.fields["v"][-1]
    for ours, theirs in zip(_velocity(first.fields["w"][-1]), found, strict=True):
        assert np.abs(ours - theirs).max() < 1e-12
    divergence = 1j * KX * np.fft.fft2(found[0]) + 1j * KY * np.fft.fft2(found[1])
    assert np.abs(divergence).max() / N**2 < 1e-14


def test_forcing_enters_both_forms_alike() -> None:
    import sympy

    x, y = sympy.symbols("x y", real=True)
    t = sympy.Symbol("t", real=True)
    force = (sympy.cos(x + 2 * y) * sympy.cos(t) + 1, sympy.sin(3 * x))
    curl = force[1].diff(x) - force[0].diff(y)
    w, times = _vorticity(2), np.array([0.4])
    u, v = _velocity(w)
    first = rollout(
        VorticityEquation.of(viscosity=0.02, forcing=curl), GRID, {"w": w}, times, time_step=0.005
    )
    second = rollout(
        VelocityEquation.of(viscosity=0.02, force=force), GRID, {"u": u, "v": v}, times,
        time_step=0.005,
    )  # fmt: skip
    # The force also accelerates the mean flow of the velocity form: u = t, distance t^2/2.
    assert abs(second.fields["u"][-1].mean() - 0.4) < 1e-12
    first_u = _velocity(first.fields["w"][-1])[0]
    assert np.abs(first_u).max() > 0.5


@pytest.mark.parametrize("drag", [0.0, 0.5])
def test_energy_and_enstrophy_balances(drag: float) -> None:
    """d/dt E = -nu <w^2> - 2 mu E and d/dt <w^2>/2 = -nu <|grad w|^2> - mu <w^2>."""
    nu, h = 0.02, 1e-3
    equation = VorticityEquation.of(viscosity=nu, drag=drag)
    run = rollout(equation, GRID, {"w": _vorticity(4)}, np.array([0.3 - h, 0.3, 0.3 + h]))
    fields = run.fields["w"]

    def energy(w: np.ndarray) -> float:
        u, v = _velocity(w)
        return float(np.mean(u**2 + v**2) / 2)

    def gradient(w: np.ndarray) -> float:
        spectrum = np.fft.fft2(w) / N**2
        return float(np.sum(K2 * np.abs(spectrum) ** 2))

    middle = fields[1]
    enstrophy = [float(np.mean(w**2) / 2) for w in fields]
    slope = (energy(fields[2]) - energy(fields[0])) / (2 * h)
    assert slope == pytest.approx(-2 * nu * enstrophy[1] - 2 * drag * energy(middle), rel=1e-5)
    slope = (enstrophy[2] - enstrophy[0]) / (2 * h)
    assert slope == pytest.approx(-nu * gradient(middle) - 2 * drag * enstrophy[1], rel=1e-5)


def _growth(viscosity: float, drag: float, n: int, k: int) -> tuple[float, np.ndarray]:
    """Largest growth rate of waves exp(i k x) on the laminar flow, and its modes in y."""
    amplitude = 1.0 / (viscosity * n**2 + drag)
    modes = np.arange(-15, 16)
    size = k**2 + modes**2
    matrix = np.diag(-viscosity * size - drag).astype(complex)
    # w_t = -U sin(n y) (w - n^2 psi)_x + ...: sin couples modes that differ by n.
    transported = 1j * k * (1.0 - n**2 / size)
    for row, m in enumerate(modes):
        for column, other in enumerate(modes):
            if m - other == n:
                matrix[row, column] += -amplitude / 2j * transported[column]
            elif m - other == -n:
                matrix[row, column] += amplitude / 2j * transported[column]
    values, vectors = np.linalg.eig(matrix)
    best = int(np.argmax(values.real))
    return float(values[best].real), vectors[:, best]


@pytest.mark.parametrize(("viscosity", "unstable"), [(0.06, True), (0.12, False)])
def test_kolmogorov_flow_grows_at_its_rate(viscosity: float, unstable: bool) -> None:
    n, k, drag = 4, 1, 0.05
    rate, vector = _growth(viscosity, drag, n, k)
    assert (rate > 0) == unstable
    equation = kolmogorov_flow_equation(viscosity, drag, n)
    from pdes.exact import kolmogorov_laminar

    laminar = kolmogorov_laminar(equation, forced_mode=n).initial(GRID)["w"]
    x, y = GRID.mesh()["x"], GRID.mesh()["y"]
    modes = np.arange(-15, 16)
    profile = np.exp(1j * modes * y[..., None]) @ vector
    wave = np.real(np.exp(1j * k * x) * profile)
    epsilon, stop = 1e-7, 4.0
    start = laminar + epsilon * wave
    run = rollout(equation, GRID, {"w": start}, np.array([1.0, stop]), time_step=0.02)
    size = [np.sqrt(np.mean((w - laminar) ** 2)) for w in run.fields["w"]]
    assert np.log(size[1] / size[0]) / (stop - 1.0) == pytest.approx(rate, abs=2e-5)


def test_kolmogorov_laminar_flow_stays() -> None:
    problem = pdes.get("kolmogorov_flow", viscosity=0.5)
    laminar = problem.exact["laminar"]
    run = pdes.simulate(problem, [0.0, 1.0], initial=laminar.initial, time_step=0.05)
    assert float(np.abs(run.w[1] - run.w[0]).max()) < 1e-13


def test_unresolved_flow_is_refused() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=GRID.shape)
    with pytest.raises(SolverDivergence, match="top third of the spectrum"):
        rollout(VorticityEquation.of(viscosity=1e-3), GRID, {"w": noise - noise.mean()}, [0.1])
    with pytest.warns(pdes.solvers.ResolutionWarning, match="enstrophy"):
        run = rollout(
            VorticityEquation.of(viscosity=1e-3),
            GRID,
            {"w": noise - noise.mean()},
            [0.001],
            strict=False,
        )
    assert run.status == "under_resolved"
    # Shares by Parseval: white noise has about 1 - (2/3)^2 of its modes in the top third.
    assert run.tail == pytest.approx(5.0 / 9.0, abs=0.1)


def test_a_flow_that_stops_being_resolved_is_refused_on_the_way() -> None:
    with pytest.raises(SolverDivergence, match="enstrophy at t=") as caught:
        rollout(
            VorticityEquation.of(viscosity=1e-5), GRID, {"w": 4 * _vorticity(0)},
            np.linspace(0.01, 1.0, 100),
        )  # fmt: skip
    assert caught.value.last_good_time is not None
    assert np.all(np.isfinite(caught.value.last_good["w"]))


def test_initial_fields_that_no_flow_has_are_refused() -> None:
    with pytest.raises(ValueError, match="mean that is not zero"):
        rollout(VorticityEquation.of(viscosity=0.1), GRID, {"w": _vorticity() + 1.0}, [0.1])
    u = _vorticity()
    with pytest.raises(ValueError, match="divergence"):
        rollout(VelocityEquation.of(viscosity=0.1), GRID, {"u": u, "v": 0 * u}, [0.1])


def test_projection_is_idempotent() -> None:
    kernel = VelocityKernel(VelocityEquation.of(viscosity=0.1), GRID)
    rng = np.random.default_rng(1)
    state = kernel.basis.forward(rng.normal(size=(2, N, N))) * kernel.basis.mask
    once = kernel.project(state)
    assert np.abs(kernel.project(once) - once).max() < 1e-13 * np.abs(once).max()
    assert np.abs(once - state).max() > 0.1 * np.abs(state).max()


def test_step_beyond_the_courant_limit_is_refused() -> None:
    w = _vorticity()
    u, v = _velocity(w)
    rate = (np.abs(u).max() + np.abs(v).max()) * N / (2 * np.pi)
    with pytest.raises(StabilityError, match="Courant"):
        rollout(VorticityEquation.of(viscosity=0.1), GRID, {"w": w}, [1.0], time_step=1.35 / rate)
    assert rollout(VorticityEquation.of(viscosity=0.1), GRID, {"w": w}, [1.0]).time_step == (
        pytest.approx(0.5 / rate, rel=0.05)
    )


@pytest.mark.parametrize(("method", "order"), [("etdrk4", 4), (RK4, 4), (SSPRK3, 3)])
def test_order_in_time(method: object, order: int) -> None:
    equation, w = VorticityEquation.of(viscosity=0.02, drag=0.1), 2.0 * _vorticity(5, modes=3)

    def end(step: float, integrator: object = method) -> np.ndarray:
        found = rollout(equation, GRID, {"w": w}, [0.5], integrator=integrator, time_step=step)
        return found.fields["w"][-1]

    reference = end(0.5 / 640, "etdrk4")
    errors = [np.abs(end(0.5 / count) - reference).max() for count in (40, 80, 160)]
    slope = np.polyfit(np.log([1 / 40, 1 / 80, 1 / 160]), np.log(errors), 1)[0]
    assert abs(slope - order) < 0.15, (slope, errors)


def test_batch_equals_single_runs() -> None:
    equation = VorticityEquation.of(viscosity=0.05)
    batch = np.stack([_vorticity(seed) for seed in range(3)])
    whole = rollout(equation, GRID, {"w": batch}, [0.1, 0.2], time_step=0.01).fields["w"]
    for sample, w in zip(whole, batch, strict=True):
        alone = rollout(equation, GRID, {"w": w}, [0.1, 0.2], time_step=0.01).fields["w"]
        assert np.abs(sample - alone).max() < 1e-13


@pytest.mark.parametrize("form", ["vorticity", "velocity"])
def test_torch_agrees_and_differentiates_with_respect_to_viscosity(form: str) -> None:
    torch = pytest.importorskip("torch")
    w = _vorticity(6)
    if form == "vorticity":
        equation, fields = VorticityEquation.of(viscosity=0.05), {"w": w}
    else:
        equation = VelocityEquation.of(viscosity=0.05)
        fields = dict(zip(("u", "v"), _velocity(w), strict=True))
    tensors = {name: torch.from_numpy(values) for name, values in fields.items()}

    def loss(viscosity: object, arrays: dict) -> object:
        run = rollout(
            equation, GRID, arrays, [0.2], time_step=0.02, parameters={"viscosity": viscosity}
        )
        return sum((values**2).mean() for values in run.fields.values())

    nu = torch.tensor(0.05, dtype=torch.float64, requires_grad=True)
    value = loss(nu, tensors)
    assert float(value.detach()) == pytest.approx(float(loss(0.05, fields)), rel=1e-12)
    (gradient,) = torch.autograd.grad(value, nu)
    h = 1e-5
    slope = (loss(0.05 + h, fields) - loss(0.05 - h, fields)) / (2 * h)
    assert float(gradient) == pytest.approx(float(slope), rel=1e-7)


def test_single_precision_stays_single() -> None:
    run = pdes.simulate(pdes.get("taylor_green"), [0.0, 1.0], dtype="float32")
    assert run.w.dtype == np.float32
    exact = pdes.simulate(pdes.get("taylor_green"), [0.0, 1.0], solver="exact")
    assert float(np.abs(run.w - exact.w).max()) < 3e-6


@pytest.mark.parametrize("name", ["navier_stokes", "navier_stokes_velocity", "kolmogorov_flow"])
def test_library_problem_runs(name: str) -> None:
    problem = pdes.get(name)
    run = pdes.simulate(dataclasses.replace(problem, times=problem.times[:2]))
    assert run.attrs["status"] == "ok"
    assert "0 = " in run.attrs["equation"]


def test_equation_survives_text_and_pickle() -> None:
    equation = pdes.get("kolmogorov_flow").equation
    assert isinstance(equation, ConstrainedEquation)
    again = pickle.loads(pickle.dumps(equation))
    assert isinstance(again, VorticityEquation)
    assert str(again) == str(equation)
    assert again.parameters == equation.parameters
    assert equation.with_parameters(viscosity=0.25).parameters["viscosity"] == 0.25


def test_residual_checks_the_constraint_too() -> None:
    solution = pdes.get("taylor_green").exact["taylor_green"]
    assert solution.residual() < 1e-25
    wrong = dataclasses.replace(
        solution, fields={**solution.fields, "psi": 0 * solution.fields["w"]}
    )
    assert wrong.residual() > 0.1
    with pytest.raises(ValueError, match="fields are"):
        dataclasses.replace(solution, fields={"w": solution.fields["w"]})


@pytest.mark.parametrize(
    ("name", "stop", "limit"),
    [
        ("taylor_green", 1.0, 1e-8),
        ("taylor_green_velocity", 1.0, 1e-8),
        ("navier_stokes", 0.5, 2e-5),
        ("navier_stokes_velocity", 0.15, 1e-6),
        ("kolmogorov_flow", 0.15, 1e-6),
    ],
)
def test_declared_invariants_hold(name: str, stop: float, limit: float) -> None:
    problem = pdes.get(name, stored_points=None, times=np.linspace(0.0, stop, 31))
    run = pdes.simulate(problem)
    assert len(problem.invariants) >= 2
    for invariant in problem.invariants:
        assert drift(invariant, problem, run) < limit, invariant.name
    balance = problem.invariants[-1]
    wrong = dataclasses.replace(balance, rate="0")
    assert drift(wrong, problem, run) > 10 * limit


def _two_waves(equation: ConstrainedEquation) -> dict[str, sympy.Expr]:
    """Of different length, so that the vorticity is no function of the stream function."""
    x, y, t = (coordinate(name) for name in "xyt")
    stream = sympy.cos(x + y - t) / 2 + 2 * sympy.sin(2 * x - y + t / 2) / 5
    if "w" in equation.fields:
        return {"w": -stream.diff(x, 2) - stream.diff(y, 2), "psi": stream}
    return {"u": stream.diff(y), "v": -stream.diff(x), "p": sympy.cos(x + 2 * y) / 3}


def _advection(fields: dict[str, sympy.Expr], name: str) -> sympy.Expr:
    x, y = (coordinate(axis) for axis in "xy")
    flow = fields.get("psi")
    u = fields["u"] if flow is None else flow.diff(y)
    v = fields["v"] if flow is None else -flow.diff(x)
    return u * fields[name].diff(x) + v * fields[name].diff(y)


@pytest.mark.parametrize("name", ["navier_stokes", "navier_stokes_velocity", "kolmogorov_flow"])
def test_flow_with_advection_converges_in_time_and_needs_its_sign(name: str) -> None:
    entry = pdes.get(name)
    fields = _two_waves(entry.equation)
    right = pdes.exact.manufactured(entry.equation, fields)
    rhs = right.equation.rhs
    # The force of a flow whose advection has the other sign: what a wrong sign would look like.
    turned = {f: rhs[f] - 2 * _advection(fields, f) for f in rhs}
    wrong = dataclasses.replace(right.equation, rhs=turned)
    grid = pdes.Grid.periodic(x=(0.0, 2 * np.pi, 20), y=(0.0, 2 * np.pi, 20))
    start, wanted = right.initial(grid), right.evaluate(grid, [0.4])

    def error(equation: pdes.Equation, step: float) -> float:
        run = rollout(equation, grid, start, np.array([0.4]), time_step=step, strict=False)
        return max(float(np.abs(run.fields[f] - wanted[f]).max()) for f in start)

    fine, coarse = error(right.equation, 0.04), error(right.equation, 0.08)
    assert fine < 5e-8
    assert np.log2(coarse / fine) == pytest.approx(4.0, abs=0.1)
    assert error(wrong, 0.04) > 0.1


def test_manufactured_flow_has_to_satisfy_its_constraint() -> None:
    fields = _two_waves(pdes.get("navier_stokes").equation)
    with pytest.raises(ValueError, match="constraint for psi is not satisfied"):
        pdes.exact.manufactured(pdes.get("navier_stokes").equation, {**fields, "w": -fields["w"]})
