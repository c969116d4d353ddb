"""Short lists of words that a language gives a meaning of its own."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "IMPORT_CALLS",
    "NOT_DEFINED",
    "NO_OWNERS",
    "OPEN_SCOPES",
    "PASSED_OVER",
    "PLAIN_TYPES",
    "TRIMMED",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMPORT_CALLS: Mapping[str, frozenset[str]] = {
    "groovy": _words("library"),
    "javascript": _words("require import"),
    "lua": _words("require dofile loadfile"),
    "r": _words("library require source requireNamespace"),
    "ruby": _words("require require_relative load autoload"),
    "starlark": _words("load"),
    "tsx": _words("require import"),
    "typescript": _words("require import"),
}
"""Functions whose call imports the module that their first argument names."""

PASSED_OVER: Mapping[str, frozenset[str]] = {
    "bash": _words("source . alias echo cd [ test exit set printf"),
    "clojure": _words(
        "defn defn- def defmacro ns let if when cond fn do loop for and or not -> ->>"
    ),
    "cmake": _words("set if else endif elseif foreach endforeach include message option project"),
    "elixir": _words(
        "def defp defmodule defmacro defmacrop defstruct defprotocol defimpl defguard defguardp"
        " defdelegate defexception defoverridable use alias import require quote unquote if unless"
        " case cond with for fn receive try raise doc moduledoc typedoc spec type typep opaque impl"
        " callback macrocallback"
    ),
    "hcl": _words("var local each self this"),
    "perl": _words("-norequire"),
    "php": _words("define"),
    "racket": _words("define let let* if cond lambda require provide struct begin set! and or"),
    "scheme": _words("define let let* if cond lambda begin set! and or define-syntax"),
    "starlark": _words("load"),
    "ruby": _words(
        "attr_accessor attr_reader attr_writer include extend prepend private protected public"
        " module_function define_method raise puts require require_relative load autoload"
    ),
}
"""What the grammar calls a call and the language a statement."""

NOT_DEFINED: Mapping[str, frozenset[str]] = {
    "elixir": _words(
        "doc moduledoc typedoc spec type typep opaque callback macrocallback impl behaviour derive"
        " optional_callbacks tag moduletag describetag shortdoc deprecated dialyzer compile"
        " enforce_keys before_compile after_compile external_resource since on_load"
    ),
}
"""Names that are set, not defined: Elixir's own module attributes."""

PLAIN_TYPES = _words(
    "any bool boolean byte char double error float int int8 int16 int32 int64 long never none null"
    " number object rune short size_t str string u8 u16 u32 u64 uint uint8 uint16 uint32 uint64"
    " uintptr unknown usize void None i8 i16 i32 i64 f32 f64 isize String Int Bool Self self static"
)
"""Types that every file uses; a reference to one says nothing."""

NO_OWNERS = _words("module exports prototype this window globalThis")
"""JavaScript's places that own whatever a file hands out."""

TRIMMED: Mapping[str, str] = {"bash": "=", "perl": "$@%&", "powershell": "$", "ruby": ":"}
"""Signs that are written with a name and are no part of it."""

OPEN_SCOPES = _words("c cpp csharp go hcl java objc r ruby sql swift kotlin haskell ocaml")
"""Languages in which a name of another file needs no import by name."""
