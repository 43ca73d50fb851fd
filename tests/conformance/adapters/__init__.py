"""One module per part of the product; each registers its functions with `@adapter`."""
