"""Fast Poisson solver and exact projections: kinds of axes, namespaces, methods, dimensions."""

from __future__ import annotations

import functools
import itertools

import array_api_compat.numpy as xnp
import numpy as np
import pytest

from pdes.solvers.box_transforms import axis_eigenvalues, axis_matrices
from pdes.solvers.fast_poisson import METHODS, FastPoisson, fast_poisson
from pdes.solvers.staggered import face_divergence, project_faces

KINDS = (
    "periodic",
    "neumann",
    "dirichlet",
    ("neumann", "dirichlet"),
    ("dirichlet", "neumann"),
)
PLACES = ("centers", "nodes")


def second_difference(kind, n: int, h: float, at: str = "centers") -> np.ndarray:
    """Second difference with the ghosts of each kind of axis, written out."""
    matrix = -2.0 * np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    if kind == "periodic":
        matrix[0, -1] += 1.0
        matrix[-1, 0] += 1.0
        return matrix / h**2
    low, high = (kind, kind) if isinstance(kind, str) else kind
    for end, row, beside in ((low, 0, 1), (high, -1, -2)):
        if at == "centers":
            matrix[row, row] += 1.0 if end == "neumann" else -1.0
        elif end == "neumann":
            matrix[row, beside] += 1.0
    return matrix / h**2


def laplacian(values: np.ndarray, kinds, spacings, at: str) -> np.ndarray:
    total = np.zeros_like(values)
    for place, (kind, h) in enumerate(zip(kinds, spacings, strict=True)):
        axis = place - len(kinds)
        matrix = second_difference(kind, values.shape[axis], h, at)
        total += np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
    return total


def random_field(shape, kinds, at: str, seed: int = 0) -> np.ndarray:
    """Without the constant that is free where there is neither a value nor a shift."""
    values = np.random.default_rng(seed).normal(size=shape)
    if any("dirichlet" in (k if isinstance(k, tuple) else (k,)) for k in kinds):
        return values
    weights = []
    for kind, n in zip(kinds, shape[-len(kinds) :], strict=True):
        w = np.ones(n)
        if at == "nodes" and kind == "neumann":
            w[[0, -1]] = 0.5
        weights.append(w / w.sum())
    weight = functools.reduce(np.multiply.outer, weights)
    axes = tuple(range(-len(kinds), 0))
    return values - np.sum(weight * values, axis=axes, keepdims=True)


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_matrices_diagonalize_the_second_difference(kind, at: str) -> None:
    to, back = axis_matrices(kind, 7, at)
    found = back @ np.diag(-axis_eigenvalues(kind, 7, at)) @ to
    assert np.abs(found - second_difference(kind, 7, 1.0, at)).max() < 1e-13


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("method", METHODS)
def test_solver_inverts_the_laplacian_in_the_plane(method: str, at: str) -> None:
    for kinds in itertools.product(KINDS, repeat=2):
        p = random_field((2, 6, 9), kinds, at)
        d = laplacian(p, kinds, (0.3, 0.2), at)
        found = fast_poisson(d, (0.3, 0.2), kinds, at=at, method=method)
        assert np.abs(found - p).max() < 1e-12, kinds


@pytest.mark.parametrize("dimension", [1, 3])
@pytest.mark.parametrize("method", ["transforms", "matrices", "fourier"])
def test_solver_inverts_the_laplacian_on_lines_and_in_blocks(method: str, dimension: int) -> None:
    shape, spacings = (5, 6, 8)[:dimension], (0.3, 0.2, 0.5)[:dimension]
    for kinds, at in itertools.product(itertools.product(KINDS, repeat=dimension), PLACES):
        p = random_field((2, *shape), kinds, at)
        d = laplacian(p, kinds, spacings, at) - 0.7 * p
        found = fast_poisson(d, spacings, kinds, at=at, shift=0.7, method=method)
        assert np.abs(found - p).max() < 1e-12, (kinds, at)


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_order_two_against_closed_forms(kind, at: str) -> None:
    """``lap p = f`` for the first eigenfunction of the continuous operator along each axis."""
    ends = (kind, kind) if isinstance(kind, str) else kind
    k = np.pi * {("neumann", "neumann"): 1.0, ("dirichlet", "dirichlet"): 1.0}.get(ends, 0.5)
    k = 2 * np.pi if kind == "periodic" else k
    wave = np.sin if ends[0] == "dirichlet" else np.cos
    counts, errors = (16, 32, 64), []
    for n in counts:
        h = 1.0 / n
        if at == "centers":
            x = (np.arange(n) + 0.5) * h
        else:
            first = int(ends[0] == "dirichlet")
            last = n if ends[1] != "neumann" else n + 1
            x = np.arange(first, last) * h
        p = wave(k * x)[:, None] * wave(k * x)
        found = fast_poisson(-2 * k**2 * p, (h, h), (kind, kind), at=at)
        errors.append(np.abs(found - p).max())
    slope = np.polyfit(np.log([1 / n for n in counts]), np.log(errors), 1)[0]
    assert abs(slope - 2.0) < 0.15, errors


