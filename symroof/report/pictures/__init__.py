"""Pictures of a study with text alternatives, one module per kind."""
