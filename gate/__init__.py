"""The gate and its authors: turns survivors into proved tests."""
