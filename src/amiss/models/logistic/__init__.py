"""L2-penalised logistic regressions of all outputs, strengths and folds, solved together."""
