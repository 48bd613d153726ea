"""Pictures: one file a kind, each from a study to a drawing with its text alternative."""
