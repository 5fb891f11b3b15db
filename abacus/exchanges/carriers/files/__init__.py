"""Partners without a server: what they are asked for goes in files, and so do their answers."""
