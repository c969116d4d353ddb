"""Names the language of a file, from its name and, where that does not decide, its first bytes."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["CODE_WITHOUT_GRAMMAR", "HEAD_BYTES", "detect_language", "needs_head"]

HEAD_BYTES = 4096
"""How much of a file `detect_language` may want: a licence header and the first declarations."""

_EXTENSIONS: dict[str, str] = {
    extension: language
    for language, extensions in {
        "asciidoc": "adoc asciidoc asc",
        "astro": "astro",
        "bash": "sh bash zsh ksh bats ebuild eclass command",
        "batch": "bat cmd",
        "c": "c h cats idc",
        "clojure": "clj cljs cljc cljd edn bb",
        "cmake": "cmake",
        "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp ixx tpp txx inl cppm cu cuh ino",
        "csharp": "cs csx cake",
        "css": "css",
        "dart": "dart",
        "dockerfile": "dockerfile containerfile",
        "dtd": "dtd",
        "elixir": "ex exs",
        "embedded_template": "erb ejs",
        "erlang": "erl hrl escript",
        "fortran": "f f90 f95 f03 f08 for ftn",
        "go": "go",
        "gotmpl": "gotmpl gohtml tmpl",
        "graphql": "graphql gql graphqls",
        "groovy": "groovy gradle gvy gy gsh jenkinsfile",
        "haskell": "hs lhs hsc",
        "hcl": "hcl tf tfvars nomad",
        "heex": "heex leex",
        "html": "html htm xhtml",
        "ini": "ini cfg desktop",
        "java": "java jav",
        "javascript": "js mjs cjs jsx es6 jsm",
        "jinja2": "j2 jinja jinja2",
        "json": "json webmanifest geojson har avsc",
        "json5": "json5",
        "jsonc": "jsonc code-workspace",
        "jsonnet": "jsonnet libsonnet",
        "julia": "jl",
        "jupyter": "ipynb",
        "just": "just",
        "kdl": "kdl",
        "kotlin": "kt kts ktm",
        "latex": "tex sty cls ltx",
        "lua": "lua rockspec luau",
        "make": "mk mak make",
        "markdown": "md markdown mdown mkd mdx mdc",
        "nix": "nix",
        "objc": "m mm",
        "ocaml": "ml mli",
        "org": "org",
        "perl": "pl pm t psgi",
        "php": "php phtml php3 php4 php5 php7 phps inc",
        "powershell": "ps1 psm1 psd1",
        "properties": "properties",
        "proto": "proto",
        "python": "py pyi pyw pyx pxd pxi wsgi gyp gypi",
        "r": "r",
        "racket": "rkt rktl rktd",
        "rst": "rst rest",
        "ruby": "rb rake gemspec ru podspec jbuilder thor rbi rbs rabl builder",
        "rust": "rs",
        "scala": "scala sc sbt",
        "scheme": "scm ss sld sls",
        "scss": "scss",
        "solidity": "sol",
        "sql": "sql ddl dml psql pgsql",
        "starlark": "bzl star bazel",
        "svelte": "svelte",
        "swift": "swift",
        "toml": "toml",
        "tsx": "tsx",
        "typescript": "ts mts cts",
        "typst": "typ",
        "vim": "vim vimrc",
        "vue": "vue",
        "wat": "wat wast",
        "xml": "xml xsd xsl xslt svg wsdl rss atom csproj fsproj vbproj vcxproj props targets"
        " plist storyboard xib xaml resx nuspec pom iml",
        "yaml": "yaml yml",
        "zig": "zig zon",
    }.items()
    for extension in extensions.split()
}

CODE_WITHOUT_GRAMMAR = frozenset(
    [
        "fs",
        "fsi",
        "fsx",
        "vb",
        "pas",
        "pp",
        "d",
        "nim",
        "cr",
        "v",
        "sv",
        "svh",
        "vhd",
        "vhdl",
        "coffee",
        "litcoffee",
        "ls",
        "elm",
        "purs",
        "re",
        "res",
        "rei",
        "resi",
        "ada",
        "adb",
        "ads",
        "cob",
        "cbl",
        "asm",
        "s",
        "nasm",
        "tcl",
        "lisp",
        "lsp",
        "cl",
        "el",
        "fnl",
        "hx",
        "as",
        "pro",
        "abap",
        "cls",
        "apex",
        "trigger",
        "gd",
        "gleam",
        "odin",
        "mojo",
        "move",
        "cairo",
        "vy",
        "sass",
        "less",
        "styl",
        "pug",
        "haml",
        "slim",
        "liquid",
        "mustache",
        "hbs",
        "handlebars",
        "twig",
        "thrift",
        "capnp",
        "fbs",
        "smithy",
        "cypher",
        "sparql",
        "kql",
        "rego",
        "cue",
        "dhall",
        "pkl",
        "wgsl",
        "glsl",
        "hlsl",
        "vert",
        "frag",
        "comp",
        "metal",
        "cl",
        "awk",
        "sed",
        "applescript",
        "ahk",
        "au3",
        "m4",
        "ac",
        "am",
        "bb",
        "bbappend",
        "robot",
        "feature",
        "puml",
        "plantuml",
        "mermaid",
        "tact",
        "bicep",
        "prisma",
        "raku",
        "p6",
        "pm6",
        "raml",
        "postscript",
        "st",
        "4gl",
        "idl",
        "lean",
        "agda",
        "idr",
        "thy",
        "sml",
        "sig",
        "f77",
        "hack",
        "jsp",
        "asp",
        "aspx",
        "cshtml",
        "razor",
        "vbs",
        "fish",
        "nu",
        "elv",
        "xonsh",
    ]
)
"""Extensions of program text for which there is no grammar: cut by lines, searched as code."""

_NAMES: dict[str, str] = {
    name: language
    for language, names in {
        "bash": ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile"
        " .kshrc .envrc apkbuild pkgbuild gradlew mvnw bashrc profile",
        "cmake": "cmakelists.txt",
        "dockerfile": "dockerfile containerfile",
        "gitignore": ".gitignore .dockerignore .ignore .npmignore .eslintignore .prettierignore"
        " .whereinignore .helmignore .rgignore .gcloudignore .vscodeignore .stylelintignore",
        "groovy": "jenkinsfile",
        "ini": ".editorconfig .gitconfig .gitmodules .flake8 .pylintrc .coveragerc setup.cfg"
        " tox.ini .npmrc .buckconfig .hgrc",
        "json": ".babelrc .jshintrc .watchmanconfig .swcrc .nycrc .lintstagedrc .stylelintrc"
        " composer.lock .arcconfig .tern-project",
        "jsonc": "tsconfig.json jsconfig.json .eslintrc .jscsrc devcontainer.json .eslintrc.json"
        " settings.json launch.json tasks.json extensions.json",
        "just": "justfile .justfile",
        "make": "makefile gnumakefile bsdmakefile kbuild makefile.am makefile.in",
        "perl": "cpanfile makefile.pl",
        "python": "sconstruct sconscript wscript snakefile .pythonrc",
        "r": ".rprofile",
        "ruby": "rakefile gemfile podfile vagrantfile guardfile capfile fastfile appfile brewfile"
        " dangerfile puppetfile thorfile berksfile .irbrc .pryrc",
        "starlark": "build workspace build.bazel workspace.bazel module.bazel tiltfile buck",
        "toml": "pipfile cargo.toml .cargo/config",
        "vim": ".vimrc _vimrc .gvimrc .exrc",
        "yaml": ".clang-format .clang-tidy .clangd .yamllint .gemrc",
    }.items()
    for name in names.split()
}

_INTERPRETERS: dict[str, str] = {
    name: language
    for language, names in {
        "bash": "sh bash zsh ksh dash ash mksh bats",
        "elixir": "elixir",
        "erlang": "escript",
        "groovy": "groovy",
        "haskell": "runhaskell runghc stack",
        "javascript": "node nodejs deno bun qjs",
        "julia": "julia",
        "kotlin": "kotlin kscript",
        "lua": "lua luajit texlua",
        "make": "make",
        "nix": "nix-shell",
        "ocaml": "ocaml ocamlrun",
        "perl": "perl",
        "php": "php",
        "powershell": "pwsh powershell",
        "python": "python pypy pythonw uv",
        "r": "rscript r",
        "racket": "racket",
        "ruby": "ruby jruby rbx macruby rake",
        "scala": "scala amm scala-cli",
        "scheme": "guile csi chezscheme",
        "swift": "swift",
        "clojure": "bb clojure",
        "typescript": "ts-node tsx",
    }.items()
    for name in names.split()
}

_SHEBANG = re.compile(
    rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-\S+[ \t]+|[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?)?([\w.+-]+)"
)
_MODELINE = re.compile(
    rb"-\*-.*?(?:mode:[ \t]*)?([A-Za-z+#-]+)[ \t]*(?:;.*?)?-\*-|\bvim?:.*?\b(?:ft|filetype)=(\w+)"
)
_MODES = {
    "c": "c", "c++": "cpp", "cpp": "cpp", "java": "java", "javascript": "javascript",
    "js": "javascript", "lua": "lua", "makefile": "make", "make": "make", "perl": "perl",
    "php": "php", "python": "python", "ruby": "ruby", "rust": "rust", "scheme": "scheme",
    "sh": "bash", "shell-script": "bash", "bash": "bash", "zsh": "bash", "tcl": "", "yaml": "yaml",
    "objc": "objc", "sql": "sql", "vim": "vim", "xml": "xml", "html": "html",
}  # fmt: skip
_CPP_SIGNS = re.compile(
    rb"^[ \t]*(?:namespace\b|template[ \t]*<|class[ \t]+\w+|using[ \t]+\w"
    rb"|(?:public|private|protected)[ \t]*:|virtual\b|extern[ \t]+\"C\+\+\"|constexpr\b"
    rb"|inline namespace)|\bstd::|#[ \t]*include[ \t]*<(?:\w+)>",
    re.MULTILINE,
)
_OBJC_SIGNS = re.compile(
    rb"^[ \t]*(?:@(?:interface|protocol|implementation|class|import|end)\b|#[ \t]*import\b)",
    re.MULTILINE,
)
_PROLOG_SIGNS = re.compile(rb"^[ \t]*:-|^[a-z]\w*\(.*\)[ \t]*(?::-|\.)[ \t]*$", re.MULTILINE)
_PERL_SIGNS = re.compile(
    rb"^[ \t]*(?:use[ \t]+\w|package[ \t]+\w|sub[ \t]+\w|my[ \t]+[$@%(]|require[ \t])|^#!.*perl",
    re.MULTILINE,
)
_PHP_SIGNS = re.compile(rb"<\?(?:php|=|\s)", re.IGNORECASE)
_C_GUARDS = re.compile(rb"^[ \t]*#[ \t]*ifdef[ \t]+__cplusplus\b", re.MULTILINE)

_AMBIGUOUS = frozenset(
    {"h", "m", "mm", "pl", "t", "inc", "ts", "cls", "s", "pro", "builder", "asc"}
)
_TEMPLATE_ENDINGS = (
    ".in",
    ".tmpl",
    ".tpl",
    ".template",
    ".example",
    ".sample",
    ".dist",
    ".default",
)


def detect_language(path: str, head: bytes | None = None) -> str | None:
    """Return the grammar name for a file, None when there is no grammar for it.

    Args:
        path: Path of the file; only the name counts.
        head: Its first `HEAD_BYTES`, or None when they were not read. They decide for names
            without extension and for the few extensions that several languages share.
    """
    name = path.rpartition("/")[2].lower()
    language = _by_name(name)
    if language is None:
        return _by_content(head) if head and "." not in name.strip(".") else None
    extension = name.rpartition(".")[2]
    if head is not None and extension in _AMBIGUOUS:
        return _disambiguate(extension, head, language)
    return language


def needs_head(path: str) -> bool:
    """Return whether `detect_language` would look at the first bytes of the file."""
    name = path.rpartition("/")[2].lower()
    if "." in name.strip("."):
        return name.rpartition(".")[2] in _AMBIGUOUS
    return _by_name(name) is None


@lru_cache(maxsize=1 << 14)
def _by_name(name: str) -> str | None:
    known = _NAMES.get(name)
    if known is not None:
        return known
    stem, dot, extension = name.rpartition(".")
    if dot:
        language = _EXTENSIONS.get(extension)
        if language is not None:
            return language
        if name.endswith(_TEMPLATE_ENDINGS) and "." in stem:
            return _by_name(stem)  # config.h.in, settings.py.example
    if name.startswith(("dockerfile.", "containerfile.")):
        return "dockerfile"
    if name.startswith(("makefile.", "gnumakefile.")):
        return "make"
    if name.startswith("jenkinsfile"):
        return "groovy"
    return None


def _by_content(head: bytes) -> str | None:
    """Read a ``#!`` line, an editor's mode line, or an XML or PHP opening."""
    first = head.removeprefix(b"\xef\xbb\xbf")
    if first.startswith(b"#!"):
        found = _SHEBANG.match(first)
        return _interpreter(found.group(1).decode("ascii", "replace").lower()) if found else None
    if first.startswith(b"<?xml"):
        return "xml"
    if first.startswith(b"<?php"):
        return "php"
    found = _MODELINE.search(b"\n".join(first.split(b"\n", 5)[:5]))
    if found:
        mode = (found.group(1) or found.group(2)).decode("ascii").lower()
        return _MODES.get(mode) or None
    return None


