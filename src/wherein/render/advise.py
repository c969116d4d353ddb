"""Shows whether a repository needs more than grep."""

from __future__ import annotations

from typing import cast

from wherein.measure.advise import Advice
from wherein.render.escape import show_path
from wherein.render.rendered import Rendered, Style
from wherein.render.tables import table

__all__ = ["render"]


def render(result: object, style: Style) -> Rendered:
    """Return the text of an `Advice`."""
    advice = cast("Advice", result)
    lines = [f"{style.paint('path', show_path(advice.repository))}: {advice.verdict}"]
    lines += [f"  {reason}" for reason in advice.reasons]
    lines += [f"  note: {note}" for note in advice.notes]
    parts = ["".join(f"{line}\n" for line in lines)]
    if advice.n_requests:
        parts.append(
            f"\n  history: {advice.history}\n"
            f"  requests that name code: {advice.named_share:.0%}; "
            f"with a word that stands in a changed file: {advice.in_words_share:.0%}\n"
            f"  grep: {advice.grep_rounds:.1f} rounds on average{_tokens(advice.grep_tokens)}\n"
            f"  cost: all of this took {advice.seconds_to_index:.1f} s of CPU, the index included\n"
        )
        rows = [
            (
                gain.arm,
                f"{gain.rate:.0%}",
                f"{gain.gain.mean:+.0%}",
                f"{gain.gain.low:+.0%} to {gain.gain.high:+.0%}",
                "-" if gain.median_tokens is None else f"{gain.median_tokens:.0f}",
                f"{gain.seconds * 1000:.1f}",
            )
            for gain in advice.gains
        ]
        heads = ("arm", "in ten", "less grep", "95 % interval", "tokens", "CPU ms")
        parts.append("\n" + table(heads, rows))
    return Rendered(tuple(parts))


def _tokens(tokens: float | None) -> str:
    return "" if tokens is None else f", {tokens:.0f} tokens until found"
