"""A query predicate reads text of a large file again; the text must still be there."""

import subprocess  # noqa: TID251 - a native crash would take the test runner with it
import sys

_PARSE = """
from wherein.parse.tags import parse
source = "".join(f"step_{i}() {{\\n  source ./lib_{i}.sh\\n  run_{i}\\n}}\\n" for i in range(6000))
parsed = parse(source.encode(), "bash")
print(len(source), len(parsed.definitions), len(parsed.imports))
"""


def test_a_file_over_the_guarded_size_is_parsed_without_a_crash() -> None:
    done = subprocess.run([sys.executable, "-c", _PARSE], capture_output=True, text=True)
    size, definitions, imports = map(int, done.stdout.split())
    assert done.returncode == 0
    assert size > 200_000
    assert definitions == 6000
    assert imports == 6000
