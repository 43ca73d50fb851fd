"""What goes over the wire and onto disk; the ground floor that knows nothing above it."""
