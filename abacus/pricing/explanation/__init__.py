"""Why a transfer has its points: typed values, their JSON text, and how SQL reads that text."""
