"""Take images out of a history: all of them, or all but the newest that fit a byte budget.

Replacement entries come out, nothing is changed in place. Source: engine.md §12 `shake("images")`; the budget answers
BR-064, requests refused for their bytes while their tokens looked harmless.
"""

from collections.abc import Sequence
from typing import Any

from octavo.compaction.entry_messages import stored_message
from octavo.compaction.prune import context_start
from octavo.compaction.shake import ShakeResult
from octavo.tokens.images import IMAGE_TOKENS
from octavo_protocol.base import JsonObject

IMAGE_REMOVED = "[image removed]"

_ROLES = ("user", "developer", "custom", "hookMessage", "toolResult")


def drop_images(entries: Sequence[JsonObject], keep_chars: int = 0) -> ShakeResult:
    """Remove image blocks, oldest first in effect: the newest stay while their base64 data fits `keep_chars`.

    An array that held nothing else gets the text `[image removed]`. Images in `details.images` of tool results and in
    mentioned files go too. Only the part of the path that is in the context is touched.
    """
    budget = _Budget(keep_chars)
    replacements: list[JsonObject] = []
    first = -1
    for index in range(len(entries) - 1, context_start(entries) - 1, -1):
        changed = _without_images(entries[index], budget)
        if changed is not None:
            replacements.append(changed)
            first = index
    replacements.reverse()
    return ShakeResult(
        replacements, images_dropped=budget.dropped, tokens_freed=budget.freed * IMAGE_TOKENS, first_changed_index=first
    )


class _Budget:
    """Decides image by image, newest first, whether it stays; once one does not fit, no older one does."""

    def __init__(self, keep_chars: int) -> None:
        self.left = keep_chars
        self.dropped = 0
        self.freed = 0

    def keeps(self, image: Any, *, is_sent: bool = True) -> bool:
        data = image.get("data") if isinstance(image, dict) else None
        size = len(data) if isinstance(data, str) else 0
        if size <= self.left and self.left > 0:
            self.left -= size
            return True
        self.left = 0
        self.dropped += 1
        self.freed += is_sent
        return False


def _without_images(entry: JsonObject, budget: _Budget) -> JsonObject | None:
    if entry.get("type") == "custom_message":
        return _content_without(entry, budget)
    message = stored_message(entry)
    if message.get("role") == "fileMention":
        changed = _files_without(message, budget)
    elif message.get("role") in _ROLES:
        changed = _content_without(message, budget)
        if message.get("role") == "toolResult":
            changed = _details_without(message, changed, budget)
    else:
        return None
    return None if changed is None else {**entry, "message": changed}


def _is_image(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "image"


def _content_without(holder: JsonObject, budget: _Budget) -> JsonObject | None:
    content = holder.get("content")
    if not isinstance(content, list):
        return None
    kept = [block for block in reversed(content) if not _is_image(block) or budget.keeps(block)][::-1]
    if len(kept) == len(content):
        return None
    return {**holder, "content": kept or [{"type": "text", "text": IMAGE_REMOVED}]}


def _details_without(message: JsonObject, changed: JsonObject | None, budget: _Budget) -> JsonObject | None:
    details = message.get("details")
    images = details.get("images") if isinstance(details, dict) else None
    if not isinstance(images, list) or not images:
        return changed
    kept = [image for image in reversed(images) if budget.keeps(image, is_sent=False)][::-1]
    if len(kept) == len(images):
        return changed
    slim = {key: value for key, value in message["details"].items() if key != "images"}
    return {**(changed or message), "details": slim | ({"images": kept} if kept else {})}


def _files_without(message: JsonObject, budget: _Budget) -> JsonObject | None:
    files = message.get("files")
    if not isinstance(files, list):
        return None
    kept = [_file_without(file, budget) for file in reversed(files)][::-1]
    return {**message, "files": kept} if any(new is not old for new, old in zip(kept, files, strict=True)) else None


def _file_without(file: Any, budget: _Budget) -> Any:
    if not isinstance(file, dict) or not file.get("image") or budget.keeps(file["image"]):
        return file
    return {key: value for key, value in file.items() if key != "image"}
