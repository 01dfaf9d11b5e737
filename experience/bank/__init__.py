"""The experience bank: tuples, store, index, retrieval, exchange, distillation."""
