"""What the text of a provider's error means: overflow, throttling, a refused credential, and how long to wait.

Pure functions over text and status, known to every layer that must decide what to do next.
"""
