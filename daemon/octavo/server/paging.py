"""Pages of long answers: a cursor says where the next one begins and which question it belongs to.

Cursors are opaque to clients; one that does not fit the request is refused, never guessed at.
"""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from octavo_protocol.base import JsonObject
from octavo_protocol.errors import ErrorKind, OctavoError
from octavo_protocol.methods.common import Page

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Cut(Generic[T]):
    """One page and the cursor of the next, None on the last."""

    items: Sequence[T]
    next_cursor: str | None

    def to_wire(self, name: str, items: Sequence[Any], **more: Any) -> JsonObject:
        """Return the answer with the page's items under `name`."""
        wire: JsonObject = {name: items, **more}
        return wire if self.next_cursor is None else {**wire, "nextCursor": self.next_cursor}


class Pages:
    """Cuts one page out of a sequence.

    Args:
        question: What the cursor belongs to: method and state, so that it is not used for anything else.
        params: `limit` and `cursor` of the request.

    Raises:
        OctavoError: invalid-params for a cursor of another question, or one we did not make.
    """

    def __init__(self, question: str, params: Page) -> None:
        self._question = question
        self._limit = params.limit
        self.place: Any = None if params.cursor is None else self._read(params.cursor)
        """Where the page begins, as given to `cursor`; None on the first page."""

    def cut(self, items: Sequence[T], *, key: Callable[[T], Any]) -> Cut[T]:
        """Return the items after the place, in order of a key that changes of the sequence do not disturb."""
        if self.place is not None:
            after = tuple(self.place) if isinstance(self.place, list) else self.place
            try:
                items = [item for item in items if key(item) > after]
            except TypeError:
                raise self._refused() from None
        page = items if self._limit is None else items[: self._limit]
        more = len(page) < len(items)
        return Cut(page, self.cursor(key(page[-1])) if more else None)

    def slice(self, total: int) -> tuple[int, int]:
        """Return the bounds of the page in a sequence of `total` items that only grows at its end."""
        start = 0 if self.place is None else self.place
        if isinstance(start, bool) or not isinstance(start, int) or not 0 <= start <= total:
            raise self._refused()
        return start, total if self._limit is None else min(total, start + self._limit)

    def cursor(self, place: Any) -> str:
        """Return the cursor of a page that begins at or after `place`."""
        text = json.dumps([self._question, place], separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def _read(self, cursor: str) -> Any:
        try:
            text = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
            question, place = json.loads(text)
        except (ValueError, TypeError, binascii.Error, RecursionError):
            raise self._refused() from None
        if question != self._question:
            raise self._refused()
        return place

    def _refused(self) -> OctavoError:
        message = "The cursor does not belong to this request; begin again without it."
        return OctavoError(ErrorKind.INVALID_PARAMS, message, details=[{"loc": ["cursor"], "msg": message}])
