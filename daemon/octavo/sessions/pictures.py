"""Messages whose pictures cannot or need not be sent: a short text stands in the place of each. Pure."""

from collections.abc import Callable
from typing import Any

from octavo.sessions.blobs import reference_digest
from octavo_protocol.base import JsonObject


def without_images(message: JsonObject) -> JsonObject:
    """The message with a note in place of every image."""
    return _with_notes(message, lambda _image: "")


def without_missing_images(message: JsonObject) -> JsonObject:
    """The message with a note in place of images whose data is still a reference, because the blob is gone.

    A provider would refuse the whole request for one such image.
    """
    return _with_notes(message, lambda image: ", missing" if reference_digest(image.get("data")) else None)


def _with_notes(message: JsonObject, remark: Callable[[JsonObject], str | None]) -> JsonObject:
    """Replace images for which there is a remark by a note that ends with it."""
    changed: JsonObject = {}
    for key in ("content", "images", "files"):
        if isinstance(blocks := message.get(key), list):
            noted = [_noted(block, remark) for block in blocks]
            if any(new is not old for new, old in zip(noted, blocks, strict=True)):
                changed[key] = noted
    details = message.get("details")
    if isinstance(details, dict) and isinstance(details.get("images"), list):
        changed["details"] = {**details, "images": [_noted(image, remark) for image in details["images"]]}
    return {**message, **changed} if changed else message


def _noted(block: Any, remark: Callable[[JsonObject], str | None]) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "image":
        said = remark(block)
        if said is None:
            return block
        return {"type": "text", "text": f"[image: {block.get('mimeType') or 'unknown type'}{said}]"}
    if isinstance(block.get("image"), dict):
        image = _noted(block["image"], remark)
        return block if image is block["image"] else {**block, "image": image}
    return block
