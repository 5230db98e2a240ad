"""Why a row has its score, in numbers and in sentences."""
