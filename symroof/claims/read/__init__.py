"""Claims as they are written: files, annotations, numbers in prose."""
