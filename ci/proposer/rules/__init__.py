"""The proposer that needs no model: the motifs of rules/rewrites, chosen by diagnosis and bank."""
