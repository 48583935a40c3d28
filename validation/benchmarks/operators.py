"""Training step of our Fourier neural operator beside neuraloperator's, as ratios in one run.

One process, one thread, CPU time of the process, median of steps taken in turn; 64 x 64 points,
batch 8, width 32, four layers, Adam::

    python -m pip install neuraloperator==2.0.0   # in an environment of its own
    python validation/benchmarks/operators.py --output validation/results

Both models have the same arrangement and the same weights; their outputs are compared first. Then
the price of normalization in our own model, and of the layers alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from processor_time import in_turn, one_thread
from tables import markdown_table

POINTS, BATCH, WIDTH, LAYERS = 64, 8, 32, 4
LEAST_SPEED, MOST_FOR_NORM, SAME = 1.5, 1.3, 1e-4
"""Ratios that are promised, and the relative difference of outputs that is allowed."""

Row = dict[str, Any]


def training_step(model: Any, *, fused: bool) -> Callable[[], None]:
    """One step of Adam on fixed random fields."""
    import torch

    generator = torch.Generator().manual_seed(1)
    x = torch.randn(BATCH, 1, POINTS, POINTS, generator=generator)
    y = torch.randn(BATCH, 1, POINTS, POINTS, generator=generator)
    options: dict[str, Any] = {"fused": True} if fused else {}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **options)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        (model(x) - y).square().mean().backward()
        optimizer.step()

    return step


def relative_difference(one: Any, other: Any) -> float:
    """Largest relative difference of the outputs on two resolutions."""
    import torch

    worst = 0.0
    for points in (POINTS, 3 * POINTS // 2):
        x = torch.randn(2, 1, points, points, generator=torch.Generator().manual_seed(2))
        with torch.no_grad():
            wanted = other(x)
            worst = max(worst, float((one(x) - wanted).norm() / wanted.norm()))
    return worst


def against_peer(repeats: int) -> list[Row]:
    """Rows of the comparison with neuraloperator."""
    import torch

    from sciml.operators import FNO

    peer_class = import_module("neuralop.models").FNO
    rows = []
    for n in (16, 32):
        for mlp in (True, False):
            torch.manual_seed(0)
            peer = peer_class(
                n_modes=(n, n),
                in_channels=1,
                out_channels=1,
                hidden_channels=WIDTH,
                n_layers=LAYERS,
                use_channel_mlp=mlp,
            )
            ours = FNO.from_neuraloperator(peer.state_dict(), axis_kinds="periodic")
            difference = relative_difference(ours, peer)
            times = in_turn(
                {"peer": training_step(peer, fused=False), "ours": training_step(ours, fused=True)},
                repeats,
            )
            rows.append(
                {
                    "n_modes": n,
                    "channel MLP": mlp,
                    "relative difference": difference,
                    "neuraloperator, ms": times["peer"],
                    "ours, ms": times["ours"],
                    "ratio": times["peer"] / times["ours"],
                    "holds": times["peer"] / times["ours"] >= LEAST_SPEED and difference <= SAME,
                }
            )
    return rows


def replaced_norms() -> list[Row]:
    """Rows of neuraloperator's model with its normalization replaced, on periodic axes."""
    import torch

    from sciml.operators import replace_normalization

    peer_class = import_module("neuralop.models").FNO
    rows = []
    for norm in ("group_norm", "instance_norm"):
        torch.manual_seed(0)
        model = peer_class(
            n_modes=(8, 8), in_channels=1, out_channels=1, hidden_channels=16, norm=norm
        )
        x = torch.randn(2, 1, 32, 32, generator=torch.Generator().manual_seed(3))
        with torch.no_grad():
            before = model(x)
            count = len(replace_normalization(model, axis_kinds="periodic"))
            after = model(x)
            state = {k: v.clone() for k, v in model.state_dict().items() if k != "_metadata"}
            for value in model.parameters():
                value.add_(1.0)
            model.load_state_dict(state, strict=False)
            again = model(x)
        difference = float((after - before).abs().max())
        rows.append(
            {
                "norm": norm,
                "layers replaced": count,
                "largest difference": difference,
                "same after reloading": bool(torch.equal(after, again)),
                "holds": difference <= 1e-5 and bool(torch.equal(after, again)),
            }
        )
    return rows


