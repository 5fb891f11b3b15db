"""What an action does and when, and what a message of it may say: pure."""
