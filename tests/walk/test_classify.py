"""Marks, kinds, languages and refusals follow from names, precisely."""

from __future__ import annotations

import pytest

from wherein.types import FileFlag, FileKind
from wherein.walk.classify import (
    SKIP_REASONS,
    classify,
    content_skip_reason,
    is_generated_text,
    is_secret_name,
    skip_reason,
)
from wherein.walk.language import detect_language


def flags(path: str) -> FileFlag:
    return classify(path, detect_language(path))[1]


def kind(path: str) -> FileKind:
    return classify(path, detect_language(path))[0]


@pytest.mark.parametrize(
    "path",
    [
        "tests/conftest.py",
        "test/util.js",
        "src/app_test.go",
        "app.spec.ts",
        "app.test.tsx",
        "conftest.py",
        "src/test/java/com/acme/FooTest.java",
        "FooTests.cs",
        "FooTestCase.php",
        "spec/models/user_spec.rb",
        "pkg/testdata/in.go",
        "__tests__/a.js",
        "integration-tests/x.py",
        "test_app.py",
        "app_unittest.cc",
        "AlamofireTests/Session.swift",
        "src/commonTest/kotlin/A.kt",
        "t/basic.t",
        "test-parser.R",
        "FooSpec.scala",
        "MyApp.Tests/Helper.cs",
        "e2e/login.ts",
        "foo_test.exs",
        "Foo_test.ml",
        "cypress/a.ts",
        "TestRunner.java",
        "src/fixtures/a.py",
        "parser_tests.rs",
        "tests.rs",
        "app.e2e-spec.ts",
        "Test.sol",
        "Vault.t.sol",
    ],
)
def test_tests_are_marked(path: str) -> None:
    assert flags(path) & FileFlag.TEST


@pytest.mark.parametrize(
    "path",
    [
        "testing_tools.py",
        "src/testing/runner.py",
        "contest.go",
        "latest.py",
        "attest.rs",
        "Contest.java",
        "Latest.java",
        "packages/test-runner/index.ts",
        "kotlinx-coroutines-test/common/src/Builders.kt",
        "protest.js",
        "src/greatest.c",
        "inspector.rb",
        "specification.md",
        "aspect.ts",
        "manifest.py",
        "fastest/sort.go",
        "detest.h",
        "src/wherein/external/run.py",
        "django/core/management/testserver_.py",
    ],
)
def test_names_that_only_look_like_tests_are_not_marked(path: str) -> None:
    assert not flags(path) & FileFlag.TEST


@pytest.mark.parametrize(
    ("path", "flag"),
    [
        ("api/v1/user.pb.go", FileFlag.GENERATED),
        ("proto/user_pb2.py", FileFlag.GENERATED),
        ("proto/user_pb2_grpc.pyi", FileFlag.GENERATED),
        ("lib/model.g.dart", FileFlag.GENERATED),
        ("src/__generated__/types.ts", FileFlag.GENERATED),
        ("zz_generated.deepcopy.go", FileFlag.GENERATED),
        ("Form.Designer.cs", FileFlag.GENERATED),
        ("ui/app.generated.ts", FileFlag.GENERATED),
        ("vendor/golang.org/x/a.go", FileFlag.VENDORED),
        ("third_party/zlib/zlib.c", FileFlag.VENDORED),
        ("pip/_vendor/requests/api.py", FileFlag.VENDORED),
        ("assets/js/vendor/chart.js", FileFlag.VENDORED),
        ("static/jquery-3.2.1.js", FileFlag.VENDORED),
        ("deps/lua/lapi.c", FileFlag.VENDORED),
        ("gradlew", FileFlag.VENDORED),
        ("examples/basic/main.go", FileFlag.EXAMPLE),
        ("samples/a.cs", FileFlag.EXAMPLE),
        ("ui/Button.stories.tsx", FileFlag.EXAMPLE),
        ("docs_src/tutorial001.py", FileFlag.EXAMPLE),
        ("pkg/example_test.go", FileFlag.EXAMPLE | FileFlag.TEST),
    ],
)
def test_generated_vendored_and_example_files_are_marked(path: str, flag: FileFlag) -> None:
    assert flags(path) == flag


@pytest.mark.parametrize(
    "path",
    [
        "src/main/java/com/example/Main.java",
        "app/models/vendor/invoice.rb",
        "src/generator.py",
        "src/external/git.py",
        "lib/generate.js",
        "src/sampler.py",
        "counterexample.py",
        "src/vendors.py",
        "src/regenerated_keys/a.py",
        "lib/dependencies.py",
        "src/demographics.py",
        "react.js",
        "src/code_gen/ast.py",
        "invite/vendor.py",
    ],
)
def test_ordinary_source_has_no_marks(path: str) -> None:
    assert flags(path) is FileFlag.NONE


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.py", FileKind.CODE), ("a.unknown", FileKind.DOCS), ("README", FileKind.DOCS),
        ("LICENSE.txt", FileKind.DOCS), ("docs/a.rst", FileKind.DOCS), ("a.yaml", FileKind.CONFIG),
        ("Dockerfile", FileKind.CONFIG), ("go.mod", FileKind.CONFIG), ("a.csv", FileKind.DATA),
        ("requirements.txt", FileKind.CONFIG), ("main.tf", FileKind.CODE), ("a.fs", FileKind.CODE),
        ("tests/fixtures/a.json", FileKind.DATA), ("icon.svg", FileKind.DATA),
        ("schema.sql", FileKind.CODE),
        ("docs/api/index.html", FileKind.DOCS),
        ("app/templates/index.html", FileKind.CODE),
        (".gitattributes", FileKind.CONFIG),
        ("bin/run", FileKind.CODE),
        ("nb.ipynb", FileKind.DOCS), ("messages.po", FileKind.DATA),
    ],
)  # fmt: skip
def test_kinds(path: str, expected: FileKind) -> None:
    assert kind(path) is expected


