"""Functions of any classifier's probabilities: calibration, sets of labels."""
