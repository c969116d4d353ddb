"""Says what a file is from its path: its kind, what the ranker marks down, and what is skipped.

Marks are for whole path components and for the naming rules of test frameworks and generators, so
that ``testing_tools.py``, ``contest.go`` and ``com/example/Main.java`` stay ordinary source.
"""

from __future__ import annotations

import re
from functools import lru_cache

from wherein.types import FileFlag, FileKind
from wherein.walk.language import CODE_WITHOUT_GRAMMAR

__all__ = [
    "SKIP_REASONS",
    "classify",
    "content_skip_reason",
    "is_generated_text",
    "is_secret_name",
    "skip_reason",
]

SKIP_REASONS = {
    "secret-like name": "its name says that it holds a password or key",
    "secret": "it holds a private key",
    "denied": "a deny pattern of the settings matches it",
    "lock file": "written by a package manager",
    "minified": "squeezed by a tool; its source is what to read",
    "binary": "not text",
    "not a regular file": "a pipe, socket, device or folder",
    "broken link": "a symbolic link to nothing",
    "link leaves the root": "a symbolic link out of the tree",
    "link": "a symbolic link; what it leads to is searched under its own name",
    "unreadable": "it could not be opened",
    "linked worktree": "another working tree of this repository",
    "kind not indexed": "the setting index_kinds leaves it out",
    "too large": "over 64 MB; grep still searches it",
    "failed": "it could not be parsed",
}
"""Every reason a file can be skipped for, with what it means."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOCK_FILES = _words(
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb go.sum package.resolved"
    " cartfile.resolved packages.lock.json gradle.lockfile buildscript-gradle.lockfile"
    " .terraform.lock.hcl conda-lock.yml cabal.project.freeze stack.yaml.lock go.work.sum"
    " project.assets.json maven_install.json cargo-bazel-lock.json module.bazel.lock"
    " pylock.toml .pnp.cjs .pnp.loader.mjs"
)

_SECRET_NAMES = _words(
    ".env .envrc .npmrc .pypirc .netrc _netrc .htpasswd .git-credentials .dockercfg .pgpass"
    " .my.cnf .s3cfg .boto .vault-token .vault_pass .vault-pass credentials credentials.json"
    " credentials.csv id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk identity"
    " master.key kubeconfig secrets.yml secrets.yaml secrets.json secrets.toml secret.json"
    " secret.yaml secret.yml terraform.tfstate terraform.tfstate.backup .terraformrc"
    " terraform.rc .yarnrc.local rootkey.csv accesskeys.csv .pgp .gnupg .secrets .secret"
    " htpasswd shadow"
)
_SECRET_ENDINGS = (
    ".pem", ".p12", ".pfx", ".jks", ".keystore", ".key", ".ppk", ".kdbx", ".kdb", ".p8", ".pkcs12",
    ".tfstate", ".agekey", ".ovpn", ".mobileprovision", ".truststore",
)  # fmt: skip
_SECRET_FORM = re.compile(
    r"(?:client[-_]?secrets?|service[-_]?account(?:[-_]?key)?|google[-_]?credentials"
    r"|firebase[-_]?adminsdk)[\w.-]*\.json|\.env(?:\.[\w.-]+)?|[\w.-]*\.env"
)
_SECRET_PLACES = {".aws": "config", ".docker": "config.json", ".kube": "config", ".ssh": "config"}
_HARMLESS_ENV = re.compile(
    r"\.(?:example|examples|sample|template|tmpl|tpl|dist|defaults?|schema|spec|md|ci|test\.example)$"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s*\n[A-Za-z0-9+/=\n:, -]{40}"
)

_BINARY_ENDINGS = _words(
    "png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd xcf ai eps raw dds ktx tga exr"
    " hdr mp3 mp4 m4a m4v wav flac ogg oga ogv opus aac avi mov mkv webm wmv flv mid midi zip"
    " gz tgz bz2 tbz xz txz zst lz4 lzma 7z rar tar jar war ear aar apk ipa dmg iso deb rpm"
    " msi cab whl egg gem nupkg crx xpi snap_ woff woff2 ttf otf eot pfb pdf doc docx xls xlsx"
    " ppt pptx odt ods odp pages numbers epub mobi exe dll so dylib a lib o obj_ pdb pyc pyo"
    " pyd class dex node wasm bc ko elc beam hi rlib rmeta sqlite sqlite3 db mdb dbf parquet"
    " feather arrow avro orc h5 hdf5 npy npz pkl pickle joblib pt pth onnx safetensors gguf"
    " ckpt pb_ tflite mlmodel bin dat_ blend fbx glb stl_ swf fla mo gmo keystore_ bundle_"
    " pack idx_ lockb"
)

_DOC_LANGUAGES = _words("asciidoc jupyter latex markdown org rst typst")
_DOC_ENDINGS = _words(
    "txt text pod texi texinfo textile wiki rdoc man mediawiki creole rtf 1 2 3 4 5 6 7 8 9 bib"
)
_DOC_NAMES = re.compile(
    r"(?:readme|licen[cs]e|copying|copyright|changelog|changes|authors|contributors|contributing"
    r"|news|history|notice|patents|todo|install|faq|security|upgrading|maintainers|credits|thanks"
    r"|hacking|roadmap|bugs|code_of_conduct)(?:[._-].*)?"
)
_DOC_FOLDERS = _words("docs doc documentation javadoc apidocs apidoc docsets website")
_CONFIG_LANGUAGES = _words(
    "json jsonc json5 yaml toml ini properties xml dtd kdl gitignore dockerfile make cmake just"
)
_CONFIG_ENDINGS = _words(
    "conf cnf config service timer socket mount rc reg plist env editorconfig cfg_ inf lds ld"
    " sln workspace bazelrc gitattributes gn gni mod work sum_ in opt options rules policy"
    " manifest crt cer csr pub"
)
_CONFIG_NAMES = _words(
    "procfile codeowners .gitattributes .mailmap .node-version .nvmrc .python-version"
    " .ruby-version .tool-versions .browserslistrc .env.example manifest.in py.typed cname"
    " owners .bazelrc .bazelversion go.mod go.work build.gradle settings.gradle .dockerignore"
    " kconfig requirements.txt constraints.txt dev-requirements.txt requirements-dev.txt"
    " robots.txt cmakelists.txt"
)
_DATA_ENDINGS = _words(
    "csv tsv jsonl ndjson geojson topojson svg po pot xlf xliff log snap lock har ldif vcf"
    " ics fasta fastq gff gtf bed sam pdb_ obj mtl stl ply gltf off dat dump trace out golden"
    " approved eml mbox srt vtt patch diff rej orig map resx tmx kml gpx warc dic aff wordlist"
    " ipynb_ hex ttl nt nq rdf cassette iml"
)

MAX_CONFIG_BYTES = 200_000
"""A larger JSON, YAML or XML file is data: settings written by people are smaller."""

_TEST_FOLDERS = _words(
    "test tests __tests__ __test__ testdata test-data test_data testfixtures test-fixtures"
    " test_fixtures fixtures __fixtures__ __mocks__ __snapshots__ test-resources"
    " test_resources testsuite testsuites test-suite e2e e2e-tests integrationtest"
    " integrationtests it-tests unittests unit-tests unit_tests functionaltests test-utils"
    " test_utils test-helpers test_helpers testutil testutils testhelpers cypress specs"
    " testcases test-cases test_cases autotests tst qunit doctests testthat goldens cassettes"
)
_SPEC_FOLDERS = _words("spec t")
"""Test folders by custom of one community; elsewhere specifications, templates or types."""
_TEST_FOLDER_FORM = re.compile(
    r".+[-_.]tests"  # integration-tests, MyApp.Tests
    r"|(?:unit|integration|functional|acceptance|system|smoke|perf|performance|load|regression|ui"
    r"|e2e|contract|conformance|stress|fuzz|golden|browser|compile|api)[-_.]?test"
    r"|.+[-_.](?:unit|integration)test",
    re.IGNORECASE,
)
_TEST_FOLDER_CAMEL = re.compile(
    r"(?:[a-z0-9](?:Unit|UI|Integration)?Tests|(?:android|common|jvm|js|native|unit|integration|functional|ios|linux|wasm|web|shared|instrumented)Test|[a-z0-9](?:UI|Unit|Integration)Test)$"
)

_TEST_NAME = re.compile(
    r"test_.*\.(?:py|pyx|rb|c|cc|cpp|cxx|h|hpp|rs|jl|r|lua|sh|php|ml|nim|f90|zig|d|el|lean|m)"
    r"|.*_(?:test|tests|unittest|unittests|spec|specs|browsertest|gtest)\.[a-z0-9+]+"
    r"|.*\.(?:test|tests|spec|specs|e2e|e2e-spec|cy|unit|it|integration|int-test|unit-test)"
    r"\.(?:[cm]?[jt]sx?|vue|svelte|dart|coffee|py|rb|lua|jl|php)"
    r"|.*-(?:test|tests|spec)\.(?:[cm]?[jt]sx?|coffee|el|lisp|r|rb|sh|ml|lua|scm|cc|cpp)"
    r"|test-.*\.(?:[cm]?[jt]sx?|r|c|cc|cpp|sh|el|rb|m)"
    r"|(?:test|tests)\.(?:py|rs|[cm]?[jt]sx?|rb|go|jl|lua|zig|c|cc|cpp|sh|ml|el|clj|erl)"
    r"|conftest\.py|testcase\.py|.*_suite\.erl|.*\.bats|.*\.test|.*\.feature"
    r"|(?:spec|test|rails|spec_helper|test_helper)_helper\.(?:rb|exs)|test-setup\.[jt]s"
    r"|(?:jest|vitest|karma|playwright|cypress|wdio)\.(?:setup|config|conf)\.[cm]?[jt]s|setuptests\.[jt]sx?",
)
_TEST_NAME_CAMEL = re.compile(
    r"(?:.*[a-z0-9_)](?:Test|Tests|TestCase|TestCases|IT|ITCase|Specs?|Suite|UnitTest|TestSuite|TestBase|Spec2)"
    r"|Test[A-Z0-9].*|Tests?|TestCase)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|swift|php|m|mm|hs|cpp|cc|cxx"
    r"|h|hpp|dart|ts|js|hx|mjs|ex|py|sol|cls|pas)"
    r"|.*\.t\.sol|[a-z].*(?:Test|Tests|Spec)\.(?:hs|elm|purs|re|res)"
)

_GENERATED_FOLDERS = _words(
    "generated __generated__ generated-src generated_src generated-sources generated_sources"
    " autogen autogenerated auto-generated codegen-out dist .output .next .nuxt"
)
_GENERATED_NAME = re.compile(
    r".*\.(?:pb|pb2|pb\.gw|pb\.validate|twirp|connect)\.(?:go|cc|h|c|swift|dart|js|ts|rb|py)"
    r"|.*_pb2(?:_grpc)?\.pyi?|.*_(?:grpc_)?pb\.(?:[jt]s|d\.ts|rb)|.*_pb\.(?:[jt]s|d\.ts|rb)"
    r"|.*[._-](?:generated|autogen|auto-generated)\.[\w.]+|.*\.(?:gen|g|freezed|gr|mocks|chopper|config\.g)"
    r"\.(?:go|dart|cs|ts|tsx|js|rs|py|h|cpp|c|kt|java)"
    r"|.*\.g\.i\.cs|.*\.designer\.(?:cs|vb)|zz_generated.*|generated[._-].*|.*_gen\.(?:go|rs)"
    r"|moc_.*\.cpp|ui_.*\.h|qrc_.*\.cpp|.*\.snap|.*_string\.go|.*_easyjson\.go|bindata\.go|.*_mock\.go"
    r"|mock_.*\.go|wire_gen\.go|.*\.tab\.[ch]|lex\.yy\.c|.*\.min\.(?:js|css)|.*\.bundle\.js"
    r"|thrift_.*\.go|.*_wrap\.(?:c|cxx|cpp)|.*\.xcodeproj|project\.pbxproj|.*assemblyinfo\.cs"
    r"|.*\.graphql\.[jt]s|schema\.graphql\.json|.*\.d\.ts\.map|.*\.js\.map|.*\.css\.map"
)

_VENDORED_FOLDERS = _words(
    "vendored _vendor _vendored third_party third-party thirdparty 3rdparty 3rd-party"
    " 3rd_party node_modules bower_components jspm_packages pods carthage site-packages"
    " dist-packages godeps .yarn .bundle externals web_modules vendor-js vendor_js jquery-ui"
)
_VENDORED_AT_TOP = _words("deps extern vendor vendors")
_VENDOR_PARENTS = _words(
    "src lib libs assets static public js css javascripts stylesheets scripts web www html"
    " include resources frontend backend client server api go app ui site docs dist internal"
    " media wwwroot tools build third_party contrib ext"
)
_MEMBER_PARENTS = _words(
    "packages services apps crates modules plugins projects libs components examples cmd themes"
)
_VENDORED_NAME = re.compile(
    r"gradlew(?:\.bat)?|mvnw(?:\.cmd)?|gradle-wrapper\.properties|mavenwrapperdownloader\.java"
    r"|(?:jquery|bootstrap|angular|react|vue|modernizr|html5shiv|respond|underscore|backbone|d3"
    r"|moment|lodash|raphael|mootools|prototype|ember|knockout|require|handlebars|mustache)"
    r"(?:[.-](?:min|slim|bundle|core|dev|prod|debug|pack|full|all|ui|migrate|bundle\.min)|[.-]v?\d[\d.]*)+\.(?:js|css)"
    r"|config\.(?:guess|sub)|ltmain\.sh|install-sh|missing|depcomp|mkinstalldirs|aclocal\.m4"
)

_EXAMPLE_FOLDERS = _words(
    "example examples sample samples demo demos tutorial tutorials quickstart quickstarts"
    " playground playgrounds cookbook cookbooks docs_src doc_examples docs_examples"
    " code_samples code-samples sample-app sample_app example-app example_app sample-apps"
    " examples-app showcase storybook getting-started getting_started code-examples"
    " code_examples walkthroughs recipes_"
)
_EXAMPLE_FOLDER_FORM = re.compile(
    r".+[-_.](?:examples?|samples?|demos?)|(?:examples?|samples?|demos?)[-_.].+"
)
_DOMAIN_PARENTS = _words("com org net io dev me edu de fr uk cn jp github")
_EXAMPLE_NAME = re.compile(
    r"examples?\.[a-z]+|example_.*\.(?:go|py|rb|rs|c|cpp|js|ts|lua)|.*_example\.[a-z]+"
    r"|.*\.stories\.(?:[jt]sx?|mdx|vue|svelte)|.*\.example|.*\.sample|.*\.example\.[a-z]+|demo\.[a-z]+|.*_demo\.[a-z]+"
)
_EXAMPLE_NAME_CAMEL = re.compile(
    r"(?:.*[a-z0-9](?:Example|Examples|Sample|Demo)|Example[A-Z].*)\.(?:java|kt|scala|swift|cs|php|dart)"
)


def classify(path: str, language: str | None, n_bytes: int = 0) -> tuple[FileKind, FileFlag]:
    """Return what the file holds and the marks its path gives it.

    Args:
        path: Relative path with ``/``.
        language: From `walk.language.detect_language`.
        n_bytes: Size of the file; large settings files count as data.
    """
    folder, _, name = path.rpartition("/")
    flags = _folder_flags(folder)
    kind = _kind(name, language)
    lower = name.lower()
    if kind is FileKind.CONFIG and (n_bytes > MAX_CONFIG_BYTES or flags & FileFlag.TEST):
        kind = FileKind.DATA if language in {"json", "yaml", "xml", "toml"} else kind
    if language == "html" and not _DOC_FOLDERS.isdisjoint(folder.lower().split("/")):
        kind = FileKind.DOCS  # written by documentation tools
    flags |= _name_flags(name)
    if kind is FileKind.CODE and _is_community_test(folder, lower):
        flags |= FileFlag.TEST
    return kind, flags


@lru_cache(maxsize=1 << 14)
def _name_flags(name: str) -> FileFlag:
    """Return the marks a file's own name gives it; names repeat across folders."""
    flags = FileFlag.NONE
    lower = name.lower()
    if _is_test_name(name, lower):
        flags |= FileFlag.TEST
    if _GENERATED_NAME.fullmatch(lower):
        flags |= FileFlag.GENERATED
    if _VENDORED_NAME.fullmatch(lower):
        flags |= FileFlag.VENDORED
    if _EXAMPLE_NAME.fullmatch(lower) or _EXAMPLE_NAME_CAMEL.fullmatch(name):
        flags |= FileFlag.EXAMPLE
    return flags


