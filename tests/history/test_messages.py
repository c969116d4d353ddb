import pytest

from wherein.history.messages import (
    CommitFlag,
    clean_body,
    clean_subject,
    commit_flags,
    split_message,
)


@pytest.mark.parametrize(
    ("subject", "cleaned"),
    [
        (
            "Fixed #31667 -- Made __in lookup ignore None values.",
            "Made __in lookup ignore None values",
        ),
        ("fix(parser): keep quotes in selectors (#1234)", "parser: keep quotes in selectors"),
        ("feat!: drop python 3.7", "drop python 3.7"),
        ("[1.8.x] Fixed typo in docs", "Fixed typo in docs"),
        ("closes #12: retry on timeout", "retry on timeout"),
        ("See https://example.org/x for why", "See for why"),
        ("Revert to 1a2b3c4d5e", "Revert to"),
        ("", ""),
    ],
)
def test_a_subject_keeps_what_it_says_and_loses_numbers_tags_and_addresses(
    subject: str, cleaned: str
) -> None:
    assert clean_subject(subject) == cleaned


def test_a_body_loses_trailers_and_what_other_systems_left() -> None:
    body = (
        "Keeps the order.\n\nSigned-off-by: A <a@b>\nCo-authored-by: C <c@d>\n--HG--\nbranch : x\n"
    )
    assert clean_body(body) == "Keeps the order."


def test_a_message_is_split_at_its_first_line_whatever_the_line_ends() -> None:
    assert split_message("\r\nfirst\r\n\r\nsecond\r\n") == ("first", "second")


@pytest.mark.parametrize(
    ("subject", "body", "author", "n_parents", "flag"),
    [
        ("Merge pull request #1 from a/b", "", "Ada", 2, CommitFlag.MERGE),
        ('Revert "add cache"', "", "Ada", 1, CommitFlag.REVERT),
        ("Undo", "This reverts commit 0123456789.", "Ada", 1, CommitFlag.REVERT),
        ("Release 2.1.0", "", "Ada", 1, CommitFlag.RELEASE),
        ("v5.0.0-beta.13", "", "Ada", 1, CommitFlag.RELEASE),
        ("Bump version to 1.2", "", "Ada", 1, CommitFlag.RELEASE),
        ("build(deps): bump lodash from 4.1 to 4.2", "", "Ada", 1, CommitFlag.RELEASE),
        ("update", "", "dependabot[bot]", 1, CommitFlag.BOT),
        ("fix typo in parser", "", "Ada", 1, CommitFlag.TRIVIAL),
        ("Update README", "", "Ada", 1, CommitFlag.DOCS),
    ],
)
def test_a_commit_of_no_interest_is_known_by_its_message_or_author(
    subject: str, body: str, author: str, n_parents: int, flag: CommitFlag
) -> None:
    assert flag in commit_flags(subject, body, author, "a@b", n_parents)


@pytest.mark.parametrize(
    "subject",
    [
        "Release the lock when the worker dies",
        "Merging of dictionaries keeps the order",
        "version 2 of the wire protocol is read",
        "Robot framework listener gets the suite name",
        "Format dates in the user's zone",
    ],
)
def test_an_ordinary_commit_is_not_taken_for_housekeeping(subject: str) -> None:
    wanted = CommitFlag.MERGE | CommitFlag.RELEASE | CommitFlag.BOT
    assert not commit_flags(subject, "", "Robert Abbot", "r@x", 1) & wanted
