"""What a batch has that the fit has not: unseen values, shifted inputs, drifting outputs, known rows."""
