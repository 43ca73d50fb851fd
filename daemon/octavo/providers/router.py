"""Choose who runs a model: the client that offered to, or the daemon itself over HTTP."""

from dataclasses import dataclass

from octavo.providers.client import WIRES, HttpCompletion
from octavo_protocol.completion import Completion, CompletionRequest, CompletionResult, Model, OnProgress
from octavo_protocol.errors import ErrorKind, OctavoError


@dataclass(slots=True)
class Router:
    """A `Completion` that prefers the client: it has the user's credentials and sees what is spent."""

    http: HttpCompletion
    delegated: Completion | None = None

    def reachable(self, model: Model) -> bool:
        """Whether a call to this model has anyone to answer it."""
        if self.delegated is not None:
            return True
        has_door = model.base_url is not None or self.http.credentials.configured(model.provider)
        return model.api in WIRES and has_door

    async def complete(self, request: CompletionRequest, on_progress: OnProgress | None = None) -> CompletionResult:
        """Run the call where it can be run.

        Raises:
            OctavoError: `no-model` when neither the client nor the daemon can reach the model.
        """
        if self.delegated is not None:
            return await self.delegated.complete(request, on_progress)
        if not self.reachable(request.model):
            raise OctavoError(
                ErrorKind.NO_MODEL,
                f"No API key for {request.model.provider}: set one, or let the client answer llm/complete",
                provider=request.model.provider,
            )
        return await self.http.complete(request, on_progress)
