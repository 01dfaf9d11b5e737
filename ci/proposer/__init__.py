"""Who proposes candidates: rules, llm, replay."""
