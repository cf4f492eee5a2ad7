"""Gaussian models that know their sample: likelihood ratios, moderation, intervals, and the classifier made of them."""
