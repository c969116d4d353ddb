"""Shows lines of a glossary with what they gain, or what a check says of them."""

from __future__ import annotations

from typing import cast

from wherein.glossary import format_line
from wherein.measure.glossary_report import CheckedLine, GlossaryReport, Verdict
from wherein.measure.glossary_trial import ROUNDS, KeptLine
from wherein.render.escape import show_line
from wherein.render.rendered import Rendered, Style
from wherein.render.tables import table

__all__ = ["messages", "render"]


def render(result: object, style: Style) -> Rendered:
    """Return the text of a `GlossaryReport`."""
    report = cast("GlossaryReport", result)
    if report.action == "remove":
        said = "taken out of" if report.is_written else "no glossary in"
        return Rendered((f"{said} {report.file}\n",), is_found=report.is_written)
    lines = [_checked(one, style) for one in report.checked]
    lines += [_kept(one, style) for one in report.lines]
    return Rendered((*lines, _foot(report)), is_found=not report.is_empty)


def messages(result: object) -> list[str]:
    """Return what else is to be known, for standard error."""
    return list(cast("GlossaryReport", result).notes)


def _kept(one: KeptLine, style: Style) -> str:
    told = (
        f"{one.origin}: {one.n_hits} of {one.n_said}; of {one.n_asked} later requests "
        f"{one.n_helped} sooner, {one.n_harmed} later"
    )
    return f"{show_line(format_line(one.line))}\n    {style.paint('dim', told)}\n"


def _checked(one: CheckedLine, style: Style) -> str:
    state = style.paint("bad" if one.is_bad else "good", one.state.value)
    told = f" ({one.n_helped} of {one.n_asked} requests sooner, {one.n_harmed} later)"
    return f"{show_line(one.text)}\n    {state}{told if one.n_asked else ''}\n"


def _foot(report: GlossaryReport) -> str:
    parts: list[str] = []
    if report.action != "check" and report.mined_until:
        parts.append(
            f"\n{len(report.lines)} of {report.n_pairs} pairs kept, {report.tokens} tokens; mined "
            f"up to {report.mined_until[:12]} ({report.history}), chosen on {report.n_chosen_on} "
            f"later requests, measured on {report.n_proved_on} newer ones\n"
        )
    elif report.checked:
        n_bad = sum(one.is_bad for one in report.checked)
        parts.append(
            f"\n{n_bad} of {len(report.checked)} lines want a look; {report.tokens} tokens, "
            f"measured on {report.n_proved_on} requests\n"
        )
    if report.gains:
        rows = [
            (
                gain.group,
                str(gain.n),
                f"{gain.without:.3f}",
                f"{gain.with_glossary:.3f}",
                f"{gain.difference.mean:+.3f}",
                f"{gain.difference.low:+.3f} to {gain.difference.high:+.3f}",
                f"{gain.mean_rounds_without:.2f}",
                f"{gain.mean_rounds_with:.2f}",
            )
            for gain in report.gains
        ]
        head = ("requests", "n", "grep", "with", "gain", "95 % interval", "rounds", "with")
        parts.append(f"found within {ROUNDS} rounds: {report.verdict.value}\n" + table(head, rows))
    elif report.verdict is Verdict.NOTHING and not report.checked:
        parts.append("no line helps here\n")
    if report.action == "apply":
        parts.append(f"written to {report.file}\n" if report.is_written else "nothing written\n")
    return "".join(parts)
