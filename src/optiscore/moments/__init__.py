"""Moments of classes: sums that merge, labelled samples by class, covariance estimates, nominal moments, factors."""
