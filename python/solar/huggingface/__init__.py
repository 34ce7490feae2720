"""Models of the Hugging Face library `transformers`: by configuration, without weights and without a network."""
