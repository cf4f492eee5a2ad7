"""What can be said of any classifier's probabilities: functions of arrays."""