def skip_reason(path: str) -> str:
    """Return why a file of this name is not read at all, empty when it is."""
    folder, _, name = path.rpartition("/")
    if _SECRET_PLACES.get(folder.rpartition("/")[2].lower()) == name.lower():
        return "secret-like name"
    return _name_skip_reason(name.lower())


def is_secret_name(path: str) -> bool:
    """Return whether the name says that the file holds a password, token or private key."""
    return skip_reason(path) == "secret-like name"


@lru_cache(maxsize=1 << 14)
def _name_skip_reason(name: str) -> str:
    if name in _SECRET_NAMES or name.endswith(_SECRET_ENDINGS):
        return "secret-like name"
    if _SECRET_FORM.fullmatch(name) and not _HARMLESS_ENV.search(name):
        return "secret-like name"
    if name in _LOCK_FILES or (name.endswith(".lock") and len(name) > len(".lock")):
        return "lock file"
    stem, dot, extension = name.rpartition(".")
    if dot and stem and extension in _BINARY_ENDINGS:
        return "binary"
    if name.endswith((".min.js", ".min.css", ".min.mjs", "-min.js", ".js.map", ".css.map")):
        return "minified"
    return ""


GENERATED_LINES = 40
"""Generators write their marker into the head comment, which may follow a licence."""

