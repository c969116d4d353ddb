"""What a tree's searches are equipped with, besides its index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wherein.embed.protocol import Embedder
from wherein.glossary import Glossary
from wherein.search.literal import TextReader
from wherein.search.rank import Weights
from wherein.search.reranking import Reranking
from wherein.search.retrievers import SignalSource

__all__ = ["INDEX_ALONE", "Equipment"]


@dataclass(frozen=True, slots=True)
class Equipment:
    """What takes part in answering, the same for each query of one state of a tree."""

    embedder: Embedder | None = None
    """Makes the query's vector; None searches without vectors."""
    sources: Sequence[SignalSource] = ()
    """Further evidence on files (history, graph)."""
    own_names: Sequence[str] = ()
    """Names of the project itself, which count less in the query."""
    read_text: TextReader | None = None
    """Reads a file's text for quoted texts and telling lines; None leaves them out."""
    weights: Weights | None = None
    """Other weights than the bundled ones."""
    glossary: Glossary | None = None
    """What the team says for what the code says; widens the query."""
    reranking: Reranking | None = None
    """Reads the first files again, after the ranking; it needs ``read_text``."""
    repository: str = ""
    """Copied into the hits."""
    snapshot_id: str = ""
    """Copied into the answer."""

    @property
    def has_history(self) -> bool:
        """Whether earlier commits take part."""
        return any(source.name == "history" for source in self.sources)


INDEX_ALONE = Equipment()
"""Words, names and paths, and nothing besides."""
