"""Go to another place in the tree, with or without a summary of the branch that is left."""

from octavo.server.connection import Connection
from octavo.server.hub import SessionHub
from octavo.server.registry import advertise, handles
from octavo.server.tasks import run_detached
from octavo.sessions.planning import UNSET
from octavo_protocol.methods.common import SessionParams
from octavo_protocol.methods.context import BuildContextParams, BuildContextResult
from octavo_protocol.methods.tree import AbortResult, NavigateTreeParams, NavigateTreeResult

advertise(notifications=("session/branchSummaryStart", "session/branchSummaryEnd", "hook/sessionTree"))


@handles("session/navigateTree")
async def navigate_tree(connection: Connection, params: NavigateTreeParams) -> NavigateTreeResult:
    """Move the leaf; a requested summary is written first and hangs at the place arrived at."""
    from octavo.server.handlers.context import build_context  # noqa: PLC0415 - only when the context is asked for

    session = connection.daemon.service(SessionHub).writable(connection, params.session_id)
    expected = params.expected_leaf_id if "expected_leaf_id" in params.model_fields_set else UNSET
    with connection.progress(params.work_done_token, "Navigating") as progress:
        gone = await run_detached(
            connection,
            lambda: session.navigator.navigate(
                params.target_id,
                summarize=params.summarize,
                custom_instructions=params.custom_instructions,
                label=params.label,
                expected_leaf_id=expected,
                report=progress.report,
            ),
            lambda: session.slot.abort("branchSummary"),
        )
    context = None
    if params.include_context and not gone.cancelled:
        built = await build_context(connection, BuildContextParams(session_id=params.session_id))
        context = BuildContextResult.model_validate(built)
    return NavigateTreeResult(
        cancelled=gone.cancelled,
        aborted=True if gone.aborted else None,
        editor_text=gone.editor_text,
        leaf_id=gone.leaf_id,
        old_leaf_id=gone.old_leaf_id,
        summary_entry=gone.summary_entry,
        context=context,
        seq=session.live.seq,
    )


@handles("session/abortBranchSummary")
def abort_branch_summary(connection: Connection, params: SessionParams) -> AbortResult:
    """Stop a branch summary; the navigation then does not happen. Runs at once, past every queue."""
    session = connection.daemon.service(SessionHub).get(connection, params.session_id)
    return AbortResult(aborted=session.slot.abort("branchSummary"))