_GENERATED_MARK = re.compile(
    r"@generated\b|\bcode generated .*do not edit"
    r"|\bdo not (?:edit|modify|change)\b.*\b(?:generated|manually|by hand|directly)"
    r"|\b(?:auto|automatically|machine)[ -]?generated\b"
    r"(?! (?:keys?|ids?|names?|values?|docs?|documentation))"
    r"|\bgenerated (?:automatically |code )?(?:by|from|with|using) [^\n]*(?:do not|don't|compiler"
    r"|generator|protoc|swig|bison|flex|openapi|swagger|thrift|tree-sitter|antlr)"
    r"|\bthis (?:file|code) (?:is|was|has been) (?:auto|automatically|machine)?[ -]?generated\b"
    r"|<auto-generated",
    re.IGNORECASE,
)
_COMMENT_START = re.compile(
    r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|'''|\{-|\(\*|rem\b|@generated|<auto-generated)",
    re.IGNORECASE,
)


def is_generated_text(text: str) -> bool:
    """Return whether a comment in the first lines says that a program wrote the file."""
    beginning = text[:8000]
    lower = beginning.lower()
    if "generated" not in lower and "do not" not in lower:
        return False  # every mark has one of the two: a tenth of the cost of the pattern
    head = beginning.split("\n", GENERATED_LINES)[:GENERATED_LINES]
    return any(
        len(line) < 400 and _GENERATED_MARK.search(line) and _COMMENT_START.match(line)
        for line in head
    )


SQUEEZED_LANGUAGES = _words("javascript typescript tsx css scss json html xml vue svelte")
"""Only what tools squeeze for the wire is minified: elsewhere a long line is a literal."""

MIN_SQUEEZED_CHARS = 5_000
LONG_LINE_CHARS = 1_000


def content_skip_reason(text: str, language: str | None) -> str:
    """Return why a decoded file is not indexed for what it holds, empty when it is."""
    if "PRIVATE KEY" in text and _PRIVATE_KEY.search(text[:20_000]) and len(text) < 20_000:
        return "secret"
    if language in SQUEEZED_LANGUAGES and len(text) >= MIN_SQUEEZED_CHARS:
        long = sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE_CHARS)
        if long * 10 > len(text) * 9 and language != "json":
            return "minified"
    return ""


@lru_cache(maxsize=1 << 14)
def _kind(name: str, language: str | None) -> FileKind:
    lower = name.lower()
    extension = lower.rpartition(".")[2] if "." in lower.lstrip(".") else ""
    if lower in _CONFIG_NAMES:
        return FileKind.CONFIG
    if extension in _DATA_ENDINGS:
        return FileKind.DATA
    if language in _DOC_LANGUAGES:
        return FileKind.DOCS
    if language in _CONFIG_LANGUAGES:
        return FileKind.CONFIG
    if language is not None:
        return FileKind.CODE
    return _kind_without_grammar(lower, extension)


def _kind_without_grammar(lower: str, extension: str) -> FileKind:
    if extension in _DOC_ENDINGS or _DOC_NAMES.fullmatch(lower):
        return FileKind.DOCS
    if extension in _CONFIG_ENDINGS or lower.startswith(".") or lower.endswith("rc"):
        return FileKind.CONFIG
    if extension in CODE_WITHOUT_GRAMMAR:
        return FileKind.CODE
    return FileKind.CODE if not extension else FileKind.DOCS


def _is_test_name(name: str, lower: str) -> bool:
    return bool(_TEST_NAME.fullmatch(lower) or _TEST_NAME_CAMEL.fullmatch(name))


def _is_community_test(folder: str, lower: str) -> bool:
    """Ruby's and JavaScript's ``spec`` folder, Perl's ``t``."""
    top = folder.partition("/")[0].lower()
    if lower.endswith(".t"):
        return True
    return top in _SPEC_FOLDERS or "spec" in folder.lower().split("/")


@lru_cache(maxsize=1 << 14)
def _folder_flags(folder: str) -> FileFlag:
    """Return the marks that a folder gives to all files under it."""
    flags = FileFlag.NONE
    if not folder:
        return flags
    written = folder.split("/")
    parts = [part.lower() for part in written]
    for i, part in enumerate(parts):
        if (
            part in _TEST_FOLDERS
            or _TEST_FOLDER_FORM.fullmatch(part)
            or _TEST_FOLDER_CAMEL.search(written[i])
        ):
            flags |= FileFlag.TEST
        if part in _GENERATED_FOLDERS:
            flags |= FileFlag.GENERATED
        if _is_vendored_folder(parts, i):
            flags |= FileFlag.VENDORED
        if _is_example_folder(parts, i):
            flags |= FileFlag.EXAMPLE
    return flags


def _is_vendored_folder(parts: list[str], i: int) -> bool:
    part = parts[i]
    if part in _VENDORED_FOLDERS or (i == 0 and part in _VENDORED_AT_TOP):
        return True
    if part not in {"vendor", "vendors"}:
        return False
    # A folder called vendor deep in the source may be about the people who sell things.
    return parts[i - 1] in _VENDOR_PARENTS or (i >= 2 and parts[i - 2] in _MEMBER_PARENTS)


def _is_example_folder(parts: list[str], i: int) -> bool:
    part = parts[i]
    if part in _EXAMPLE_FOLDERS or _EXAMPLE_FOLDER_FORM.fullmatch(part):
        return not (i > 0 and parts[i - 1] in _DOMAIN_PARENTS)
    return False
