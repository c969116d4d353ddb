"""Which files of a package may become training data: language, vendored copies, barred projects."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

LANGUAGES = {
    ".py": "python", ".pyi": "", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".mts": "typescript", ".tsx": "tsx", ".go": "go",
    ".rs": "rust", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".swift": "swift",
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp",
    ".hxx": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php", ".scala": "scala", ".lua": "lua",
    ".hs": "haskell", ".ex": "elixir", ".exs": "elixir", ".pl": "perl", ".pm": "perl",
    ".sh": "bash", ".md": "markdown", ".rst": "rst",
}  # fmt: skip
"""Suffix to grammar name; an empty name is a file that is not wanted."""

_CHANGELOG = re.compile(
    r"(^|/)(change-?log|changes|news|history|releases?|release-?notes|whats-?new)([-_.\d][^/]*)?$|"
    r"(^|/)(change-?logs?|changes|news|releases|release-?notes|whats-?new)/[^/]+$",
    re.IGNORECASE,
)

_VENDORED = re.compile(
    r"(^|/)(_?vendor(ed|s)?|third[-_]?party|3rd[-_]?party|node_modules|bower_components|"
    r"deps|externals?|extern|ext_?libs?|bundled|submodules?|site-packages|dist-packages-vendored|"
    r"pods|carthage|jsr166|thirdparty\w*|contrib/libs?|lib/external|_vendored_\w+|subprojects|"
    r"typeshed|vendor_(?!ruby/)\w+)/",
    re.IGNORECASE,
)

_GENERATED_PATH = re.compile(
    r"(^|/)(generated|gen|__generated__|locales?|i18n|l10n|translations?|fixtures?|testdata|"
    r"test_data|\.github|debian|minified|umd)/|\.min\.|\.bundle\.|[._]pb2?\.|_pb2_grpc|\.pb\.go$|"
    r"zz_generated|\.g\.cs$|\.designer\.cs$|\.d\.[cm]?ts$|_generated\.|bindata",
    re.IGNORECASE,
)

# Folders, files and name spaces of the projects that may never be trained on, wherever another
# package carries a copy of them. A file list from the bench names the projects; a name that is an
# ordinary word is spelled out here by what surrounds it.
_ORDINARY = {"core", "framework", "json", "redis", "exposed", "rack", "plug", "cats", "cli", "chi"}
_ORDINARY |= {"gin", "express", "requests", "click", "circe", "tracing"}
_SPELLED = (
    r"(^|/)(sklearn|_pytest|absl|abseil|nlohmann|fasterxml/jackson/(core|databind)|google/gson|"
    r"commons/lang3?|newtonsoft(\.json)?|illuminate|guzzlehttp|activerecord|active_record|"
    r"activesupport|active_support|actionpack|action_(controller|dispatch|view|cable|mailer|pack)|"
    r"actionview|activemodel|active_(model|job|storage)|railties|actioncable|actionmailer|"
    r"@vue|@mui|@trpc|@sveltejs|@vitest|@webassemblyjs|kotlinx/coroutines|requests|click|flask|"
    r"jinja2_vendored|serde_derive|tokio-[a-z]+|tracing-[a-z]+|rayon-core|clap_[a-z]+|globset|"
    r"grep-[a-z]+|hiredis|redis/src|gin-gonic|go-chi|spf13/cobra|cobra|ktor|"
    r"org/jetbrains/exposed|org/http4s|io/circe|zsh/nvm|plug_crypto|phoenix(_html)?)(/|$)|"
    r"(^|/)(json|nlohmann_json)\.hpp$|(^|/)fmt/(core|format|bundled)|(^|/)spdlog/fmt/|"
    r"(^|/)(express|fastify|axios|dayjs|zod|webpack|redux|vue|svelte)(\.[a-z]+)*\.[cm]?js$"
)


def is_changelog(path: str) -> bool:
    """Whether the file at ``path`` tells by its name that it lists changes."""
    suffix = PurePosixPath(path).suffix.lower()
    is_text = suffix in {"", ".md", ".rst", ".txt"} or suffix[1:].isdigit()
    return is_text and bool(_CHANGELOG.search(path.replace("_", "-")))


def language_of(path: str) -> str:
    """Return a file's grammar name, ``plain`` for a changelog without markup, or nothing."""
    named = LANGUAGES.get(PurePosixPath(path).suffix.lower())
    return named if named is not None else "plain" if is_changelog(path) else ""


class Filters:
    """Decides file by file, with the reason for each refusal.

    Args:
        never_train: File of ``owner/name`` lines that may not be trained on.
    """

    def __init__(self, never_train: Path) -> None:
        lines = never_train.read_text().split()
        self.repositories = {line.lower() for line in lines}
        names = {line.split("/")[1].lower() for line in lines}
        names |= {name.removesuffix(".nvim") for name in names} - {"mini"}
        plain = "|".join(sorted(re.escape(name) for name in names - _ORDINARY))
        self._barred = re.compile(rf"(^|/)({plain})(-[\d.]+)?(/|$)|{_SPELLED}", re.IGNORECASE)

    def language(self, path: str) -> str:
        """Return the language of a file that may be used (`language_of`), else an empty string."""
        return language_of(path)

    def refusal(self, path: str) -> str:
        """Return why the file at ``path`` inside its package may not be used, or nothing."""
        if self._barred.search(path):
            return "barred project"
        if _VENDORED.search(path):
            return "vendored"
        return "generated" if _GENERATED_PATH.search(path) else ""

    def bars_package(self, name: str) -> bool:
        """Whether a package's own name is that of a barred project."""
        bare = re.sub(
            r"^(golang-github-|golang-|librust-|ruby-|php-|haskell-|lua-|node-|lib|python3-)|"
            r"(-dev|-java|-doc|-src)$", "", name.lower(),
        )  # fmt: skip
        names = {repository.split("/")[1] for repository in self.repositories}
        joined = {repository.replace("/", "-") for repository in self.repositories}
        return bare in (names - {"core", "redis", "json", "cli", "framework"}) | joined


def is_minified(text: bytes) -> bool:
    """Whether lines are too long for a person to have written them."""
    return len(text) > 1000 and len(text) / (text.count(b"\n") + 1) > 200
