"""The whole job, from a file to a list, beside what people do today."""