def test_free_constant_has_mean_zero_and_the_mean_of_the_source_is_ignored() -> None:
    d = np.random.default_rng(0).normal(size=(8, 8))
    solver = FastPoisson((8, 8), (0.1, 0.1), ("neumann", "periodic"))
    assert solver.singular
    assert abs(solver(d).mean()) < 1e-15
    assert np.abs(solver(d + 3.0) - solver(d)).max() < 1e-13
    assert not FastPoisson((8, 8), (0.1, 0.1), ("neumann", "dirichlet")).singular


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("method", ["matrices", "fourier"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_torch_agrees_with_numpy(kind, method: str, at: str) -> None:
    torch = pytest.importorskip("torch")
    d = np.random.default_rng(1).normal(size=(3, 8, 10))
    mine = fast_poisson(d, (0.1, 0.2), (kind, "dirichlet"), at=at)
    theirs = fast_poisson(
        torch.from_numpy(d), (0.1, 0.2), (kind, "dirichlet"), at=at, method=method
    )
    assert np.abs(theirs.numpy() - mine).max() < 1e-13
    swapped = torch.from_numpy(np.swapaxes(d, 1, 2).copy()).transpose(1, 2)
    assert not swapped.is_contiguous()
    again = fast_poisson(swapped, (0.1, 0.2), (kind, "dirichlet"), at=at, method=method)
    assert torch.equal(again, theirs) or float((again - theirs).abs().max()) < 1e-14


def test_torch_takes_matrices_up_to_a_size_and_fourier_transforms_beyond() -> None:
    pytest.importorskip("torch")
    import array_api_compat.torch as xt

    kinds = ("neumann", "dirichlet")
    assert FastPoisson((512, 4), (1.0, 1.0), kinds, xp=xt).method == "matrices"
    assert FastPoisson((513, 4), (1.0, 1.0), kinds, xp=xt).method == "fourier"
    assert FastPoisson((513, 4), (1.0, 1.0), kinds).method == "transforms"


def test_torch_keeps_precision_and_gradient() -> None:
    torch = pytest.importorskip("torch")
    d = torch.randn(1, 8, 9, generator=torch.Generator().manual_seed(0))
    found = fast_poisson(d, (0.1, 0.1), ("neumann", "neumann"))
    assert found.dtype == torch.float32
    double = fast_poisson(d.double(), (0.1, 0.1), ("neumann", "neumann"))
    assert float((found - double).abs().max()) < 1e-6 * float(double.abs().max())
    for method in ("matrices", "fourier"):
        source = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(
            lambda s, m=method: fast_poisson(s, (0.3, 0.2), ("neumann", "periodic"), method=m),
            (source,),
        )


# --- Projection ----------------------------------------------------------------------------------


def _faces(cells, kinds, seed: int = 0, batch: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    found = []
    for place, kind in enumerate(kinds):
        shape = [n + (i == place) for i, n in enumerate(cells)]
        values = rng.normal(size=(*batch, *shape))
        axis = place - len(cells)
        ends = (kind, kind) if isinstance(kind, str) else kind
        layers = np.moveaxis(values, axis, 0)
        if kind == "periodic":
            layers[-1] = layers[0]
        for end, position in zip(ends, (0, -1), strict=True):
            if end == "neumann":
                layers[position] = 0.0
        found.append(values)
    return found


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_projection_is_exact_idempotent_and_orthogonal(dimension: int) -> None:
    cells, spacings = (6, 5, 4)[:dimension], (0.3, 0.2, 0.5)[:dimension]
    for kinds in itertools.product(KINDS, repeat=dimension):
        faces = _faces(cells, kinds, batch=(2,))
        free = project_faces(faces, spacings, kinds)
        assert np.abs(face_divergence(free, spacings)).max() < 1e-12, kinds
        again = project_faces(free, spacings, kinds)
        assert max(np.abs(a - b).max() for a, b in zip(again, free, strict=True)) < 1e-13, kinds
        for place, kind in enumerate(kinds):
            layers = [np.moveaxis(f[place], place - dimension, 0) for f in (faces, free)]
            ends = (kind, kind) if isinstance(kind, str) else kind
            for end, position in zip(ends, (0, -1), strict=True):
                if end == "neumann":
                    assert np.array_equal(layers[0][position], layers[1][position])
            if kind == "periodic":
                assert np.abs(layers[1][0] - layers[1][-1]).max() < 1e-14
        # What is taken away does no work on what is left; a face on an open side counts half.
        work, size = 0.0, 0.0
        for place in range(dimension):
            weights = np.ones(cells[place] + 1)
            weights[[0, -1]] = 0.5
            shape = [-1 if i == place else 1 for i in range(dimension)]
            taken = faces[place] - free[place]
            work += float(np.sum(weights.reshape(shape) * taken * free[place]))
            size += float(np.sum(taken**2))
        assert abs(work) < 1e-11 * size + 1e-12, kinds


def test_projection_in_torch_on_blocks() -> None:
    torch = pytest.importorskip("torch")
    kinds = ("periodic", "neumann", ("neumann", "dirichlet"))
    faces = _faces((6, 5, 4), kinds, batch=(3,))
    mine = project_faces(faces, (0.3, 0.2, 0.5), kinds)
    theirs = project_faces([torch.from_numpy(f) for f in faces], (0.3, 0.2, 0.5), kinds)
    assert max(np.abs(b.numpy() - a).max() for a, b in zip(mine, theirs, strict=True)) < 1e-13


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kinds": ("neumann", "nuemann")}, "Did you mean 'neumann'"),
        ({"kinds": (("periodic", "neumann"), "neumann")}, "both or none periodic"),
        ({"kinds": ("neumann",)}, "one to three axes"),
        ({"spacings": (0.1, -0.1)}, "spacings"),
        ({"at": "faces"}, "'centers' or 'nodes'"),
        ({"shift": -1.0}, "shift"),
        ({"method": "matrix"}, "Did you mean 'matrices'"),
        ({"source": np.zeros((8, 8), dtype=int)}, "real floating point"),
        ({"source": np.zeros(8)}, "source of shape"),
        ({"source": np.zeros((8, 1))}, "2 or more"),
    ],
)
def test_bad_input_is_refused(change: dict, message: str) -> None:
    arguments = {
        "source": np.zeros((8, 8)),
        "spacings": (0.1, 0.1),
        "kinds": ("neumann", "neumann"),
    } | change
    with pytest.raises(ValueError, match=message):
        fast_poisson(arguments.pop("source"), **arguments)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="wanted one entry more"):
        project_faces([np.zeros((9, 8)), np.zeros((8, 8))], (0.1, 0.1), ("neumann", "neumann"))
    with pytest.raises(ValueError, match="one to three axes"):
        project_faces([np.zeros((9, 8))], (0.1, 0.1), ("neumann", "neumann"))
    solver = FastPoisson((4, 4), (0.1, 0.1), ("neumann", "neumann"), xp=xnp)
    with pytest.raises(ValueError, match="wanted \\(\\*batch, 4, 4\\)"):
        solver(np.zeros((4, 5)))
    pytest.importorskip("torch")
    import array_api_compat.torch as xt

    with pytest.raises(ValueError, match="for numpy"):
        FastPoisson((4, 4), (0.1, 0.1), ("neumann", "neumann"), xp=xt, method="transforms")
