"""Fetches the packages of ``packages.txt`` and keeps the source files that may be trained on.

    python training/harvest.py --work /path/outside/the/repository --never-train FILE

Each package becomes one file ``harvest/<kind>-<name>.msgpack`` with its files, and one line of
``harvest/manifest.jsonl`` with version, licence and what was left out. Packages whose file exists
are skipped, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess  # noqa: TID251 # package clients, outside the product
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import blake2b
from pathlib import Path

import msgspec
from filters import Filters, is_changelog, is_minified
from licences import Licence, from_debian, from_text, header_forbids, is_permissive_name

MAX_FILE_BYTES = 600_000
MAX_PACKAGE_BYTES = 90_000_000
"""Of kept source: the largest packages would otherwise outweigh whole languages."""

Member = tuple[str, bytes]


def run(*argv: str, cwd: Path, timeout: float = 900, check: bool = True) -> str:
    """Run a package client and return its output."""
    done = subprocess.run(
        argv, cwd=cwd, timeout=timeout, check=check, capture_output=True, text=True
    )
    return done.stdout


def fetch(kind: str, name: str, folder: Path) -> list[Path]:
    """Download one package with its registry's ordinary client; return the archives."""
    if kind == "deb":
        run("apt-get", "download", name, cwd=folder)
    elif kind == "deb-src":
        # The mirror lacks some packaging archives; the upstream one beside them is enough when it
        # carries a licence file.
        run("apt-get", "source", "--download-only", "-qq", name, cwd=folder, check=False)
    elif kind == "npm":
        run("npm", "pack", "--silent", "--ignore-scripts", name, cwd=folder)
    else:
        run(
            "python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", name,
            cwd=folder,
        )  # fmt: skip
    return sorted(folder.iterdir())


def members(archive: Path) -> Iterator[Member]:
    """Yield the regular files of an archive with their paths."""
    if archive.suffix in {".whl", ".zip"}:
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                if 0 < info.file_size <= MAX_FILE_BYTES:
                    yield info.filename, zipped.read(info)
    elif archive.suffix == ".deb":
        command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as process,
            tarfile.open(fileobj=process.stdout, mode="r|") as tar,
        ):
            yield from _tar_members(tar)
    elif re.search(r"\.tar\.\w+$", archive.name) or archive.suffix == ".tgz":
        with tarfile.open(archive) as tar:
            yield from _tar_members(tar)


def _tar_members(tar: tarfile.TarFile) -> Iterator[Member]:
    for info in tar:
        if info.isfile() and 0 < info.size <= MAX_FILE_BYTES:
            stream = tar.extractfile(info)
            if stream is not None:
                yield info.name.removeprefix("./"), stream.read()


_LICENCE_FILE = re.compile(
    r"(^|/)(licen[sc]e|copying|copyright)([-.](md|txt|rst|mit|apache\S*|bsd))?$", re.IGNORECASE
)


class LicenceReader:
    """Collects what a package says of its licence while its files go by."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._metadata = ""
        self._texts: list[str] = []
        self._debian = ""

    def see(self, path: str, data: bytes) -> None:
        """Take note of a file that states a licence."""
        if self.kind.startswith("deb"):
            if re.search(r"(^|/)debian/copyright$|^usr/share/doc/[^/]+/copyright$", path):
                self._debian = data.decode("utf-8", "replace")
        elif self.kind == "npm" and path.count("/") == 1 and path.endswith("/package.json"):
            declared = json.loads(data).get("license", "")
            self._metadata = declared if isinstance(declared, str) else str(declared.get("type"))
        elif self.kind == "pypi" and path.endswith(".dist-info/METADATA"):
            self._metadata = _pypi_licence(data.decode("utf-8", "replace"))
        if path.count("/") <= 3 and _LICENCE_FILE.search(path):
            self._texts.append(data.decode("utf-8", "replace"))

    def licence(self) -> Licence:
        """Return the package's licence by the best statement it has."""
        if self._debian:
            return from_debian(self._debian)
        if self._metadata:
            return Licence(self._metadata, is_permissive_name(self._metadata))
        return from_text("\n".join(self._texts))


def _pypi_licence(metadata: str) -> str:
    head = metadata.split("\n\n", 1)[0]
    expression = re.search(r"^License-Expression: (.+)$", head, re.MULTILINE)
    if expression:
        return expression.group(1).strip()
    classifiers = re.findall(
        r"^Classifier: License ::(?: OSI Approved ::)? (.+)$", head, re.MULTILINE
    )
    named = [re.sub(r" Software License| License.*", "", line).strip() for line in classifiers]
    if named:
        return " or ".join(named)
    plain = re.search(r"^License: (.+)$", head, re.MULTILINE)
    return plain.group(1).strip()[:60] if plain else ""


