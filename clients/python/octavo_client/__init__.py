"""An async, typed client of the octavo daemon."""
