"""What rules about members who ask may speak of. Pure."""
