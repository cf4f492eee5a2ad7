"""Shared by all estimators: validation, streaming, results that only fit sets, and the questions that they answer."""
