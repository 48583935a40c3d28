"""Levenberg-Marquardt over the nonlinear parameters of a separable model, many starts at a time."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from array_api_compat import device

from sciml.powerlaw.arrays import namespace
from sciml.powerlaw.separable_fit import (
    RANK_CUTOFF,
    SeparableFit,
    SeparableModel,
    SparseDerivatives,
)

FIRST_DAMPING, ON_SUCCESS, ON_FAILURE = 1e-3, 0.2, 4.0
LEAST_DAMPING = 1e-20

ROUNDING, FEW_TRIALS = 1e-14, 5
"""Below this relative residual, trials that fail by rounding are given up after so many."""

FLAT, STATIONARY = 1e-12, 1e-26
"""Shares of the squared residual that a full step promises to remove. Below the first the cost
cannot judge a step any more, and its gradient does; below the second nothing is left to gain."""

MESSAGES = (
    "still moving",
    "the step fell below the tolerance",
    "no trial step lowers the residual any more",
    "the iterations ran out",
    "the model is not finite at the start",
    "another member of the batch reached the target",
    "the residual reached the target",
    "the residual is stationary to rounding",
)
_MOVING, _STEP, _TRIALS, _EXHAUSTED, _NOT_FINITE, _OVERTAKEN, _TARGET, _FLAT = range(len(MESSAGES))


class Rest(NamedTuple):
    """When a member rests."""

    rtol: float
    max_trials: int
    max_iterations: int
    stationary: float


class State(NamedTuple):
    """What is known of members at their parameters."""

    cost: Any
    coefficients: Any
    residual: Any
    columns: Any
    derivatives: Any
    basis: Any
    pseudo: Any


class Iteration:
    """Levenberg-Marquardt on a batch whose members rest one after the other."""

    def __init__(
        self,
        model: SeparableModel,
        y: Any,
        start: Any,
        lower: Any,
        upper: Any,
        weights: Any,
        kaufman: bool,
    ) -> None:
        xp = self.xp = namespace(y, start)
        self.model, self.kaufman = model, kaufman
        if len(start.shape) not in (1, 2):
            raise ValueError(f"start has shape {tuple(start.shape)}: wanted (p,) or (batch, p)")
        parameters = start if len(start.shape) == 2 else start[None]
        shape = parameters.shape
        self.lower = self._bound(lower, -math.inf, parameters)
        self.upper = self._bound(upper, math.inf, parameters)
        if bool(xp.any(self.lower > self.upper)):
            raise ValueError("lower exceeds upper in some parameter: wanted lower <= upper")
        self.parameters = self._clip(parameters + 0.0, slice(None))
        if y.shape[0] != shape[0] and len(y.shape) == 2:
            raise ValueError(f"y has {y.shape[0]} members and start {shape[0]}: wanted as many")
        self.y = y if len(y.shape) == 2 else y[None]
        self.weights = None if weights is None else xp.asarray(weights, device=device(y))
        if self.weights is not None and len(self.weights.shape) == 1:
            self.weights = self.weights[None]
        target = self.y if self.weights is None else self.weights * self.y
        self.size = xp.linalg.vector_norm(target, axis=-1)
        self.batch = shape[0]

    def _bound(self, bound: Any, default: float, like: Any) -> Any:
        xp = self.xp
        if bound is None:
            return xp.full_like(like, default)
        bound = xp.asarray(bound, dtype=like.dtype, device=device(like))
        return xp.broadcast_to(bound, like.shape)

    def _clip(self, parameters: Any, members: Any) -> Any:
        xp = self.xp
        inside = xp.where(parameters < self.lower[members], self.lower[members], parameters)
        return xp.where(inside > self.upper[members], self.upper[members], inside)

    def _of(self, shared: Any, members: Any) -> Any:
        """Rows of these members of an array that may be shared by all."""
        return shared if shared.shape[0] == 1 else shared[members]

    def evaluate(self, parameters: Any, members: Any) -> State:
        """Eliminate the coefficients at parameters of some members."""
        xp = self.xp
        model = self.model
        take = getattr(model, "take", None)
        if take is not None and len(members) < self.batch:
            model = take(members)
        columns, derivatives = model(parameters)
        y = xp.broadcast_to(self._of(self.y, members), columns.shape[:-1])
        if self.weights is not None:
            weight = self._of(self.weights, members)
            columns, y = columns * weight[..., None], y * weight
        finite = xp.all(xp.all(xp.isfinite(columns), axis=-1), axis=-1)
        columns = xp.where(finite[:, None, None], columns, xp.zeros_like(columns))
        coefficients, basis, pseudo = self._solve(columns, y)
        residual = y - (columns @ coefficients[..., None])[..., 0]
        cost = xp.sum(residual**2, axis=-1)
        cost = xp.where(finite, cost, xp.full_like(cost, math.inf))
        return State(cost, coefficients, residual, columns, derivatives, basis, pseudo)

    def _solve(self, columns: Any, y: Any) -> tuple[Any, Any, Any]:
        """Least squares by QR and SVD of the scaled columns; also range and pseudoinverse."""
        xp = self.xp
        scale = xp.linalg.vector_norm(columns, axis=-2)
        scale = xp.where(scale > 0, scale, xp.ones_like(scale))
        q, r = xp.linalg.qr(columns / scale[..., None, :])
        u, s, vt = xp.linalg.svd(r, full_matrices=False)
        kept = s > RANK_CUTOFF * s[..., :1]
        inverse = xp.where(kept, 1.0 / xp.where(kept, s, xp.ones_like(s)), xp.zeros_like(s))
        basis = (q @ u) * xp.astype(kept, q.dtype)[..., None, :]
        right = xp.matrix_transpose(vt) * inverse[..., None, :]
        inner = (xp.matrix_transpose(basis) @ y[..., None])[..., 0]
        coefficients = (right @ inner[..., None])[..., 0] / scale
        return coefficients, basis, right / scale[..., :, None]

    def _moved(self, state: State, members: Any) -> Any:
        """``weights*Phi' c``, shape (members, rows, p)."""
        xp = self.xp
        count = self.parameters.shape[-1]
        if count == 0:
            return state.columns[..., :0]
        if isinstance(state.derivatives, SparseDerivatives):
            moved = [None] * count
            for i, (j, k) in enumerate(
                zip(state.derivatives.parameter, state.derivatives.column, strict=True)
            ):
                part = state.derivatives.values[..., i, :] * state.coefficients[..., k, None]
                moved[j] = part if moved[j] is None else moved[j] + part
            zero = xp.zeros_like(state.residual)
            total = xp.stack([zero if part is None else part for part in moved], axis=-1)
        else:
            total = (state.derivatives @ state.coefficients[..., None, :, None])[..., 0]
            total = xp.matrix_transpose(total)
        if self.weights is not None:
            total = total * self._of(self.weights, members)[..., None]
        return xp.where(xp.isfinite(total), total, xp.zeros_like(total))

    def _second_term(self, state: State, members: Any) -> Any:
        """``Phi^(+T) Phi'^T r``, the term that Kaufman drops."""
        xp = self.xp
        n, count = state.coefficients.shape[-1], self.parameters.shape[-1]
        residual = state.residual
        if self.weights is not None:
            residual = residual * self._of(self.weights, members)
        if isinstance(state.derivatives, SparseDerivatives):
            inner = xp.zeros((*residual.shape[:-1], n, count), dtype=residual.dtype)
            inner = xp.asarray(inner, device=device(residual))
            products = (state.derivatives.values @ residual[..., None])[..., 0]
            for i, (j, k) in enumerate(
                zip(state.derivatives.parameter, state.derivatives.column, strict=True)
            ):
                inner[..., k, j] = products[..., i]
        else:
            inner = xp.matrix_transpose(
                (residual[..., None, None, :] @ state.derivatives)[..., 0, :]
            )
        return state.basis @ (xp.matrix_transpose(state.pseudo) @ inner)

    def jacobian(self, state: State, members: Any) -> tuple[Any, Any]:
        """Jacobian of the reduced residual, and ``weights*Phi' c``."""
        moved = self._moved(state, members)
        if moved.shape[-1] == 0:
            return -moved, moved
        inside = state.basis @ (self.xp.matrix_transpose(state.basis) @ moved)
        jacobian = inside - moved
        if not self.kaufman:
            jacobian = jacobian - self._second_term(state, members)
        return jacobian, moved

    def iterate(self, rest: Rest, target: float | None) -> None:
        """Step until every member rests."""
        xp, where = self.xp, device(self.y)
        everyone = xp.arange(self.batch, device=where)
        state = self.evaluate(self.parameters, everyone)
        rows = state.columns.shape[-2]
        p, n = self.parameters.shape[-1], state.columns.shape[-1]
        if rows < n + p:
            raise ValueError(
                f"{rows} rows for {n} columns and {p} nonlinear parameters: wanted at least {n + p}"
                " rows; give more samples or fewer terms"
            )
        self.cost = state.cost
        self.code = xp.zeros(self.batch, dtype=xp.int64, device=where)
        self.steps = xp.zeros_like(self.code)
        self.failures = xp.zeros_like(self.code)
        self.damping = xp.full_like(self.cost, FIRST_DAMPING)
        self.code = xp.where(xp.isfinite(self.cost), self.code, self.code + _NOT_FINITE)
        if p == 0:
            self.code = xp.where(self.code == _MOVING, self.code + _STEP, self.code)
            return
        self.triangle = xp.zeros((self.batch, p, p), dtype=self.cost.dtype, device=where)
        self.side = xp.zeros_like(self.parameters)
        self.scale = xp.ones_like(self.parameters)
        self.gain = xp.zeros_like(self.cost)
        self._adopt(self._linearize(state, self.parameters, everyone), self.cost + 0.0, everyone)
        self._race(target)
        if rest.max_iterations < 1:
            self.code = xp.where(self.code == _MOVING, self.code + _EXHAUSTED, self.code)
        while True:
            members = xp.nonzero(self.code == _MOVING)[0]
            if not len(members):
                return
            self._trial(members, rest)
            self._race(target)

    def _race(self, target: float | None) -> None:
        if target is None:
            return
        there = self.cost <= (target * self.size) ** 2
        if bool(self.xp.any(there)):
            moving = self.code == _MOVING
            goal = self.xp.where(there, self.code + _TARGET, self.code + _OVERTAKEN)
            self.code = self.xp.where(moving, goal, self.code)

    def _linearize(self, state: State, here: Any, members: Any) -> tuple[Any, Any, Any]:
        """Triangular factor, right-hand side and scale of the step at these parameters.

        A parameter that pushes against its bound is held: its column of the Jacobian is zero.
        """
        xp = self.xp
        jacobian, _ = self.jacobian(state, members)
        gradient = (xp.matrix_transpose(jacobian) @ state.residual[..., None])[..., 0]
        held = ((here <= self.lower[members]) & (gradient > 0)) | (
            (here >= self.upper[members]) & (gradient < 0)
        )
        jacobian = xp.where(held[..., None, :], xp.zeros_like(jacobian), jacobian)
        scale = xp.linalg.vector_norm(jacobian, axis=-2)
        scale = xp.where(scale > 0, scale, xp.ones_like(scale))
        q, r = xp.linalg.qr(jacobian / scale[..., None, :])
        return r, (xp.matrix_transpose(q) @ state.residual[..., None])[..., 0], scale

    def _adopt(self, linear: tuple[Any, Any, Any], cost: Any, members: Any) -> None:
        """Take over what the next step needs; ``gain`` is what a full step promises to remove."""
        self.triangle[members], self.side[members], self.scale[members] = linear
        self.cost[members] = cost
        self.gain[members] = self.xp.sum(linear[1] ** 2, axis=-1)

    def _step(self, members: Any) -> Any:
        """Minimizer of ``|R d + Q^T r|^2 + damping |d|^2`` in scaled parameters, by QR."""
        xp = self.xp
        p = self.parameters.shape[-1]
        eye = xp.eye(p, dtype=self.cost.dtype, device=device(self.cost))
        root = xp.sqrt(self.damping[members])
        tall = xp.concat([self.triangle[members], root[:, None, None] * eye], axis=-2)
        q, r = xp.linalg.qr(tall)
        side = (xp.matrix_transpose(q[..., :p, :]) @ self.side[members][..., None])[..., 0]
        return -xp.linalg.solve(r, side[..., None])[..., 0] / self.scale[members]

    def _trial(self, members: Any, rest: Rest) -> None:
        xp = self.xp
        here = self.parameters[members]
        there = self._clip(here + self._step(members), members)
        size = xp.linalg.vector_norm(there - here, axis=-1)
        small = size < rest.rtol * (1.0 + xp.linalg.vector_norm(here, axis=-1))
        state = self.evaluate(there, members)
        cost, gain = self.cost[members], self.gain[members]
        flat = gain < FLAT * cost
        better = state.cost < cost
        # where the cost is blind, the step is judged by what is left of the gradient
        tried = xp.nonzero(better | (flat & (state.cost <= cost * (1.0 + FLAT))))[0]
        if len(tried):
            linear = self._linearize(_pick(state, tried), there[tried], members[tried])
            less = xp.sum(linear[1] ** 2, axis=-1) < 0.9 * gain[tried]
            won = xp.nonzero(xp.where(flat[tried], less, better[tried]))[0]
            winners = members[tried[won]]
            better = xp.zeros_like(better)
            better[tried[won]] = True
            self.parameters[winners] = there[tried[won]]
            self._adopt(tuple(part[won] for part in linear), state.cost[tried[won]], winners)
            self.steps[winners] += 1
            self.failures[winners] = 0
        factor = xp.where(better, xp.full_like(size, ON_SUCCESS), xp.full_like(size, ON_FAILURE))
        damping = self.damping[members] * factor
        self.damping[members] = xp.where(
            damping < LEAST_DAMPING, xp.full_like(damping, LEAST_DAMPING), damping
        )
        lost = members[xp.nonzero(~better)[0]]
        self.failures[lost] += 1
        self._retire(members, small, flat & ~better, rest)

    def _retire(self, members: Any, small: Any, stuck: Any, rest: Rest) -> None:
        """Say which members came to rest, and why."""
        xp = self.xp
        failures, cost = self.failures[members], self.cost[members]
        size = self.size if self.size.shape[0] == 1 else self.size[members]
        at_floor = cost <= (ROUNDING * size) ** 2
        few = min(FEW_TRIALS, rest.max_trials)
        over = (failures >= rest.max_trials) | (at_floor & (failures >= few))
        code = xp.zeros_like(self.code[members])
        code = xp.where(self.steps[members] >= rest.max_iterations, code + _EXHAUSTED, code)
        code = xp.where(over, xp.full_like(code, _TRIALS), code)
        idle = stuck | (self.gain[members] < rest.stationary * cost)
        code = xp.where(idle, xp.full_like(code, _FLAT), code)
        self.code[members] = xp.where(small, xp.full_like(code, _STEP), code)

    def result(self, *, batched: bool) -> SeparableFit:
        """Collect the fit at the final parameters."""
        xp = self.xp
        members = xp.arange(self.batch, device=device(self.y))
        state = self.evaluate(self.parameters, members)
        jacobian, moved = self.jacobian(state, members)
        size = xp.where(self.size > 0, self.size, xp.ones_like(self.size))
        at_rest = xp.zeros_like(self.cost) > 0
        for code in (_STEP, _TRIALS, _TARGET, _FLAT):
            at_rest = at_rest | (self.code == code)
        fit = SeparableFit(
            parameters=self.parameters,
            coefficients=state.coefficients,
            residual=state.residual,
            relative_residual=xp.sqrt(state.cost) / size,
            jacobian=jacobian,
            full_jacobian=xp.concat([state.columns, moved], axis=-1),
            converged=at_rest,
            iterations=self.steps if hasattr(self, "steps") else self.code * 0,
            at_bound=(self.parameters <= self.lower) | (self.parameters >= self.upper),
            message=tuple(MESSAGES[int(code)] for code in self.code),
        )
        return fit if batched else fit[0]


def _pick(state: State, members: Any) -> State:
    """State of some members."""
    derivatives = state.derivatives
    if isinstance(derivatives, SparseDerivatives):
        derivatives = derivatives._replace(values=derivatives.values[members])
    else:
        derivatives = derivatives[members]
    return State(
        cost=state.cost[members],
        coefficients=state.coefficients[members],
        residual=state.residual[members],
        columns=state.columns[members],
        derivatives=derivatives,
        basis=state.basis[members],
        pseudo=state.pseudo[members],
    )
