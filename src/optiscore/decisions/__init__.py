"""From distances to decisions: log scores of samples under all classes, rules, tuning, certificates."""