def keep(
    archives: list[Path], kind: str, filters: Filters
) -> tuple[list[Member], Licence, Counter]:
    """Return the files that may be used, the licence, and how many were refused and why."""
    reader = LicenceReader(kind)
    refused: Counter[str] = Counter()
    files: list[Member] = []
    total = 0
    for archive in archives:
        for path, data in map(_unpacked, members(archive)):
            reader.see(path, data)
            if not filters.language(path):
                continue
            inner = path.split("/", 1)[-1] if kind in {"deb-src", "npm"} else path
            reason = filters.refusal(inner) or _content_refusal(data)
            if not reason and total + len(data) > MAX_PACKAGE_BYTES:
                reason = "package limit"
            if reason:
                refused[reason] += 1
                continue
            total += len(data)
            files.append((inner, data))
    licence = reader.licence()
    allowed = [(path, data) for path, data in files if licence.allows(path)]
    refused["other licence"] += len(files) - len(allowed)
    return (allowed if licence.is_permissive else []), licence, refused


def _unpacked(member: Member) -> Member:
    """Return a gzipped changelog, as Debian's packages have them, as plain text."""
    path, data = member
    plain = path.removesuffix(".gz")
    if plain == path or not is_changelog(plain):
        return member
    try:
        return plain, zlib.decompressobj(wbits=31).decompress(data, MAX_FILE_BYTES)
    except zlib.error:
        return member


def _content_refusal(data: bytes) -> str:
    if b"\0" in data:
        return "binary"
    if is_minified(data):
        return "minified"
    return "licence header" if header_forbids(data) else ""


def harvest(kind: str, name: str, output: Path, filters: Filters) -> dict[str, object]:
    """Fetch one package and write what may be used of it; return its line of the manifest."""
    entry: dict[str, object] = {"kind": kind, "name": name}
    if filters.bars_package(name):
        return {**entry, "error": "barred project"}
    with tempfile.TemporaryDirectory(dir=output) as folder:
        try:
            archives = fetch(kind, name, Path(folder))
            files, licence, refused = keep(archives, kind, filters)
        except (subprocess.SubprocessError, tarfile.TarError, OSError, ValueError) as error:
            return {**entry, "error": f"{type(error).__name__}: {error}"[:200]}
        archive_names = [path.name for path in archives]
    languages = Counter(filters.language(path) for path, _ in files)
    if files:
        target = output / f"{kind}-{name.replace('/', '+')}.msgpack"
        partial = target.with_suffix(".partial")
        partial.write_bytes(msgspec.msgpack.encode(files))
        shutil.move(partial, target)
    return {
        **entry,
        "archives": archive_names,
        "licence": licence.name,
        "permissive": licence.is_permissive,
        "bytes": sum(len(data) for _, data in files),
        "files": dict(languages.most_common()),
        "refused": dict(refused.most_common()),
    }


def wanted(listing: Path) -> list[tuple[str, str]]:
    """Return kind and name of every package listed."""
    lines = [line.split("#")[0].split() for line in listing.read_text().splitlines()]
    return [(line[0], line[1]) for line in lines if line]


def main() -> None:
    """Harvest every package that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--never-train", type=Path, required=True)
    parser.add_argument("--packages", type=Path, default=Path(__file__).with_name("packages.txt"))
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    output = options.work / "harvest"
    output.mkdir(parents=True, exist_ok=True)
    manifest = output / "manifest.jsonl"
    lines = manifest.read_text().splitlines() if manifest.exists() else []
    entries = [json.loads(line) for line in lines]
    done = {(entry["kind"], entry["name"]) for entry in entries if entry.get("files")}
    todo = [item for item in wanted(options.packages) if item not in done]
    filters = Filters(options.never_train)
    with ThreadPoolExecutor(options.threads) as pool, manifest.open("a") as log:
        # In an order that mixes kinds, so that a part of the harvest is a fair sample of all.
        todo.sort(key=lambda item: blake2b(repr(item).encode()).digest())
        running = [pool.submit(harvest, kind, name, output, filters) for kind, name in todo]
        for future in as_completed(running):
            log.write(json.dumps(future.result(), ensure_ascii=False) + "\n")
            log.flush()


if __name__ == "__main__":
    main()
