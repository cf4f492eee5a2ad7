"""Any classifier, or a mixture of several, with left-out probabilities and the models of its folds."""
