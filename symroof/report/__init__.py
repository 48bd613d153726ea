"""From answers to something people read: view model (plain data), tables, pictures, rendering."""
