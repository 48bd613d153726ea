"""``config.json`` of the models people run, read into layer lists: offline, in milliseconds, running nothing of theirs."""
