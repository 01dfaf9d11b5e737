"""Language models as proposers: six roles over any OpenAI-compatible endpoint."""
