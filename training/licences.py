"""Reads a package's licence, and says whether it allows what the training does with the source."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, field

PERMISSIVE = re.compile(
    r"^(mit|expat|x11|isc|0bsd|bsd|apache|zlib|boost|bsl-1|psf|python|unlicense|cc0|"
    r"public[- ]domain|"
    r"postgresql|openssl|curl|libpng|ruby|ncsa|llvm|unicode|icu|w3c|zpl|hpnd|wtfpl|tcl|openldap|"
    r"artistic-2|php|freetype|ftl|sqlite|blessing|mit-0|blueoak|afl|bouncycastle|permissive|"
    r"ibm-pibs|historical|ijg|libjpeg|cmu|dom4j|indiana|jdom|ms-pl|krb5|biopython|pil|nilearn|"
    r"bsd-style|tmate|scala|sax|json-mit|go$|licenseref-biopython|uc|oldap|modified bsd)",
    re.IGNORECASE,
)
_RESTRICTED = re.compile(
    r"gpl|lgpl|agpl|mozilla|mpl|epl|eclipse|cddl|cecill|sspl|busl|business source|elastic license|"
    r"proprietary|commercial|cc-by-nc|cc-by-sa|eupl|osl-|npl|commons clause|polyform|unlicensed",
    re.IGNORECASE,
)
_HEADER_RESTRICTED = re.compile(
    rb"GNU (Lesser |Library |Affero )?General Public|GNU [LA]?GPL|Mozilla Public License|"
    rb"Eclipse Public|SPDX-License-Identifier: *(LGPL|GPL|AGPL|MPL|EPL|CDDL)|"
    rb"COMMON DEVELOPMENT AND DISTRIBUTION|Server Side Public",
    re.IGNORECASE,
)
_HEADER_CHOICE = re.compile(
    rb"Apache|MIT License|BSD|Permission is hereby granted|dual", re.IGNORECASE
)

_TEXTS = (
    ("Apache-2.0", r"apache license,?\s+version 2|licensed under the apache"),
    ("MIT", r"permission is hereby granted, free of charge, to any person obtaining a copy"),
    ("BSD", r"redistribution and use in source and binary forms"),
    ("ISC", r"permission to use, copy, modify, and(/or)? distribute this software for any purpose"),
    ("BSL-1.0", r"boost software license"),
    ("PSF-2.0", r"python software foundation license"),
    ("Zlib", r"this software is provided 'as-is', without any express or implied"),
    ("Unlicense", r"free and unencumbered software released into the public domain"),
    ("CC0-1.0", r"cc0 1\.0 universal"),
    ("Artistic-2.0", r"artistic license 2\.0"),
)


@dataclass
class Licence:
    """What was read, and the file patterns that other terms cover."""

    name: str = ""
    is_permissive: bool = False
    restricted_patterns: list[str] = field(default_factory=list)

    def allows(self, path: str) -> bool:
        """Whether the file at ``path`` (below the package's root) is under the main terms."""
        return not any(fnmatch.fnmatch(path, pattern) for pattern in self.restricted_patterns)


def is_permissive_name(name: str) -> bool:
    """Whether a licence expression allows use under permissive terms.

    Of a choice (``GPL-2+ or MIT``) one permissive branch is enough; of a conjunction every part
    must be permissive.
    """
    for branch in re.split(r"\bor\b|\||,? or ", name, flags=re.IGNORECASE):
        parts = [part.strip(" ()\t.,;") for part in re.split(r"\band\b|,|&|/|\+(?=[A-Z])", branch)]
        parts = [part for part in parts if part]
        if parts and all(PERMISSIVE.match(p) and not _RESTRICTED.search(p) for p in parts):
            return True
    return False


def from_text(text: str) -> Licence:
    """Classify a licence file by its wording."""
    flat = re.sub(r"\s+", " ", text.lower())
    found = [name for name, pattern in _TEXTS if re.search(pattern, flat)]
    restricted = bool(_HEADER_RESTRICTED.search(text.encode("utf-8", "replace")))
    return Licence(" AND ".join(found[:3]), bool(found) and not restricted)


def from_debian(copyright_text: str) -> Licence:
    """Read ``debian/copyright``: the machine-readable form by stanza, else by wording."""
    stanzas = re.split(r"\n[ \t]*\n", copyright_text)
    files: list[tuple[list[str], str]] = []
    for stanza in stanzas:
        patterns = re.search(r"^Files:((?:.*\n?(?:[ \t]+.*\n?)*))", stanza, re.MULTILINE)
        licence = re.search(r"^License:[ \t]*(.*)$", stanza, re.MULTILINE)
        if patterns and licence:
            files.append((patterns.group(1).replace(",", " ").split(), licence.group(1).strip()))
    if not files:
        return from_text(copyright_text)
    main = next((name for patterns, name in files if "*" in patterns), files[0][1])
    restricted = [
        pattern
        for patterns, name in files
        for pattern in patterns
        if pattern != "*" and not is_permissive_name(name)
    ]
    return Licence(main, is_permissive_name(main), restricted)


def header_forbids(data: bytes) -> bool:
    """Whether a file's own head puts it under a licence with conditions on derived works."""
    head = data[:3000]
    return bool(_HEADER_RESTRICTED.search(head)) and not _HEADER_CHOICE.search(head)
