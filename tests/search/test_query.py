import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wherein.errors import QueryError
from wherein.search.query import MAX_WORDS, Query, Scope, TermKind, is_code_name, understand


def kinds(query: Query, kind: TermKind) -> list[str]:
    return [term.term for term in query.terms if term.kind is kind]


def test_question_words_are_left_out_unless_there_are_no_others() -> None:
    assert understand("where are the retries configured").words == ("retries", "configured")
    assert understand("how to").words == ("how", "to")


def test_an_identifier_gives_its_parts_and_the_whole() -> None:
    query = understand("HttpServer")
    assert kinds(query, TermKind.WORD) == ["http", "server"]
    assert kinds(query, TermKind.WHOLE) == ["httpserver"]
    assert query.is_symbol
    assert query.symbols == ("HttpServer",)


def test_neighbours_are_joined_as_one_identifier_would_be() -> None:
    assert "typeadapt" in kinds(understand("type adapters"), TermKind.JOINED)
    assert "openapischema" in kinds(understand("open api schema"), TermKind.JOINED)
    assert "signin" in kinds(understand("sign in form"), TermKind.JOINED)
    assert kinds(understand("from 10"), TermKind.JOINED) == []


def test_the_projects_own_name_counts_less() -> None:
    weights = {t.term: t.weight for t in understand("flask sessions", own_names=["Flask"]).terms}
    assert weights["flask"] < weights["session"] == 1.0


def test_code_names_are_told_from_words() -> None:
    for name in ("getUser", "get_user", "ACursor", "HTTPServer", "__init__"):
        assert is_code_name(name), name
    for word in ("API", "APIs", "Cart", "cart", "_", "HTTP"):
        assert not is_code_name(word), word


def test_symbols_come_from_code_names_calls_capitals_and_backticks() -> None:
    query = understand("how does Blueprint.register call `finalize` and setup() in add_url_rule")
    assert set(query.symbols) >= {"Blueprint", "register", "finalize", "setup", "add_url_rule"}
    assert query.qualified == (("Blueprint", "register"),)
    assert query.quoted == ("finalize",)


def test_paths_are_recognised_in_any_spelling() -> None:
    assert understand("error in src\\flask\\app.py line 3").paths == ("src/flask/app.py",)
    assert understand("./lib/net/http.rs:12").paths == ("lib/net/http.rs",)
    assert understand("why retries fail").paths == ()


def test_scopes_are_split_off_and_the_rest_is_the_subject() -> None:
    query = understand('lang:go path:"my dir" retry policy language:rust')
    assert query.scopes == (Scope("lang", "go"), Scope("path", "my dir"), Scope("lang", "rust"))
    assert query.words == ("retry", "policy")


def test_a_scope_alone_is_searched_for_by_its_value() -> None:
    query = understand("path:tests")
    assert query.scopes == (Scope("path", "tests"),)
    assert query.words == ("tests",)


@pytest.mark.parametrize(
    "text", ["path/to:file", "a:b^2", "{a b}:c", "std::path::Path", "x.path:y"]
)
def test_other_colons_are_no_scopes(text: str) -> None:
    assert understand(text).scopes == ()


def test_messages_and_tests_are_recognised() -> None:
    assert understand("snmp_worker: unauthorized SNMP community from 10.1.2.3").is_message
    assert not understand("where are retries configured").is_message
    assert understand("test apply discount").wants_tests
    assert not understand("contest winner").wants_tests


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_an_empty_query_is_refused(text: str) -> None:
    with pytest.raises(QueryError):
        understand(text)


def test_a_query_of_signs_has_no_words() -> None:
    for text in ('"', "*", "(((", "--", "\u200b"):
        assert understand(text).is_empty


def test_a_huge_query_is_bounded() -> None:
    query = understand(" ".join(f"word{i}x" for i in range(20_000)))
    assert query.is_cut
    assert len(query.words) <= MAX_WORDS


@given(text=st.text(max_size=200))
@settings(derandomize=True, max_examples=200, deadline=None)
def test_any_text_is_understood_or_refused_as_empty(text: str) -> None:
    try:
        query = understand(text)
    except QueryError:
        assert not text.strip()
        return
    assert len({term.term for term in query.terms}) == len(query.terms)
    assert all(term.term for term in query.terms)
