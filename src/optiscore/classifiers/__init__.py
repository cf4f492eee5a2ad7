"""The estimators, and what every fitted classifier says of samples."""
