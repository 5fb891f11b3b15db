"""What all pages stand on: who asks, values and templates, forms, parts that fail by themselves, lists by cursor."""
