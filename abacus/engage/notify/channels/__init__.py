"""The channels over which members are told, behind one port."""
