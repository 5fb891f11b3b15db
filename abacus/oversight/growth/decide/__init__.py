"""Pure decisions about growth."""
