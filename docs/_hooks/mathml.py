"""Formulas as MathML, made when the site is built: no script, and no network, is needed to read."""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.S)
DISPLAY = re.compile(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', re.S)


def on_page_content(content: str, **kwargs: Any) -> str:
    """Replace the formulas of a page."""
    content = INLINE.sub(lambda found: convert(html.unescape(found[1])), content)
    return DISPLAY.sub(lambda found: convert(html.unescape(found[1]), display="block"), content)
