"""History printed as dense PNG frames that a vision model reads back."""