def test_a_large_settings_file_is_data() -> None:
    assert classify("a.json", "json", 500_000)[0] is FileKind.DATA


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("run", b"#!/usr/bin/env python3\n", "python"),
        ("run", b"#!/usr/bin/env -S uv run --script\n", "python"),
        ("run", b"#! /bin/sh\n", "bash"),
        ("run", b"#!/usr/bin/python3.11 -u\n", "python"),
        ("run", b"#!/usr/bin/env FOO=1 node\n", "javascript"),
        ("run", b"#!/usr/bin/awk -f\n", None),
        ("run", b"# -*- mode: ruby -*-\n", "ruby"),
        ("run", b"plain text", None),
        ("a.h", b"#pragma once\nnamespace x {\n", "cpp"),
        ("a.h", b"#include <stdio.h>\nint f(void);\n", "c"),
        ("a.h", b"#ifdef __cplusplus\nextern \"C\" {\n#endif\n", "c"),
        ("a.h", b"#import <UIKit/UIKit.h>\n@interface A\n", "objc"),
        ("a.pl", b"use strict;\nsub f {}\n", "perl"),
        ("a.pl", b"parent(X, Y) :- child(Y, X).\n", None),
        ("a.ts", b"<?xml version='1.0'?>\n<TS>\n", "xml"),
        ("a.ts", b"export const x = 1\n", "typescript"),
        ("a.inc", b"<?php echo 1;", "php"),
        ("Makefile", None, "make"), ("CMakeLists.txt", None, "cmake"), ("BUILD", None, "starlark"),
        ("Gemfile", None, "ruby"), ("a.d.ts", None, "typescript"), ("config.h.in", None, "c"),
        ("Dockerfile.dev", None, "dockerfile"), ("A.PY", None, "python"),
        ("a.mts", None, "typescript"),
        (".bashrc", None, "bash"), ("a.tsx", None, "tsx"), ("noext", None, None),
        ("a.xyz", b"x", None),
    ],
)  # fmt: skip
def test_languages(path: str, head: bytes | None, language: str | None) -> None:
    assert detect_language(path, head) == language


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "cfg/.env.production",
        "prod.env",
        "server.pem",
        ".ssh/id_ed25519",
        ".npmrc",
        ".aws/credentials",
        ".netrc",
        "cfg/service-account.json",
        "client_secret_12.json",
        "deploy.key",
        "app.p12",
        ".kube/config",
        ".docker/config.json",
        "terraform.tfstate",
        "secrets.yaml",
        "ID_RSA",
        ".pypirc",
        ".git-credentials",
        "config/master.key",
    ],
)
def test_secret_names_are_refused(path: str) -> None:
    assert is_secret_name(path)
    assert skip_reason(path) == "secret-like name"


@pytest.mark.parametrize(
    "path",
    [
        ".env.example",
        ".env.sample",
        ".env.template",
        "env.py",
        "keyboard.py",
        "tokenizer.py",
        "id_map.py",
        "public.pem.md",
        "credentials.py",
        "secrets.py",
        "id_rsa.pub",
        "src/config",
        "docker/config.json",
        "key.ts",
        "environment.yml",
        "secret_store.go",
    ],
)
def test_names_that_only_look_secret_are_read(path: str) -> None:
    assert not is_secret_name(path)
    assert skip_reason(path) == ""


def test_a_private_key_in_an_innocent_file_is_refused_and_a_mention_is_not() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq98cDqJ3\n" * 10
    assert content_skip_reason(key, None) == "secret"
    assert content_skip_reason('HEADER = "-----BEGIN PRIVATE KEY-----"\n', "python") == ""


@pytest.mark.parametrize(
    "text",
    [
        "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n",
        "# @generated by codegen\n",
        "/*\n * This file is automatically generated\n */\n",
        "// <auto-generated />\n",
        "# Generated by the protocol buffer compiler.  DO NOT EDIT!\n",
    ],
)
def test_a_generators_mark_is_seen(text: str) -> None:
    assert is_generated_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "def generated():\n    return 'do not edit the generated file'\n",
        "# Writes the header '@generated' into files\n".replace("@generated", "at generated"),
        "x = 1\n" * 60 + "# Code generated by x. DO NOT EDIT.\n",
        "# Auto-generated keys are returned by the driver\n",
    ],
)
def test_talk_about_generators_is_no_mark(text: str) -> None:
    assert not is_generated_text(text)


def test_every_reason_given_is_a_documented_one() -> None:
    given = {skip_reason(path) for path in ("a.png", ".env", "yarn.lock", "a.min.js", "a.py")}
    given |= {content_skip_reason("!function(){" + "a=1;" * 5_000, "javascript")}
    assert given - {""} <= set(SKIP_REASONS)
