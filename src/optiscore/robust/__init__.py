"""The paper: scores, balls of moments, rules, certificates, and the classifiers that are made of them."""