def price_of_norm(repeats: int) -> list[Row]:
    """Rows of our model with and without normalization, on axes that hold both ends."""
    from sciml.operators import FNO

    rows = []
    for n in (16, 32):
        for mlp in (True, False):
            norms = (None, "quad", "quad_layer", "blend", "instance", "layer")
            steps = {
                str(norm): training_step(
                    FNO(
                        1,
                        1,
                        WIDTH,
                        (n, n),
                        LAYERS,
                        norm=norm,  # pyright: ignore[reportArgumentType]
                        axis_kinds="node",
                        channel_mlp=mlp,
                        seed=0,
                    ),
                    fused=True,
                )
                for norm in norms
            }
            times = in_turn(steps, repeats)
            for name, value in times.items():
                ratio = value / times["None"]
                promised = name in ("quad", "quad_layer")
                rows.append(
                    {
                        "n_modes": n,
                        "channel MLP": mlp,
                        "norm": name,
                        "step, ms": value,
                        "over none": ratio,
                        "holds": ratio <= MOST_FOR_NORM if promised else None,
                    }
                )
    return rows


def layers_alone(repeats: int) -> list[Row]:
    """Rows of single normalization layers, forward and backward."""
    import torch

    from sciml.operators import QuadNorm

    x = torch.randn(BATCH, WIDTH, POINTS, POINTS, generator=torch.Generator().manual_seed(0))
    rows = []
    for order in (torch.contiguous_format, torch.channels_last):
        layers = {
            "InstanceNorm2d": torch.nn.InstanceNorm2d(WIDTH, affine=True),
            "GroupNorm(1)": torch.nn.GroupNorm(1, WIDTH),
            "QuadNorm, by channel": QuadNorm(WIDTH, axis_kinds="node"),
            "QuadNorm, one group": QuadNorm(WIDTH, 1, axis_kinds="node"),
            "QuadNorm, plain operations": QuadNorm(
                WIDTH, axis_kinds="node", differentiable_twice=True
            ),
        }
        field = x.to(memory_format=order).requires_grad_()
        g = torch.ones_like(field)
        times = in_turn({n: _backward(layer, field, g) for n, layer in layers.items()}, 3 * repeats)
        name = str(order).removeprefix("torch.")
        rows += [{"memory": name, "layer": n, "ms": value} for n, value in times.items()]
    return rows


def _backward(layer: Any, field: Any, g: Any) -> Callable[[], None]:
    return lambda: layer(field).backward(g)


def section(title: str, rows: list[Row]) -> str:
    """Title and table in Markdown."""
    lines = markdown_table(rows, 3) or ["not measured: neuraloperator is not installed"]
    return "\n".join([f"## {title}", "", *lines, ""])


def main() -> int:
    """Measure, print and write the tables; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    one_thread()
    import torch

    torch.set_num_threads(1)
    before = os.getloadavg()[0]
    try:
        against, replaced = against_peer(arguments.repeats), replaced_norms()
    except ModuleNotFoundError as error:
        print(f"{error}: python -m pip install neuraloperator==2.0.0", file=sys.stderr)
        against, replaced = [], []
    tables = {
        "Training step against neuraloperator": against,
        "Normalization of neuraloperator's model replaced": replaced,
        "Training step with normalization": price_of_norm(arguments.repeats),
        "Normalization layers alone, forward and backward": layers_alone(arguments.repeats),
    }
    versions = {"python": platform.python_version(), "torch": torch.__version__}
    if against:
        versions["neuraloperator"] = metadata.version("neuraloperator")
    load = f"{before:.1f} before and {os.getloadavg()[0]:.1f} after, {os.cpu_count()} processors"
    command = f"python validation/benchmarks/operators.py --repeats {arguments.repeats}"
    head = f"# Speed of operators\n\n`{command}`\n\n{', '.join(map(' '.join, versions.items()))}. "
    head += f"{POINTS}^2 points, batch {BATCH}, width {WIDTH}, {LAYERS} layers; one thread, CPU "
    head += f"time, medians of steps taken in turn. Load of the machine: {load}.\n\n"
    page = head + "\n".join(section(title, rows) for title, rows in tables.items())
    print(page)
    if arguments.output:
        from sciml import _atomic

        record = {"command": command, "versions": versions, "load": load, "tables": tables}
        _atomic.write(arguments.output / "benchmark-operators.md", page)
        _atomic.write(
            arguments.output / "benchmark-operators.json", json.dumps(record, indent=1) + "\n"
        )
    kept = all(row.get("holds") is not False for rows in tables.values() for row in rows)
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
