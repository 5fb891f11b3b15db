"""The ways to a member, behind one port."""
