"""Repairs are parts of networks: they are copied, stored and mapped like those."""

import copy
import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from sciml.repair import (
    AffineProjection,
    LerayProjection,
    MeshProjection,
    RangeProjection,
    Reconciliation,
    StaggeredProjection,
)

WALLS = ("wall", "wall")
FLUID = np.ones((6, 6), dtype=bool)
FLUID[2:4, 3] = False
CORNERS = [[0, 0], [1, 0], [0.4, 0.8], [1.4, 0.8]]
REPAIRS = {
    "leray": lambda: (LerayProjection((1.0, 1.0)), (2, 6, 6)),
    "faces": lambda: (StaggeredProjection((6, 6), (0.1, 0.1), WALLS), (2, 7, 7)),
    "faces body": lambda: (StaggeredProjection((6, 6), (0.1, 0.1), WALLS, fluid=FLUID), (2, 7, 7)),
    "centers": lambda: (RangeProjection((6, 6), (0.1, 0.1), WALLS), (2, 6, 6)),
    "centers body": lambda: (RangeProjection((6, 6), (0.1, 0.1), WALLS, fluid=FLUID), (2, 6, 6)),
    "mesh": lambda: (MeshProjection(CORNERS, [[0, 1, 2], [1, 3, 2]]), (5,)),
    "affine": lambda: (AffineProjection([[1.0, 1.0]], [1.0]), (2,)),
    "affine sparse": lambda: (AffineProjection(sp.eye(1001, 1100, format="csr")), (1100,)),
    "hierarchy": lambda: (Reconciliation([[1, 1], [1, 0], [0, 1]]), (3,)),
}


def _saved(module):
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=False)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("name", REPAIRS)
def test_copies_do_the_same(name):
    repair, shape = REPAIRS[name]()
    u = torch.randn(3, *shape, dtype=torch.float64, generator=torch.manual_seed(0))
    wanted = repair(u)  # what is factored on first use must not be in the way
    for made in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), _saved):
        assert torch.equal(made(repair)(u), wanted)
    assert torch.allclose(torch.func.vmap(repair)(u), wanted, rtol=0.0, atol=1e-13)
    moved = torch.func.vmap(repair, in_dims=-1, out_dims=-1)(u.movedim(0, -1))
    assert torch.allclose(moved.movedim(-1, 0), wanted, rtol=0.0, atol=1e-13)
