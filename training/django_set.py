"""Makes the Django evaluation sets from its source package. Django is only ever judged on.

    python training/django_set.py --work DIR --package Django-5.2-py3-none-any.whl

Passages are the distinct functions of ``django/`` of at least 60 characters, without their
documentation strings. Queries are documentation strings of three words or more: the whole string
(``pypi-Django``) or its first paragraph (``pypi-Django-first``).
"""

from __future__ import annotations

import argparse
import ast
import zipfile
from collections.abc import Iterator
from pathlib import Path

from extract import Passage
from pairs import LANGUAGE_NAMES, Shard, columns_of

FEWEST_CHARS = 60
FEWEST_WORDS = 3


def functions(package: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, source without documentation, and documentation of each function."""
    with zipfile.ZipFile(package) as zipped:
        for path in sorted(zipped.namelist()):
            if not path.endswith(".py") or not path.startswith("django/"):
                continue
            source = zipped.read(path).decode()
            lines = source.splitlines(keepends=True)
            for node in ast.walk(ast.parse(source)):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                documentation = ast.get_docstring(node) or ""
                body = lines[node.lineno - 1 : node.end_lineno]
                if documentation:
                    first, start = node.body[0], node.lineno
                    body = body[: first.lineno - start] + body[first.end_lineno - start + 1 :]
                yield node.name, "".join(body), documentation


def main() -> None:
    """Write both shards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--package", type=Path, required=True)
    options = parser.parse_args()
    whole, first = Shard(), Shard()
    language = LANGUAGE_NAMES.index("python")
    seen: set[str] = set()
    for name, body, documentation in functions(options.package):
        if body in seen or len(body) < FEWEST_CHARS:
            continue
        seen.add(body)
        head = body.split(":\n", 1)[0][:300]
        found = Passage("python", name, body[:2400], head, (), "", "", is_test=False)
        columns = columns_of(found, "")
        for shard in (whole, first):
            passage = shard.add_passage(columns, language, 0)
            if len(documentation.split()) >= FEWEST_WORDS:
                text = documentation if shard is whole else documentation.split("\n\n")[0]
                shard.add_query(text, passage, "documentation")
    output = options.work / "eval-pairs"
    whole.save(output / "pypi-Django.npz")
    first.save(output / "pypi-Django-first.npz")
    print(len(whole.offsets) - 1, "functions,", len(whole.query_passages), "queries")


if __name__ == "__main__":
    main()
