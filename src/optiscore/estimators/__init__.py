"""What all estimators share: validation, streaming, results that only fit sets, and the questions that they answer."""
