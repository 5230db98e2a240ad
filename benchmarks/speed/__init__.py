"""How fast the models are fitted, against what a person would do without us."""
