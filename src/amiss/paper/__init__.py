"""The paper's experiments: its methods, ours and what people use instead, on the same flipped data."""