def _interpreter(name: str) -> str | None:
    """Map ``python3.11`` and the like."""
    return _INTERPRETERS.get(name) or _INTERPRETERS.get(name.rstrip("0123456789.-"))


def _disambiguate(extension: str, head: bytes, language: str) -> str | None:
    if extension == "h":
        if _OBJC_SIGNS.search(head):
            return "objc"
        return "cpp" if _CPP_SIGNS.search(head) and not _C_GUARDS.search(head) else "c"
    if extension in {"m", "mm"}:
        is_objc = _OBJC_SIGNS.search(head) or b"#include" in head or b"//" in head
        return language if is_objc else None
    if extension == "pl":
        return None if _PROLOG_SIGNS.search(head) and not _PERL_SIGNS.search(head) else "perl"
    if extension == "t":
        return "perl" if _PERL_SIGNS.search(head) else None
    if extension == "inc":
        return "php" if _PHP_SIGNS.search(head) else None
    if extension == "ts":
        return "xml" if head.lstrip().startswith((b"<?xml", b"<!DOCTYPE TS", b"<TS")) else language
    if extension == "cls":
        return "latex" if b"\\ProvidesClass" in head or b"\\NeedsTeXFormat" in head else None
    if extension == "asc":
        return None if b"-----BEGIN PGP" in head else language
    return language
