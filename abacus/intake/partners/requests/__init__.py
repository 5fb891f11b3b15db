"""The latest requests of partners to the API and their answers, for people who help partners."""
