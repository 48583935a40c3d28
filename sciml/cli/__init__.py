"""The command ``sciml``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from sciml.cli.app import app

    app()
