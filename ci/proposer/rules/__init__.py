"""The proposer that needs no model: the motifs of rules/motifs, chosen by diagnosis and bank."""
